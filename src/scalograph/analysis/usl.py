"""The universal scalability law: fits with profile intervals and flags.

X(N) = gamma N / (1 + sigma (N - 1) + kappa N (N - 1)): gamma is the throughput of one, sigma the share that is serial
(contention), kappa what each pays for each other (coherency). With kappa = 0 it is Amdahl's law, with both zero linear.
Source: N. J. Gunther, Guerrilla Capacity Planning (2007), ch. 4.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import comb
from typing import Literal

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.analysis.estimate import NO_LAW, Estimate, Flag, need_runs, unknown_estimate
from scalograph.analysis.law import Law, Plain, Relative, curve
from scalograph.analysis.ratios import ratio

# Distance from the estimate at which an end is searched first, as a share of it, and how often it is doubled.
_NEAR, _DOUBLINGS = 1 / 16, 60


def limit(rss: float, n: int, n_parameters: int, confidence: float) -> float | None:
    """Return the sum of squares at which a parameter leaves its interval; None without residual degrees of freedom.

    rss (1 + F / (n - p)) with the quantile F of F(1, n - p): exact for a linear model, slightly wide for one on a
    bound. Source: D. M. Bates and D. G. Watts, Nonlinear Regression Analysis and Its Applications (1988), sec. 6.1.
    """
    left = n - n_parameters
    if left < 1:
        return None
    from scipy.special import fdtri  # it takes a tenth of a second

    return float(rss * (1 + fdtri(1, left, confidence) / left))


def lower_end(profile: Callable[[float], float], best: float, top: float, bound: float = 0.0) -> float:
    """Find the least value whose sum of squares is at most `top`; `bound` if that is allowed too."""
    if best <= bound or profile(bound) <= top:
        return bound
    if profile(best) > top:  # points so near to the curve that only rounding differs
        return best
    inside, step = best, _NEAR * best
    while (outside := inside - step) > bound and profile(outside) <= top:
        inside, step = outside, 2 * step
    return _crossing(profile, top, max(outside, bound), inside)


def upper_end(profile: Callable[[float], float], best: float, top: float, first: float) -> float | None:
    """Find the largest value whose sum of squares is at most `top`, or None; `first` is the first step from zero."""
    if profile(best) > top:  # as for the lower end
        return best
    inside, step = best, _NEAR * best if best >= first else first
    for _ in range(_DOUBLINGS):
        outside = inside + step
        if profile(outside) > top:
            return _crossing(profile, top, inside, outside)
        inside, step = outside, 2 * step
    return None


def _crossing(profile: Callable[[float], float], top: float, low: float, high: float) -> float:
    from scipy.optimize import brentq  # it takes a second to import, and most commands fit nothing

    return float(brentq(lambda x: profile(x) - top, low, high, xtol=1e-9 * high, rtol=1e-6))


Weights = Literal["relative", "none"]
N_PARAMETERS = 3
_SAME = 1e-9  # relative difference below which two numbers are equal
_ONE = "one is the best: more make it slower"
_PERHAPS_ONE = "one may be the best: whether more help at all is not known"
_METHOD = "universal scalability law, {} errors, profile interval"


@dataclass(frozen=True)
class Usl:
    """A fitted law.

    Attributes:
        sigma: share that is serial; 0 is none.
        kappa: cost of coherency.
        gamma: throughput of one, in the unit of the data.
        optimum: N at which throughput is largest; no value but a lower end if the data do not reach it.
        residual: typical relative distance of a point from the curve.
    """

    sigma: Estimate
    kappa: Estimate
    gamma: Estimate
    optimum: Estimate
    residual: float
    law: Law = field(repr=False)
    flags: tuple[Flag, ...] = ()

    @property
    def misfit(self) -> str:
        """Return why the points contradict the law, whose estimates then have no value; empty where they do not."""
        return next((flag.text for flag in self.flags if flag.code in NO_LAW), "")

    def throughput(self, n: float) -> float:
        """Return the throughput of the fitted curve at size `n`."""
        return self.law.throughput(n)

    def drop_values(self, reason: str) -> "Usl":
        """Return the law without the values of its estimates, for this reason."""
        sigma, kappa, gamma, optimum = (
            unknown_estimate(e.method, e.confidence, e.n, reason)
            for e in (self.sigma, self.kappa, self.gamma, self.optimum)
        )
        return replace(self, sigma=sigma, kappa=kappa, gamma=gamma, optimum=optimum)

    def __call__(self, n: Sequence[float] | FloatArray) -> FloatArray:
        """Return the throughputs of the fitted curve at sizes `n`, an array of any shape."""
        return curve(self.law.best, np.asarray(n, dtype=float))


def fit_usl(
    n: Sequence[float] | FloatArray,
    throughput: Sequence[float] | FloatArray,
    weights: Weights = "relative",
    confidence: float = 0.95,
) -> Usl:
    """Fit the law to throughputs at sizes.

    Args:
        n: sizes above 0: CPUs, threads, users; several runs of a size are several points.
        throughput: work per time at each; above zero, in any unit.
        weights: `relative`: points err by a share of themselves, least squares on N/X, which is linear in 1/gamma,
            sigma/gamma and kappa/gamma, none below zero. `none`: all by the same amount, least squares on X itself.
        confidence: of the intervals.

    Raises:
        ValueError: there are fewer than three sizes, or a number is out of range.

    >>> fit = fit_usl([1, 2, 4, 8], [10, 18, 29, 39])
    >>> round(fit.sigma.value, 3)
    0.102
    """
    sizes, rates = check_points(n, throughput)
    law: Law = Relative(sizes, rates) if weights == "relative" else Plain(sizes, rates)
    if not law.sound:
        raise ValueError("found throughputs that grow faster than n, or scatter too widely for any curve of the law")
    top = limit(law.rss, sizes.size, N_PARAMETERS, confidence)
    method = _METHOD.format("relative" if weights == "relative" else "equal")
    parts = {name: _parameter(law, name, top, confidence, method) for name in ("gamma", "sigma", "kappa")}
    optimum = _optimum(law, top, confidence, method)
    residual = math.sqrt(law.rss / max(1, sizes.size - N_PARAMETERS)) / law.unit
    fit_flags = flags(sizes, rates, law, parts["gamma"], optimum, residual)
    fit = Usl(parts["sigma"], parts["kappa"], parts["gamma"], optimum, residual, law, fit_flags)
    return fit.drop_values(fit.misfit) if fit.misfit else fit


def group_by_size(sizes: FloatArray, rates: FloatArray) -> list[tuple[float, FloatArray]]:
    """Return the rates of each size in their order, the smallest size first."""
    order = np.argsort(sizes, kind="stable")
    different, begins = np.unique(sizes[order], return_index=True)
    return list(zip(different.tolist(), np.split(rates[order], begins[1:]), strict=True))


def check_points(
    n: Sequence[float] | FloatArray, throughput: Sequence[float] | FloatArray
) -> tuple[FloatArray, FloatArray]:
    sizes, rates = np.asarray(n, dtype=float), np.asarray(throughput, dtype=float)
    if sizes.ndim != 1 or sizes.shape != rates.shape:
        raise ValueError(f"found {sizes.shape} sizes and {rates.shape} throughputs, expected two lists of one length")
    if not (np.isfinite(sizes).all() and np.isfinite(rates).all() and (sizes > 0).all() and (rates > 0).all()):
        raise ValueError("found a size or a throughput of 0 or less, or no number; expected neither")
    if len(different := np.unique(sizes)) < N_PARAMETERS:
        raise ValueError(f"found {len(different)} different sizes, expected at least {N_PARAMETERS}")
    return sizes, rates


def _parameter(law: Law, name: str, top: float | None, confidence: float, method: str) -> Estimate:
    value = law.value(name)
    if top is None:
        return Estimate(value, None, None, confidence, law.n, method, (need_runs(N_PARAMETERS + 1, law.n),))
    if law.exact:
        return Estimate(value, value, value, confidence, law.n, method, ("all points lie on the curve",))

    def profile(x: float) -> float:
        return law.profile(name, x)

    bound = value * 1e-9 if name == "gamma" else 0.0
    low = lower_end(profile, value, top, bound)
    high = upper_end(profile, value, top, law.step(name))
    unbounded = () if high is not None else (f"nothing bounds {name} from above",)
    return Estimate(value, low, high, confidence, law.n, method, unbounded)


def _optimum(law: Law, top: float | None, confidence: float, method: str) -> Estimate:
    """Estimate N* = sqrt((1 - sigma) / kappa) by its own profile, because sigma and kappa are not independent."""
    _, sigma, kappa = law.best
    if sigma >= 1:
        return unknown_estimate(
            f"optimum, {method}", confidence, law.n, _ONE if _surely_above_one(law, top) else _PERHAPS_ONE
        )
    z = kappa / (1 - sigma)  # 1 / N*^2: zero is an optimum at infinity
    value = _size(z)
    if top is None or law.exact:
        return Estimate(
            value, None, None, confidence, law.n, f"optimum, {method}", (need_runs(4, law.n),) * (top is None)
        )

    nearest = upper_end(law.optimum_profile, z, top, law.step("kappa"))
    farthest = lower_end(law.optimum_profile, z, top)
    low = None if not nearest else _size(nearest)
    high = _size(farthest)
    words = () if high is not None else ((f"not reached: the optimum is above {low:.3g}",) if low else ("not bounded",))
    return Estimate(value if high is not None else None, low, high, confidence, law.n, f"optimum, {method}", words)


def _size(z: float) -> float | None:
    return max(1.0, 1 / math.sqrt(z)) if z > 0 else None


def _surely_above_one(law: Law, top: float | None) -> bool:
    """Tell whether the interval of sigma excludes 1: constant throughput has sigma = 1, its noise more."""
    if law.exact:
        return law.value("sigma") > 1 + _SAME
    return top is not None and law.profile("sigma", 1.0) > top


# Each size with its throughputs, the smallest first.
Groups = Sequence[tuple[float, FloatArray]]
SUPERLINEAR = 1.05  # a mean above the linear line by more is no noise
ALPHA = 0.01  # probability of rejecting a law that holds
MISSED = 1.5  # a single run so many times off its curve is no noise
ZERO = 1e-12  # a cost below this is none
# Sizes from which the signs of residuals show a curve of another shape, and sizes that a law takes.
MANY_SIZES, LEAST_SIZES = 10, 6
RUNS_ALPHA = 0.05  # probability of so few changes of sign where the law holds
# The fitted throughput of one may differ from the measured one by that share; by less where the interval excludes it.
FAR, FAR_AND_SURE = 0.1, 0.05


def flags(
    sizes: FloatArray, rates: FloatArray, law: Law, gamma: Estimate, optimum: Estimate, residual: float
) -> tuple[Flag, ...]:
    """Return the flags of a fit, the gravest first."""
    groups = group_by_size(sizes, rates)
    unfit = [*_flag_lack_of_fit(groups, law)] or [*_flag_sign_runs(groups, law)]
    beside = (*_flag_few_sizes(groups, law), *_flag_gamma(groups, gamma), *_flag_peak(groups, optimum, residual))
    return (*_flag_superlinear(groups), *unfit, *beside, *_flag_bounds(law))


def _flag_superlinear(groups: Groups) -> Iterator[Flag]:
    first, base = groups[0]
    over = [(n, sample) for n, sample in groups[1:] if sample.mean() / base.mean() > SUPERLINEAR * n / first]
    sure = [n for n, sample in over if _least_ratio(sample, base) > SUPERLINEAR * n / first]
    sizes = ", ".join(f"{n:,g}" for n in (sure or [n for n, _ in over])[:4])
    grew = f"superlinear at {sizes}: throughput grew by more than the size did"
    if sure:
        yield Flag("superlinear", f"{grew}, which no such law allows")
    elif over:
        yield Flag("perhaps superlinear", f"perhaps {grew}, by less than the runs differ")


def _least_ratio(sample: FloatArray, base: FloatArray) -> float:
    low = ratio(sample, base).low
    return float(sample.mean() / base.mean()) if low is None else low


def _flag_lack_of_fit(groups: Groups, law: Law) -> Iterator[Flag]:
    """Flag a lack of fit: means differ from the curve by more than points of a size do (F test).

    Source: N. R. Draper and H. Smith, Applied Regression Analysis (1998), sec. 2.1.
    """
    # A cost on its bound of zero was not fitted.
    free, left = len(groups) - sum(value > ZERO for value in law.best), law.n - len(groups)
    pure = sum(float(((sample - sample.mean()) ** 2 / _scale(sample, law)).sum()) for _, sample in groups)
    if not pure and (text := missed_point([(n, float(sample.mean()) / law.throughput(n)) for n, sample in groups])):
        yield Flag("lack of fit", text)
    if left < 1 or free < 1 or law.exact or not pure:
        return
    from scipy.special import fdtrc  # it takes a tenth of a second

    lack = max(0.0, law.rss - pure) / free
    if fdtrc(free, left, lack / (pure / left)) < ALPHA:
        text = "lack of fit: the points differ from the curve by more than runs of one size do from each other"
        yield Flag("lack of fit", text)


def missed_point(off: Iterable[tuple[float, float]]) -> str:
    """Name the size at which a curve misses its runs by most, where no noise does; empty without any.

    `off` is each size with its value over the curve.

    >>> missed_point([(1, 0.9), (256, 0.25)]), missed_point([(1, 0.9), (256, 0.75)])
    ('the curve is 4 times off at 256', '')
    """
    n, most = max(((n, max(ratio, 1 / ratio)) for n, ratio in off), key=lambda pair: pair[1])
    times = f"{most:.2g}" if most < 100 else f"{most:,.0f}"
    return f"the curve is {times} times off at {n:,g}" if most > MISSED else ""


def _flag_sign_runs(groups: Groups, law: Law) -> Iterator[Flag]:
    """Flag residuals that change their sign too seldom along the sizes (A. Wald and J. Wolfowitz, 1940)."""
    if len(groups) < MANY_SIZES or law.exact:
        return
    above = [bool(sample.mean() > law.throughput(n)) for n, sample in groups]
    if runs_test(above) < RUNS_ALPHA:
        yield Flag("lack of fit", "lack of fit: the points lie above the curve, then below it, for many sizes in a row")


def runs_test(signs: Sequence[bool]) -> float:
    """Return the p value of the runs test: the probability of so few runs of equal signs in random order.

    >>> round(runs_test([True] * 5 + [False] * 5), 3)
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


def _flag_few_sizes(groups: Groups, law: Law) -> Iterator[Flag]:
    if len(groups) < LEAST_SIZES:
        text = f"only {len(groups)} sizes: it takes {LEAST_SIZES} or more to tell this law from others"
        yield Flag("few sizes", text, len(groups))
    elif law.n == len(groups) < MANY_SIZES and not law.exact:
        text = f"with one run of each of {len(groups)} sizes it was not checked that the points follow the law"
        yield Flag("not checked", text, len(groups))


def _scale(sample: FloatArray, law: Law) -> float:
    return float(sample.mean() ** 2) if law.unit == 1.0 else 1.0


def _flag_gamma(groups: Groups, gamma: Estimate) -> Iterator[Flag]:
    n, measured = groups[0]
    if n == 1 and gamma.value and gamma.low is not None and gamma.high is not None:
        mean = float(measured.mean())
        off, is_sure = abs(mean / gamma.value - 1), not gamma.low <= mean <= gamma.high
        if off > (FAR_AND_SURE if is_sure else FAR):
            text = f"the curve is {100 * off:.2g}% off where one was measured"
            yield Flag("gamma" if is_sure else "gamma open", text, mean / gamma.value)


def _flag_peak(groups: Groups, optimum: Estimate, residual: float) -> Iterator[Flag]:
    """Flag a maximum of the law where a throughput elsewhere is larger by more than points typically miss the curve."""
    means = {n: float(sample.mean()) for n, sample in groups}
    sizes, best = list(means), max(means, key=means.__getitem__)
    if optimum.low is None:
        return
    high = optimum.high if optimum.high is not None else sizes[-1]
    near = [n for n in sizes if optimum.low <= n <= high]
    near = near or [
        max((n for n in sizes if n < optimum.low), default=sizes[0]),
        min((n for n in sizes if n > high), default=sizes[-1]),
    ]
    if means[best] > (1 + residual) * max(means[n] for n in near):
        yield Flag("peak elsewhere", f"throughput was largest at {best:g}, where the law has no maximum", best)


def _flag_bounds(law: Law) -> Iterator[Flag]:
    _, sigma, kappa = law.best
    if sigma > 1 + ZERO:
        yield Flag("no share", f"sigma is {sigma:.3g}: above 1 it is no share", sigma)
    zero = [name for name, value in (("sigma", sigma), ("kappa", kappa)) if value <= ZERO]
    if zero:
        yield Flag("bound of zero", f"{' and '.join(zero)} at the bound of zero: at most the end of the interval")
