"""Statistics of scores: intervals, ratios, speedups, scaling laws, tests of drift and modes.

In: arrays of scores (one number a run), grouped by level and block. Out: values with intervals, flags and warnings.
Nothing here knows of machines, journals or studies. Types to know: `Estimate` (value, interval, warnings), `Contrast`
(difference of mean logs) and `Usl` (fitted scaling law). Names for notebooks are imported on first use.
"""

from importlib import import_module
from typing import Any

_MODULES = {
    "allocate": ("Allocation", "Spread", "baseline_repeats", "iterations_per_run", "spread"),
    "center": ("score", "scores"),
    "comparisons": ("Comparison", "compare", "holm", "minimum_detectable_effect"),
    "complexity": ("Complexity", "fit_complexity", "predict_time"),
    "estimate": ("Estimate",),
    "interval": ("summarize",),
    "ratios": ("paired_ratio", "ratio"),
    "speedup_points": ("SpeedupPoint", "karp_flatt", "speedup"),
    "usl": ("Usl", "fit_usl"),
    "usl_predict": ("Boundary", "predict"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    """Import a name from the module that defines it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
