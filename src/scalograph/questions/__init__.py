"""The questions a study can ask: one folder each, named in `registry`.

In: a table of runs, its samples and curves. Out: `protocol.findings.Findings`, assembled from the answer of the study's
question and of every reading. Types to know: `findings.answer.Answer` (of one question), `registry.Basis` (what it
rests on), `matrices.Line` (a row of a claim's matrix).
"""
