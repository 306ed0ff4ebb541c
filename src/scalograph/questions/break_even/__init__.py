"""From which size on does one of two versions of a program win? Pairs of runs, placed where they tell most.

In: a study with two versions and one to four factors of numbers. Out: the line of break-even at every configuration,
with 95% intervals, as a document, a claim, tables and a chart. Types to know: `model_mean.ComparisonSpace` (what is
compared, and where), `model.RatioSurface` (log ratio of the times everywhere, from some pairs), and
`document.BreakEven` (the answer).
"""
