"""Step 4, analyze: from the journal of a study to its findings.

In: a journal, which `table.load` reads into a `Table` of `Row`s, one per run. Out: the parts of the findings document
that every study has: curves, tables, caveats, quality flags, the verdict, claims of a paper; questions add their
`Answer`. Three types to know: `Table` (the study and its runs), `Sample` (the runs of one configuration that estimates
count), `Caveat` (a reason to doubt the study).
"""
