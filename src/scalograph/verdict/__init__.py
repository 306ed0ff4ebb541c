"""The verdict on each run: clean, corrected, disturbed, unverified, invalid or failed, with causes and their amounts.

In: the record of a run (protocol/journal.md) and what its study requires. Out: a `Judgment`. Causes are measured, never
inferred from scores. Types to know: `Judgment`, `Cause` and `Requirements`.
"""
