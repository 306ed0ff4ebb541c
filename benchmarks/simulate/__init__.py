"""Simulated runs with a known true value, for every estimate of `scalograph.analysis`.

In: a random generator, true times and a noise. Out: arrays of scores, in blocks where the design has them; and the
coverage of intervals. Types to know: `Noise` and `Coverage`.
"""
