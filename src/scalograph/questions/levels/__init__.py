"""What does each level do to the primary response of a study without speedups?

In: the samples of a sweep. Out: a claim, with the largest difference that is sure, or how small a one would have been
visible. Types to know: `model.LevelDifference` (two configurations that differ in one factor).
"""
