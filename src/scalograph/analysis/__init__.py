"""Statistics of scores: intervals, ratios, speedups, scaling laws, tests of drift and modes.

In: arrays of scores (one number a run), grouped by level and block. Out: values with intervals, flags and warnings.
Nothing here knows of machines, journals or studies. Types to know: `Estimate` (value, interval, warnings), `Contrast`
(difference of mean logs) and `Usl` (fitted scaling law). Names for notebooks are imported on first use.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "Allocation": "allocate",
    "Boundary": "usl_predict",
    "Comparison": "comparisons",
    "Complexity": "complexity",
    "Estimate": "estimate",
    "SpeedupPoint": "speedup_points",
    "Spread": "allocate",
    "Usl": "usl",
    "baseline_repeats": "allocate",
    "compare": "comparisons",
    "fit_complexity": "complexity",
    "fit_usl": "usl",
    "holm": "comparisons",
    "iterations_per_run": "allocate",
    "karp_flatt": "speedup_points",
    "minimum_detectable_effect": "comparisons",
    "paired_ratio": "ratios",
    "predict": "usl_predict",
    "predict_time": "complexity",
    "ratio": "ratios",
    "score": "center",
    "scores": "center",
    "speedup": "speedup_points",
    "spread": "allocate",
    "summarize": "interval",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    """Import a name from the module that defines it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
