"""The noise floor of a machine: how much runs of the same work differ, saved, and checked again before a study.

In: runs of the study `noise-floor`. Out: a `Floor` for people, the `SavedNoise` of this machine, and a `Recheck` that
compares ten runs of now with it.
"""
