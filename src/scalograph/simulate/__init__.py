"""Runs with a known truth, for every question that `scalograph.analysis` answers."""

from scalograph.simulate.coverage import Coverage, coverage
from scalograph.simulate.curves import amdahl, linear, lock_collapse, times, usl, usl_peak
from scalograph.simulate.noise import HIGH, LOW, NOISES, QUIET, Noise
from scalograph.simulate.runs import a_a, drift, run_iterations, run_scores, sweep

__all__ = [
    "HIGH",
    "LOW",
    "NOISES",
    "QUIET",
    "Coverage",
    "Noise",
    "a_a",
    "amdahl",
    "coverage",
    "drift",
    "linear",
    "lock_collapse",
    "run_iterations",
    "run_scores",
    "sweep",
    "times",
    "usl",
    "usl_peak",
]
