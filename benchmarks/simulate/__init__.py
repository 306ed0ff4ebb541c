"""Simulated runs, and programs whose answer is known, for every estimate of `scalograph.analysis` and every question.

In: a random generator, true times and a noise. Out: arrays of scores, in blocks where the design has them; and the
coverage of intervals. Types to know: `Noise` and `Coverage`.
"""
