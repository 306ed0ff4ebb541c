"""Runs with a known true value, for every estimate of `scalograph.analysis`."""
