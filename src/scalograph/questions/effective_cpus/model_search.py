"""The same question without a model: bisection over CPU counts, each held against the best that is known.

As good is what takes at most 5 % longer: with the five runs that each side gets at most, 2 % could not be seen. All it
takes for granted is that time falls up to some CPU count and does not fall again beyond. Where runs differ by more than
about 6 %, five a side cannot show 5 % either, and it ends without an answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.questions.effective_cpus.model_evidence import NOISE_SD, NOISE_SHAPE

# Time that may be lost by fewer CPUs.
MARGIN = 0.05
# Runs of each side of a comparison, at least and at most.
FEWEST, MOST = 3, 5
# Standard errors at which it is over early.
CLEAR = 2.0

Scores = Mapping[int, FloatArray]


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search without a model has come to.

    Attributes:
        k_eff: least CPU count that is as good as the best, within 5 %; None while it is not found, or cannot be.
        best: CPU count that it was held against.
        next_level: where a run is wanted; None when it has ended.
        n: runs, all that were given.
    """

    k_eff: int | None
    best: int
    next_level: int | None
    n: int

    @property
    def sure(self) -> bool:
        """Whether the search has ended with an answer."""
        return self.k_eff is not None


def search(k: Sequence[int], times: Sequence[float], levels: Sequence[int]) -> Searched:
    """Where the bisection stands after some runs; earlier ones of any search count too.

    Args:
        k: CPU count of each run, one of `levels`.
        times: score of each run: time for the same work, above zero, any unit.
        levels: CPU counts that can be measured, growing.

    >>> search([1, 4, 2] * 3, [1.0, 0.5, 0.5] * 3, [1, 2, 4]).k_eff
    2
    """
    scores = {level: np.log([t for at, t in zip(k, times, strict=True) if at == level]) for level in levels}
    at, best, wanted = _bisected(scores, levels)
    while wanted is None and at + 1 < len(levels):  # what is better than all CPUs may have better ones above
        longer, wanted = _longer(scores, levels[at + 1], levels[at])
        if wanted is None and longer >= -np.log1p(MARGIN):
            break
        at, best = (at, best) if wanted is not None else (at + 1, levels[at + 1])
    found = wanted is None and _standard_error(scores, MOST, MOST) <= np.log1p(MARGIN)
    return Searched(levels[at] if found else None, best, wanted, len(k))


def _bisected(scores: Scores, levels: Sequence[int]) -> tuple[int, int, int | None]:
    """Index of the least level as good as the best, the best, and where a run is wanted before that is known."""
    best = _shortest(scores, levels)
    low, high = 0, levels.index(best)
    while low < high:
        middle = (low + high) // 2
        longer, wanted = _longer(scores, levels[middle], best)
        if wanted is not None:
            return high, best, wanted
        if longer <= np.log1p(MARGIN):
            high = middle
            best = levels[middle] if longer < -np.log1p(MARGIN) else best
        else:
            low = middle + 1
    return high, best, None


def _shortest(scores: Scores, levels: Sequence[int]) -> int:
    """All CPUs, or the count that was clearly shorter so far: none above that one is as good with fewer."""
    typical = {level: median(logs.tolist()) for level, logs in scores.items() if logs.size}
    least = min(typical, key=lambda level: typical[level], default=levels[-1])
    shorter = levels[-1] in typical and typical[least] < typical[levels[-1]] - np.log1p(MARGIN)
    return least if shorter else levels[-1]


def _longer(scores: Scores, level: int, best: int) -> tuple[float, int | None]:
    """Log of how much longer a level takes than the best; and where one more run is wanted before it counts."""
    ours, theirs = scores[level], scores[best]
    fewer = best if theirs.size < ours.size else level
    if min(ours.size, theirs.size) < FEWEST:
        return 0.0, fewer
    longer = median(ours.tolist()) - median(theirs.tolist())
    error = _standard_error(scores, ours.size, theirs.size)
    clear = abs(abs(longer) - np.log1p(MARGIN)) > CLEAR * error
    return longer, None if clear or scores[fewer].size >= MOST else fewer


def _standard_error(scores: Scores, n: int, m: int) -> float:
    """Of the difference of the medians of n and m log scores."""
    return _noise(scores) * float(np.sqrt(np.pi / 2 * (1 / n + 1 / m)))


def _noise(scores: Scores) -> float:
    """Standard deviation of log scores within levels: what is usual, worth two runs, and what the repeats show.

    A slowed run counts as one that lies three usual deviations off.
    """
    levels = [logs - median(logs.tolist()) for logs in scores.values() if logs.size > 1]
    off = np.concatenate(levels) if levels else np.zeros(0)
    usual = max(NOISE_SD, 1.4826 * median(np.abs(off).tolist())) if off.size else NOISE_SD
    squares = float((np.clip(off, -3 * usual, 3 * usual) ** 2).sum())
    return float(np.sqrt((2 * NOISE_SHAPE * NOISE_SD**2 + squares) / (2 * NOISE_SHAPE + off.size - len(levels))))
