"""The universal scalability law: where does a program stop, and what stops it?

X(N) = gamma N / (1 + sigma (N - 1) + kappa N (N - 1)): gamma is the throughput of one, sigma the share that is serial
(contention), kappa what each pays for each other (coherency). With kappa = 0 it is Amdahl's law, with both zero linear.
Source: N. J. Gunther, Guerrilla Capacity Planning (2007), ch. 4.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.analysis.estimate import Estimate, need_runs, unknown
from scalograph.analysis.flag import Flag
from scalograph.analysis.law import Law, Plain, Relative, curve
from scalograph.analysis.likelihood_profile import limit, lower_end, upper_end

Weights = Literal["relative", "none"]
# Parameters of the law.
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
        flags: what a reader must know.
    """

    sigma: Estimate
    kappa: Estimate
    gamma: Estimate
    optimum: Estimate
    residual: float
    law: Law = field(repr=False)
    flags: tuple[Flag, ...] = ()

    def throughput(self, n: float) -> float:
        """Return the throughput of the fitted curve at size `n`."""
        return self.law.throughput(n)

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
        n: sizes above 0: CPUs, threads, users. Several runs of a size are several points.
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
    sizes, rates = _checked(n, throughput)
    law: Law = Relative(sizes, rates) if weights == "relative" else Plain(sizes, rates)
    if not law.sound:
        raise ValueError("found points through which no such curve goes, expected throughputs of one program")
    top = limit(law.rss, sizes.size, N_PARAMETERS, confidence)
    method = _METHOD.format("relative" if weights == "relative" else "equal")
    parts = {name: _parameter(law, name, top, confidence, method) for name in ("gamma", "sigma", "kappa")}
    optimum = _optimum(law, top, confidence, method)
    residual = math.sqrt(law.rss / max(1, sizes.size - N_PARAMETERS)) / law.unit
    from scalograph.analysis.usl_flags import flags

    found = flags(sizes, rates, law, parts["gamma"], optimum)
    return Usl(parts["sigma"], parts["kappa"], parts["gamma"], optimum, residual, law, found)


def _checked(
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
        return unknown(f"optimum, {method}", confidence, law.n, _ONE if _surely_above_one(law, top) else _PERHAPS_ONE)
    z = kappa / (1 - sigma)  # 1 / N*^2: zero is an optimum at infinity
    value = _size(z)
    if top is None or law.exact:
        return Estimate(
            value, None, None, confidence, law.n, f"optimum, {method}", (need_runs(4, law.n),) * (top is None)
        )

    def profile(x: float) -> float:
        return law.optimum_profile(x)

    nearest = upper_end(profile, z, top, law.step("kappa"))
    farthest = lower_end(profile, z, top)
    low = None if not nearest else _size(nearest)
    high = _size(farthest)
    words = () if high is not None else ((f"not reached: the optimum is above {low:.3g}",) if low else ("not bounded",))
    return Estimate(value if high is not None else None, low, high, confidence, law.n, f"optimum, {method}", words)


def _size(z: float) -> float | None:
    """Return N* for z = 1 / N*^2; there is none below one."""
    return max(1.0, 1 / math.sqrt(z)) if z > 0 else None


def _surely_above_one(law: Law, top: float | None) -> bool:
    """Tell whether the interval of sigma excludes 1: constant throughput has sigma = 1, its noise more."""
    if law.exact:
        return law.value("sigma") > 1 + _SAME
    return top is not None and law.profile("sigma", 1.0) > top
