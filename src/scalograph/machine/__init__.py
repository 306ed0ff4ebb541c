"""What is known of a machine before it is measured on: checks, noise floor, ceiling, and proofs of the path.

In: facts of the host, and runs of studies that ship. Out: checks for `doctor`, a noise floor and a ceiling that are
saved for later studies, and proofs that pinning, accounting and containment work here.

Types to know: `Check` (what was examined), `SavedNoise` and `SavedCeiling` (of this machine), `Proof` (one property).
"""
