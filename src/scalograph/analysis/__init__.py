"""Estimates from arrays of numbers; knows nothing of runs on a machine."""

from scalograph.analysis.allocate import (
    Allocation,
    Spread,
    baseline_repeats,
    iterations_per_run,
    spread,
)
from scalograph.analysis.compare import (
    Comparison,
    compare,
    holm,
    minimum_detectable_effect,
)
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.interval import summarize
from scalograph.analysis.ratio import paired_ratio, ratio
from scalograph.analysis.score import score, scores
from scalograph.analysis.serial_fraction import karp_flatt
from scalograph.analysis.speedup import SpeedupPoint, speedup
from scalograph.analysis.usl import Usl, fit_usl
from scalograph.analysis.usl_predict import Boundary, predict

__all__ = [
    "Allocation",
    "Boundary",
    "Comparison",
    "Estimate",
    "SpeedupPoint",
    "Spread",
    "Usl",
    "baseline_repeats",
    "compare",
    "fit_usl",
    "holm",
    "iterations_per_run",
    "karp_flatt",
    "minimum_detectable_effect",
    "paired_ratio",
    "predict",
    "ratio",
    "score",
    "scores",
    "speedup",
    "spread",
    "summarize",
]
