"""Parallel builds: which -j is best, what it costs, and how parallel the work was.

In: runs of a study whose factor counts jobs (`make -j`), with timelines. Out: `Builds`, a claim and tables.
Types to know: `model_parallelism.Parallelism` (tasks on a CPU), `model_equivalence.Equivalence` (a test),
`document.Builds`.
"""
