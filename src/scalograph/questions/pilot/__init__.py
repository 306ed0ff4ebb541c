"""How many runs and iterations does a study need? A pilot of a few runs, and the sample sizes it leads to.

In: a study and its design, then the runs of the pilot (or of an earlier session). Out: protocols that reach a
precision, with their expected time. Types to know: `model.Pilot` (noise), `plan.PriorRuns` (the runs), and
`plan.Proposal` (what is proposed).
"""
