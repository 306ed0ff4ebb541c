"""What a reader must know about a fitted scalability law: the data may not follow such a curve."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import comb

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
# From so many sizes on, the signs of residuals tell a curve of another shape; that many at least make a law.
MANY_SIZES, LEAST_SIZES = 10, 6
# Probability of so few changes of sign where the law holds.
RUNS_ALPHA = 0.05
# The fitted throughput of one may be off the measured one by that share; by less where the interval excludes it.
FAR, FAR_AND_SURE = 0.1, 0.05


def flags(sizes: FloatArray, rates: FloatArray, law: Law, gamma: Estimate, optimum: Estimate) -> tuple[Flag, ...]:
    """Return the flags of a fit, the gravest first."""
    groups = [(float(n), rates[sizes == n]) for n in np.unique(sizes)]
    unfit = [*_unfit(groups, law)] or [*_bent(groups, law)]
    return (
        *_superlinear(groups),
        *unfit,
        *_few(groups, law),
        *_far(groups, gamma),
        *_elsewhere(groups, optimum),
        *_bounds(law),
    )


def _superlinear(groups: Groups) -> Iterator[Flag]:
    first, base = groups[0]
    over = [(n, found) for n, found in groups[1:] if found.mean() / base.mean() > SUPERLINEAR * n / first]
    sure = [n for n, found in over if _at_least(found, base) > SUPERLINEAR * n / first]
    told = ", ".join(f"{n:,g}" for n in (sure or [n for n, _ in over])[:4])
    if sure:
        yield Flag(
            "superlinear",
            f"superlinear at {told}: throughput grew by more than the size did, which no such law allows",
        )
    elif over:
        text = f"perhaps superlinear at {told}: throughput grew by more than the size did, by less than the runs differ"
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


def _bent(groups: Groups, law: Law) -> Iterator[Flag]:
    """Flag residuals that change their sign too seldom along the sizes, also where each size has one run.

    Source: A. Wald and J. Wolfowitz, On a test whether two samples are from the same population (1940).
    """
    if len(groups) < MANY_SIZES or law.exact:
        return
    above = [bool(found.mean() > law.throughput(n)) for n, found in groups]
    if few_runs(above) < RUNS_ALPHA:
        yield Flag("lack of fit", "lack of fit: the points lie above the curve, then below it, for many sizes in a row")


def few_runs(signs: Sequence[bool]) -> float:
    """Return the probability of so few runs of equal signs if their order were random.

    >>> round(few_runs([True] * 5 + [False] * 5), 3)
    0.008
    """
    n, m = sum(signs), len(signs) - sum(signs)
    if not n or not m:
        return 1.0
    seen = 1 + sum(a != b for a, b in pairwise(signs))
    ways = [2 * comb(n - 1, k - 1) * comb(m - 1, k - 1) for k in range(1, seen // 2 + 1)]
    ways += [
        comb(n - 1, k) * comb(m - 1, k - 1) + comb(n - 1, k - 1) * comb(m - 1, k) for k in range(1, (seen + 1) // 2)
    ]
    return sum(ways) / comb(n + m, n)


def _few(groups: Groups, law: Law) -> Iterator[Flag]:
    if len(groups) < LEAST_SIZES:
        text = f"only {len(groups)} sizes: it takes {LEAST_SIZES} or more to tell this law from others"
        yield Flag("few sizes", text, len(groups))
    elif law.n == len(groups) < MANY_SIZES and not law.exact:
        text = f"with one run of each of {len(groups)} sizes it was not checked that the points follow the law"
        yield Flag("not checked", text, len(groups))


def _scale(found: FloatArray, law: Law) -> float:
    return float(found.mean() ** 2) if law.unit == 1.0 else 1.0


def _far(groups: Groups, gamma: Estimate) -> Iterator[Flag]:
    n, measured = groups[0]
    if n == 1 and gamma.value and gamma.low is not None and gamma.high is not None:
        mean = float(measured.mean())
        off = abs(mean / gamma.value - 1)
        if off > FAR or (off > FAR_AND_SURE and not gamma.low <= mean <= gamma.high):
            text = f"gamma is {gamma.value:.4g}, but one was measured at {mean:.4g}: the curve does not start there"
            yield Flag("gamma", text, mean / gamma.value)


def _elsewhere(groups: Groups, optimum: Estimate) -> Iterator[Flag]:
    """Flag a best size that is neither in the interval of the maximum nor, where no size is, next to it."""
    sizes, (best, _) = [n for n, _ in groups], max(groups, key=lambda group: float(group[1].mean()))
    if optimum.low is None:
        return
    high = optimum.high if optimum.high is not None else sizes[-1]
    near = [n for n in sizes if optimum.low <= n <= high]
    near = near or [
        max((n for n in sizes if n < optimum.low), default=sizes[0]),
        min((n for n in sizes if n > high), default=sizes[-1]),
    ]
    if best not in near:
        yield Flag("peak elsewhere", f"throughput was largest at {best:g}, where the law has no maximum", best)


def _bounds(law: Law) -> Iterator[Flag]:
    _, sigma, kappa = law.best
    if sigma > 1 + ZERO:
        yield Flag("no share", f"sigma is {sigma:.3g}: above 1 it is no share", sigma)
    zero = [name for name, value in (("sigma", sigma), ("kappa", kappa)) if value <= ZERO]
    if zero:
        yield Flag("bound of zero", f"{' and '.join(zero)} on the bound of zero: at most what the interval says")
