"""How many CPUs does a program really use, and what limits it? A search over CPU counts, or a reading of a sweep.

In: a study with one factor of CPUs, or of workers that each do the same. Out: the least count beyond which more gain
less than 2%, and the limiting factor, as a document, a claim and tables. Types to know: `model.Effective` (posterior),
`model_programs.Programs` (hypotheses), and `document.EffectiveCpus` (the answer).
"""
