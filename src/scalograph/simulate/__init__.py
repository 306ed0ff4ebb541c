"""Runs with a known truth, for every question that `scalograph.analysis` answers."""
