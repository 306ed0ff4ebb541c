"""Why a class of growth is not the true one: another one beside it fits better, or its curve misses the points."""

from collections.abc import Iterator

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.analysis.growth_classes import CLASSES, CONSTANT, growth_at, is_exact, least_growth
from scalograph.analysis.usl_flags import MANY_SIZES, few_runs

# Probability that the curve of the true class is taken for a misfit.
_MISFIT_ALPHA = 0.01


def refutations(name: str, sizes: FloatArray, times: FloatArray, confidence: float) -> Iterator[str]:
    """Yield why a class is not the true one, in words; nothing where it may be.

    Args:
        name: of the class, a key of `CLASSES`.
        sizes: shape (n,), 1 or more.
        times: shape (n,), above zero.
        confidence: that the true class is not refuted by another one.
    """
    own = () if name == CONSTANT else (name,)
    coefficients, rss = least_growth(sizes, times, *own)
    if is_exact(rss, sizes.size):
        return
    others = [other for other in CLASSES if other not in (CONSTANT, name)]
    for other in others:
        beside, left = least_growth(sizes, times, *own, other)[1], sizes.size - len(own) - 2
        if left >= 1 and _is_better(rss, beside, left, (1 - confidence) / len(others)):
            yield f"with a part of {other} it fits better"
    groups = {n: times[sizes == n] for n in np.unique(sizes).tolist()}
    curve = {n: coefficients[0] + (coefficients[1] * growth_at(name, n) if own else 0.0) for n in groups}
    yield from _misfit(groups, curve, rss, len(groups) - 1 - len(own))


def _is_better(rss: float, beside: float, left: int, alpha: float) -> bool:
    """Tell whether one more coefficient lessens the sum of squares by more than chance does (F test)."""
    from scipy.special import fdtrc  # it takes a tenth of a second

    return beside <= 1e-12 * rss or bool(fdtrc(1, left, (rss - beside) / (beside / left)) < alpha)


def _misfit(groups: dict[float, FloatArray], curve: dict[float, float], rss: float, free: int) -> Iterator[str]:
    """Yield that runs of a size scatter less around their typical time than these do around the curve."""
    from scipy.special import fdtrc

    typical = {n: _typical(times) for n, times in groups.items()}
    pure = sum(float(((1 - typical[n] / times) ** 2).sum()) for n, times in groups.items())
    left = sum(times.size for times in groups.values()) - len(groups)
    if left >= 1 and pure > 0 and fdtrc(free, left, max(0.0, rss - pure) / free / (pure / left)) < _MISFIT_ALPHA:
        yield "its curve misses the points by more than runs of one size differ"
    if len(groups) >= MANY_SIZES and few_runs([typical[n] > curve[n] for n in groups]) < _MISFIT_ALPHA:
        yield "the points lie above its curve, then below it, for many sizes in a row"


def _typical(times: FloatArray) -> float:
    """Return the time that has the least sum of squares of relative errors."""
    return float((1 / times).sum() / (1 / times**2).sum())
