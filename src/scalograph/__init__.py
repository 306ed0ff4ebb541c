"""Scalograph: a scalability lab for Linux.

>>> import scalograph
>>> r = scalograph.open("scalograph-results/first/latest")  # doctest: +SKIP
>>> r.verdict.level, r.runs(), r.curves["cpus=2"].frame()  # doctest: +SKIP
"""

from importlib import import_module

__version__ = "0.1.0"
# Names for notebooks, imported on first use so that `import scalograph` is quick.
_OFFERED = {
    "open": ("scalograph.notebook.opened_results", "open_results"),
    "compare": ("scalograph.notebook.opened_results", "compare_results"),
    "assert_scales": ("scalograph.notebook.scaling_assertion", "assert_scales"),
    "scales": ("scalograph.notebook.scaled_function", "scales"),
    "fit_usl": ("scalograph.notebook.fitted_law", "fit_usl"),
    "Estimate": ("scalograph.analysis.estimate", "Estimate"),
}


def __getattr__(name: str) -> object:
    """Import a public name on first use. Raises AttributeError: there is no such name."""
    if name not in _OFFERED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _OFFERED[name]
    value: object = getattr(import_module(module), attribute)
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted([*globals(), *_OFFERED])
