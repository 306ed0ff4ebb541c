"""What a reader must know about a fitted scalability law: the data may not follow such a curve."""

from collections.abc import Iterator, Sequence

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.flag import Flag
from scalograph.analysis.law import Law
from scalograph.analysis.ratios import ratio

# Each size with its throughputs, the smallest first.
Groups = Sequence[tuple[float, FloatArray]]
# A mean above the linear line by more than this is no noise.
SUPERLINEAR = 1.05
# Probability of rejecting a law that holds.
ALPHA = 0.01
# A cost below this is none.
ZERO = 1e-12


def flags(sizes: FloatArray, rates: FloatArray, law: Law, gamma: Estimate) -> tuple[Flag, ...]:
    """Return the flags of a fit, the gravest first."""
    groups = [(float(n), rates[sizes == n]) for n in np.unique(sizes)]
    return (*_superlinear(groups), *_unfit(groups, law), *_far(groups, gamma), *_bounds(law))


def _superlinear(groups: Groups) -> Iterator[Flag]:
    first, base = groups[0]
    over = [(n, found) for n, found in groups[1:] if found.mean() / base.mean() > SUPERLINEAR * n / first]
    sure = [n for n, found in over if _at_least(found, base) > SUPERLINEAR * n / first]
    told = ", ".join(f"{n:g}" for n in (sure or [n for n, _ in over])[:4])
    if sure:
        yield Flag(
            "superlinear",
            f"superlinear at {told}: more than {first:g} gives times the size; the law knows no such thing",
        )
    elif over:
        text = f"perhaps superlinear at {told}: above {first:g} times the size, by less than the runs differ"
        yield Flag("perhaps superlinear", text)


def _at_least(found: FloatArray, base: FloatArray) -> float:
    """Return the low end of the ratio; with a single run at a size the noise is unknown, and the ratio counts."""
    low = ratio(found, base).low
    return float(found.mean() / base.mean()) if low is None else low


def _unfit(groups: Groups, law: Law) -> Iterator[Flag]:
    """Flag a lack of fit: points of a size scatter less around their mean than the means around the curve (F test).

    Source: N. R. Draper and H. Smith, Applied Regression Analysis (1998), sec. 2.1.
    """
    # A cost on its bound of zero was not fitted.
    free, left = len(groups) - sum(value > ZERO for value in law.best), law.n - len(groups)
    if left < 1 or free < 1 or law.exact:
        return
    from scipy.special import fdtrc  # it takes a tenth of a second

    pure = sum(float(((found - found.mean()) ** 2 / _scale(found, law)).sum()) for _, found in groups)
    lack = max(0.0, law.rss - pure) / free
    if pure > 0 and fdtrc(free, left, lack / (pure / left)) < ALPHA:
        text = "lack of fit: the points differ from the curve by more than runs of one size do from each other"
        yield Flag("lack of fit", text)


def _scale(found: FloatArray, law: Law) -> float:
    return float(found.mean() ** 2) if law.unit == 1.0 else 1.0


def _far(groups: Groups, gamma: Estimate) -> Iterator[Flag]:
    n, measured = groups[0]
    if n == 1 and gamma.value and gamma.low is not None and gamma.high is not None:
        mean = float(measured.mean())
        if abs(mean / gamma.value - 1) > 0.05 and not gamma.low <= mean <= gamma.high:
            text = f"gamma is {gamma.value:.4g}, but one was measured at {mean:.4g}: the curve does not start there"
            yield Flag("gamma", text, mean / gamma.value)


def _bounds(law: Law) -> Iterator[Flag]:
    _, sigma, kappa = law.best
    zero = [name for name, value in (("sigma", sigma), ("kappa", kappa)) if value <= ZERO]
    if zero:
        yield Flag("bound of zero", f"{' and '.join(zero)} on the bound of zero: at most what the interval says")
