"""Read results of other tools, and write ours for them.

In: files of other benchmark tools and CSV points, or a study's table and findings. Out: benchmarks, comparisons with a
study (`compare/` compares whole results), fitted laws, and exports as CSV, Parquet, Markdown or Extra-P.
Start with `benchmark.Benchmark` (its `Fork`s are the units of replication), `csv_points.Points` and `export.Columns`.
"""
