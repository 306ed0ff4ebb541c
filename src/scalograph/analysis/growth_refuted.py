"""Why a class of growth is not the true one: something beside it fits better, or its curve misses the points."""

from collections.abc import Iterator

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.analysis.growth_classes import CLASSES, CONSTANT, LogFit, is_exact, least_growth
from scalograph.analysis.usl_flags import MANY_SIZES, few_runs

# Probability that the curve of the true class is taken for a misfit.
_MISFIT_ALPHA = 0.01


def refutations(name: str, sizes: FloatArray, times: FloatArray, fit: LogFit, confidence: float) -> Iterator[str]:
    """Yield why a class is not the true one, in words; nothing where it may be.

    Args:
        name: of the class, a key of `CLASSES`.
        sizes: shape (n,), 1 or more, of four different sizes at least.
        times: shape (n,), above zero.
        fit: the class.
        confidence: that the true class is not refuted by what fits better.
    """
    if is_exact(fit.rss, sizes.size):
        return
    own = () if name == CONSTANT else (name,)
    others = [other for other in CLASSES if other not in (CONSTANT, name)]
    left, alpha = sizes.size - len(own) - 2, (1 - confidence) / (len(others) + 2)  # a trend and the misfit are two more
    # A trend that the class leaves: the only sign of growth that is steeper than all classes, or between two.
    if is_better(fit.rss, least_growth(sizes, times, *own, is_bent=True).rss, left, alpha):
        yield "multiplied by a power of n it fits better"
    for other in others:
        if is_better(fit.rss, least_growth(sizes, times, *own, other).rss, left, alpha):
            yield f"with a part of {other} it fits better"
    yield from misfits(sizes, fit.residuals, 1 + len(own))


def is_better(rss: float, beside: float, left: int, alpha: float) -> bool:
    """Tell whether one more coefficient lessens the sum of squares by more than chance does (F test).

    Args:
        rss: sum of squares without it.
        beside: with it.
        left: points less coefficients with it, 1 or more.
        alpha: the chance that is allowed for.
    """
    from scipy.special import fdtrc  # it takes a tenth of a second

    return beside <= 1e-12 * rss or bool(fdtrc(1, left, max(0.0, rss - beside) / (beside / left)) < alpha)


def misfits(sizes: FloatArray, residuals: FloatArray, n_parameters: int) -> Iterator[str]:
    """Yield why a curve misses the points, in words; nothing where it may be the true one.

    Args:
        sizes: shape (n,).
        residuals: shape (n,), logs of the times over the curve.
        n_parameters: of the curve, fewer than there are sizes.
    """
    from scipy.special import fdtrc

    groups = [residuals[sizes == n] for n in np.unique(sizes)]
    pure = sum(float(((group - group.mean()) ** 2).sum()) for group in groups)
    missed = sum(group.size * float(group.mean()) ** 2 for group in groups)
    free, left = len(groups) - n_parameters, residuals.size - len(groups)
    if left >= 1 and pure > 0 and fdtrc(free, left, missed / free / (pure / left)) < _MISFIT_ALPHA:
        yield "its curve misses the points by more than runs of one size differ"
    if len(groups) >= MANY_SIZES and few_runs([bool(group.mean() > 0) for group in groups]) < _MISFIT_ALPHA:
        yield "the points lie above its curve, then below it, for many sizes in a row"
