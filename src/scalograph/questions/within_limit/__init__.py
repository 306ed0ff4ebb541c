"""Up to which level does a response stay within its limit? A search for the level at which it crosses it.

In: a study with one factor of counts, and one response with a limit. Out: the crossing with its interval, as a
document, a claim and a table. Types to know: `analysis.crossing.Posterior` (weights of crossings), `Crossing` (what
they say of the levels), and `document.WithinLimit` (the answer).
"""
