"""A fitted law as lines that can be drawn: speedup over the baseline, as far as the data carry it."""

import math
from collections.abc import Sequence

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.flag import BEYOND_CPUS, Flag
from scalograph.analysis.usl import Usl
from scalograph.analysis.usl_predict import (
    REACH,
    Boundary,
    on_curve,
    predict,
    reach,
)
from scalograph.protocol.findings import LawDoc
from scalograph.questions.scaling.model_boundaries import NO_CPU

# Points of a line within the measured range, and beyond it.
N_INSIDE, N_BEYOND = 24, 6


def law_doc(fit: Usl, smallest: float, base: float, limits: Sequence[Boundary]) -> LawDoc:
    """The law of a curve.

    Args:
        fit: the law.
        smallest: size measured.
        base: size that speedup is over.
        limits: boundaries of the machine along the curve.
    """
    over = fit.throughput(base)
    largest, (end, why) = fit.law.largest, reach(fit, limits)
    sizes = [*_spaced(smallest, largest, N_INSIDE), *_spaced(largest, end, N_BEYOND)[1:]]
    line = [_at(fit, n, limits, base) for n in sizes]
    twice = predict(fit, REACH * largest, limits, fit.sigma.confidence, base)
    return LawDoc(
        sigma=fit.sigma, kappa=fit.kappa, gamma=fit.gamma, optimum=fit.optimum,
        twice=twice, flags=[*fit.flags, *_past(largest, limits)], largest=largest, end=why, sizes=sizes,
        fitted=[fit.throughput(n) / over for n in sizes], low=[e.low for e in line], high=[e.high for e in line],
        amdahl=_amdahl(fit, sizes, over),
    )  # fmt: skip


def _spaced(first: float, last: float, n: int) -> list[float]:
    """Sizes at equal factors from the first to the last; one where they are equal."""
    if last <= first:
        return [first]
    step = math.log(last / first) / (n - 1)
    return [first, *(first * math.exp(i * step) for i in range(1, n - 1)), last]


def _at(fit: Usl, n: float, limits: Sequence[Boundary], base: float) -> Estimate:
    confidence = fit.sigma.confidence
    if n <= fit.law.largest:
        return on_curve(fit, n, confidence, base)
    return predict(fit, n, limits, confidence, base)


def _past(largest: float, limits: Sequence[Boundary]) -> list[Flag]:
    """More workers than CPUs do not go faster, however little of their work is serial."""
    n = next((limit.after for limit in limits if limit.begins == NO_CPU and limit.after < largest), None)
    text = f"fitted beyond {n}, where {NO_CPU}: sigma is no serial share"
    return [] if n is None else [Flag(BEYOND_CPUS, text, n)]


def _amdahl(fit: Usl, sizes: Sequence[float], over: float) -> list[float]:
    """The best line without coherency; none where the interval of kappa excludes that."""
    if fit.kappa.low:
        return []
    gamma, sigma, _ = fit.law.reduced("contention")
    return [gamma * n / (1 + sigma * (n - 1)) / over for n in sizes]
