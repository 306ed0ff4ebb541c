"""From which level on do all higher ones together gain nothing, and where would queues begin?

A level is on the plateau if no higher one carries 5 % more. Two one-sided tests bound the least such level: it is not
below the first level of which the contrary is not shown, and not above the lowest one down to which, level by level
from the top, it is shown. Runs of one block are compared with each other, and contrasts borrow their spread.

The second needs no correction: the tests are made in an order that was fixed before, and end with the first that fails
(R. L. Berger, Multiparameter hypothesis testing and acceptance sampling, Technometrics 24 (1982), for each level; O. J.
Dunn's bound over the higher levels, JASA 56 (1961), for the first). The knee is that of asymptotic bounds: E. D.
Lazowska, J. Zahorjan, G. S. Graham and K. C. Sevcik, Quantitative System Performance, 1984, section 5.3.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from scalograph.analysis.borrowed_variance import borrowed
from scalograph.analysis.contrast import Contrast, paired, welch
from scalograph.analysis.estimate import Estimate, check_confidence, exp
from scalograph.analysis.students_t import t_quantile

# What does not count as a gain.
GAIN = 0.05
PLATEAU = "least level beyond which none carries 5 % more, contrasts within blocks, tests from both sides"
KNEE = "highest rate times response time of the lowest level and think time"

State = Literal["found", "between", "rising", "not resolved"]
# Level -> block -> rate.
Rates = Mapping[int, Mapping[int, float]]


@dataclass(frozen=True, slots=True)
class Plateau:
    """The least level on the plateau.

    Attributes:
        state: `found`, one level; `between` two of them; `rising`, every level carries more than the one before it,
            or may; `not resolved`.
        value: by the typical rates alone.
        low: it is no lower level.
        high: it is no higher level; None where not even that is known.
        falls: how much less the highest level carries than the best one, as a ratio; None where that is not shown.
    """

    state: State
    value: int
    low: int
    high: int | None
    falls: Estimate | None = None

    def estimate(self, confidence: float, n: int) -> Estimate:
        """The level with its interval, for claims; without one where it was not seen."""
        if self.high is None:
            why = "the rate still rises" if self.state == "rising" else "not resolved from where on nothing is gained"
            return Estimate(None, None, None, confidence, n, PLATEAU, (why,))
        return Estimate(float(self.value), float(self.low), float(self.high), confidence, n, PLATEAU)


def plateau(rates: Rates, confidence: float = 0.95) -> Plateau | None:
    """Find the least level beyond which nothing is gained.

    Args:
        rates: level -> block -> rate, all above zero.
        confidence: of both bounds together.

    Returns:
        None below two levels, or where two of them cannot be compared.

    Raises:
        ValueError: `confidence` is no probability.

    >>> runs = {1: 100.0, 2: 200.0, 4: 202.0}
    >>> made = {n: {i: x * (1 + 0.001 * (i + n % 3)) for i in range(5)} for n, x in runs.items()}
    >>> found = plateau(made)
    >>> found.state, found.low, found.high
    ('found', 2, 2)
    """
    check_confidence(confidence)
    levels = sorted(level for level, blocks in rates.items() if blocks)
    pairs = [*combinations(levels, 2)]
    found = [gained(rates[a], rates[b]) for a, b in pairs]
    if len(levels) < 2 or any(one.df <= 0 for one in found):
        return None
    gains = dict(zip(pairs, borrowed(found), strict=True))
    low = next(i for i in levels if i == levels[-1] or not _gains_more(gains, i, levels, confidence))
    high = _shown_down_to(gains, levels, confidence)
    value = next(i for i in levels if all(gains[i, j].delta <= math.log1p(GAIN) for j in levels if j > i))
    falls = _falls(gains, levels, confidence)
    if high is None:
        return Plateau("rising" if low == levels[-1] else "not resolved", value, low, None, falls)
    # Both bounds may miss it, and then pass each other.
    low = min(low, high)
    return Plateau("found" if low == high else "between", min(max(value, low), high), low, high, falls)


def gained(a: Mapping[int, float], b: Mapping[int, float]) -> Contrast:
    """Compare two levels: log rate of `b` over `a`, in the blocks that they share where there are two or more."""
    shared = sorted(a.keys() & b.keys())
    if len(shared) > 1:
        return paired(np.log([b[i] for i in shared]), np.log([a[i] for i in shared]))
    return welch(np.log([*b.values()]), np.log([*a.values()]))


def _gains_more(gains: Mapping[tuple[int, int], Contrast], i: int, levels: Sequence[int], confidence: float) -> bool:
    """Whether a higher level is shown to carry more than 5 % more, beside all the higher ones."""
    higher = [gains[i, j] for j in levels if j > i]
    single = 1 - (1 - confidence) / len(higher)
    return any(one.delta - t_quantile(single, one.df) * one.se > math.log1p(GAIN) for one in higher)


def _shown_down_to(gains: Mapping[tuple[int, int], Contrast], levels: Sequence[int], confidence: float) -> int | None:
    """The lowest level down to which no higher one is shown to carry 5 % more; None where not even the last but one."""
    found = None
    for i in reversed(levels[:-1]):
        higher = (gains[i, j] for j in levels if j > i)
        if not all(one.delta + t_quantile(confidence, one.df) * one.se < math.log1p(GAIN) for one in higher):
            break
        found = i
    return found


def _falls(gains: Mapping[tuple[int, int], Contrast], levels: Sequence[int], confidence: float) -> Estimate | None:
    """The rate of the highest level over that of the best one, where it is shown to be more than 5 % lower."""
    last = levels[-1]
    best = min(levels[:-1], key=lambda i: gains[i, last].delta)
    found, single = gains[best, last], 1 - (1 - confidence) / (len(levels) - 1)
    estimate = found.estimate(confidence, t_quantile(single, found.df))
    return estimate if estimate.high is not None and estimate.high < 1 / (1 + GAIN) else None


def knee(most: Estimate, alone_s: Estimate, think_s: float) -> Estimate:
    """Tell with how many clients queues begin: N* = X (R + Z).

    Args:
        most: highest rate, per second.
        alone_s: response time where requests do not wait for each other, s.
        think_s: Z, s.

    >>> knee(Estimate(100.0, 99.0, 101.0), Estimate(0.02, 0.0199, 0.0201), 0.03).value
    5.0
    """
    if not most.value or alone_s.value is None:
        return Estimate(method=KNEE, warnings=("no rate, or no response time, is known",))
    cycle = alone_s.value + think_s
    value = float(f"{most.value * cycle:.12g}")
    ends = [(e.low, e.high) for e in (most, alone_s)]
    if any(low is None or high is None or low <= 0 for low, high in ends) or cycle <= 0:
        return Estimate(value, None, None, most.confidence, most.n, KNEE)
    half = math.hypot(_half_log(most), ((alone_s.high or 0) - (alone_s.low or 0)) / 2 / cycle)
    return Estimate(value, value / math.exp(half), exp(math.log(value) + half), most.confidence, most.n, KNEE)


def _half_log(e: Estimate) -> float:
    return math.log((e.high or 1.0) / (e.low or 1.0)) / 2
