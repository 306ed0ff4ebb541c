"""Where along a factor does the time jump? A search over levels, by the evidence for steps against smooth curves.

In: a study with one factor of counts. Out: the cliffs with their intervals and sizes, as a document, a claim, tables
and bands over the curves. Types to know: `model.Cliff` (posterior of one cliff), `model_evidence.Steps` (hypotheses),
and `document.Cliffs` (the answer).
"""
