"""Find the level from which higher ones gain nothing, and the knee where queues begin.

A level is on the plateau if no higher one carries 5% more. Rates are taken to be log-normal, with one spread for all
levels and an effect of each block; the levels that may be the least one on the plateau are read off draws of all rates
at once, of a flat prior. Where the highest level is among them, no plateau was seen.

Sources: G. E. P. Box and G. C. Tiao, Bayesian Inference in Statistical Analysis, 1973, section 2.11, for the draws; the
knee is that of asymptotic bounds: E. D. Lazowska, J. Zahorjan, G. S. Graham and K. C. Sevcik, Quantitative System
Performance, 1984, section 5.3. benchmarks/throughput_truth.py prints how often either is right.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.analysis.contrast import Contrast, paired_contrast, welch_contrast
from scalograph.analysis.estimate import Estimate, check_confidence, exp
from scalograph.analysis.quantiles import t_quantile

GAIN = 0.05  # what does not count as a gain
DRAWS, SEED = 4096, 20_260_101  # fixed: the same data give the same levels
PLATEAU = "least level beyond which none reaches 5% more, draws of all rates, flat prior on logs"
KNEE = "highest rate times response time of the lowest level and think time"

State = Literal["found", "between", "rising", "inconclusive"]
# Level -> block -> rate.
Rates = Mapping[int, Mapping[int, float]]


@dataclass(frozen=True, slots=True)
class Plateau:
    """The least level on the plateau.

    Attributes:
        state: `found`, one level; `between` two of them; `rising`, the highest carries more than all others; `not
            resolved`, it may.
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
        """Return the level with its interval, for claims; without a value where it was not seen."""
        if self.high is None:
            reason = "the rate still rises" if self.state == "rising" else "inconclusive where the plateau begins"
            return Estimate(None, None, None, confidence, n, PLATEAU, (reason,))
        return Estimate(float(self.value), float(self.low), float(self.high), confidence, n, PLATEAU)


def plateau(rates: Rates, confidence: float = 0.95) -> Plateau | None:
    """Find the least level beyond which nothing is gained.

    `rates`: level -> block -> rate, all above zero; `confidence`: that the level lies from `low` to `high`.

    None below two levels, or where no level has two runs. Raises ValueError if `confidence` is no probability.

    >>> runs = {1: 100.0, 2: 200.0, 4: 202.0}
    >>> made = {n: {i: x * (1 + 0.001 * ((i * n) % 3)) for i in range(5)} for n, x in runs.items()}
    >>> found = plateau(made)
    >>> found.state, found.low, found.high
    ('found', 2, 2)
    """
    check_confidence(confidence)
    levels = sorted(level for level, blocks in rates.items() if blocks)
    logs = [{block: math.log(rate) for block, rate in rates[level].items()} for level in levels]
    spread, df = _spread(logs)
    if len(levels) < 2 or df < 1:
        return None
    middle = np.array([float(np.mean([*blocks.values()])) for blocks in logs])
    drawn = _plateau_index(_draws(middle, spread / np.sqrt([len(blocks) for blocks in logs]), df))
    tail = (1 - confidence) / 2
    low, high = (levels[int(i)] for i in np.quantile(drawn, [tail, 1 - tail], method="inverted_cdf"))
    value, falls = levels[int(_plateau_index(middle[None])[0])], _decline_ratio(rates, levels, confidence)
    if high == levels[-1]:
        return Plateau("rising" if low == high else "inconclusive", value, low, None, falls)
    return Plateau("found" if low == high else "between", min(max(value, low), high), low, high, falls)


def _spread(logs: Sequence[Mapping[int, float]]) -> tuple[float, int]:
    """Return the standard deviation of runs, and its degrees of freedom; beside blocks where levels share them."""
    blocks = sorted(logs[0]) if logs else []
    if len(blocks) > 1 and len(logs) > 1 and all(sorted(other) == blocks for other in logs):
        values = np.array([[level[block] for block in blocks] for level in logs])
        rest = values - values.mean(axis=0) - values.mean(axis=1)[:, None] + values.mean()
        df = (len(logs) - 1) * (len(blocks) - 1)
        return math.sqrt(float((rest**2).sum()) / df), df
    apart = [np.array([*level.values()]) for level in logs if level]
    df = sum(values.size - 1 for values in apart)
    return math.sqrt(sum(float(((x - x.mean()) ** 2).sum()) for x in apart) / max(df, 1)), df


def _draws(middle: FloatArray, errors: FloatArray, df: int) -> FloatArray:
    """Draw logs of the rates of all levels, shape (DRAWS, levels): Student t with one spread for all."""
    rng = np.random.default_rng(SEED)
    spread = np.sqrt(df / rng.chisquare(df, DRAWS))
    return np.asarray(middle + errors * spread[:, None] * rng.standard_normal((DRAWS, middle.size)))


def _plateau_index(logs: FloatArray) -> FloatArray:
    """Return the index of the first level of each row of which no later one carries 5% more, shape (rows,)."""
    later = np.maximum.accumulate(logs[:, ::-1], axis=1)[:, ::-1]
    return np.asarray((later <= logs + math.log1p(GAIN)).argmax(axis=1))


def level_contrast(a: Mapping[int, float], b: Mapping[int, float]) -> Contrast:
    """Compare two levels: log rate of `b` over `a`, in the blocks that they share where there are two or more."""
    shared = sorted(a.keys() & b.keys())
    if len(shared) > 1:
        return paired_contrast(np.log([b[i] for i in shared]), np.log([a[i] for i in shared]))
    return welch_contrast(np.log([*b.values()]), np.log([*a.values()]))


def _decline_ratio(rates: Rates, levels: Sequence[int], confidence: float) -> Estimate | None:
    against = [level_contrast(rates[level], rates[levels[-1]]) for level in levels[:-1]]
    lowest, single = min(against, key=lambda contrast: contrast.delta), 1 - (1 - confidence) / len(against)
    if lowest.df <= 0:
        return None
    estimate = lowest.estimate(confidence, t_quantile(single, lowest.df))
    return estimate if estimate.high is not None and estimate.high < 1 / (1 + GAIN) else None


def knee(most: Estimate, alone_s: Estimate, think_s: float) -> Estimate:
    """Estimate the number of clients with which queues begin: N* = X (R + Z).

    `alone_s`: response time where requests do not wait for each other, s.

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
    half_log = math.log((most.high or 1.0) / (most.low or 1.0)) / 2
    half = math.hypot(half_log, ((alone_s.high or 0) - (alone_s.low or 0)) / 2 / cycle)
    return Estimate(value, value / math.exp(half), exp(math.log(value) + half), most.confidence, most.n, KNEE)
