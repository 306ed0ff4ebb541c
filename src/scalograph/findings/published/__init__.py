"""Published results beside the measured ones.

In: the published file and the claims that a study declares, and its samples. Out: the tables `published` and
`published-claims`, published curves, a decision on each claim. Three types to know: `MeasuredValue` (a value of a
claim, as measured here), `OfferedQuantity` (what a question offers to claims), `DecidedClaim` (the decision).
"""
