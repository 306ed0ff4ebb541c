"""Compare results: is the other one faster, slower or equivalent, or can the data not tell?

In: findings, benchmarks of other tools, or a published table, each read by its `*_source` module. Out: a
`ResultComparison` per result or a `ResultSeries` over time (`protocol/compared_results.py`), with claims and tables.
Start with `measured_source.MeasuredSource`, `matched_configurations.MatchedConfigurations` and `series.DatedSource`.
"""
