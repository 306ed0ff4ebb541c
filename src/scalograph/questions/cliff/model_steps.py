"""Places where the time of a program could jump, and how sharply: one step in log time at each.

A step of width w lets 80 % of the jump happen between c exp(-w/2) and c exp(w/2). Its place lies between two levels
that follow each other, evenly in the log of the level: from 4 to 8 is as far as from 200 to 400.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from scalograph.analysis.center import FloatArray

# Relative widths: the sharp ones are cliffs, the others transitions, which have an interval rather than a place.
# The sharpest lies wholly between two levels, however near they are.
SHARP, GRADUAL = (1e-6, 0.01, 0.03, 0.08), (0.2, 0.4)
# How probable the gradual ones are before.
GRADUAL_SHARE = 0.2
# Standard deviations between which 80 % of a normal distribution lie, and places per width: more would look the same.
MIDDLE, PLACES = 2.563, 3
# So many standard deviations away a step has happened wholly, or not at all.
FAR = 9.0
# Places of one width at most: of more levels, gaps are joined until they are so few.
MOST_PLACES = 600


@dataclass(frozen=True, slots=True)
class Steps:
    """Hypotheses, one in each row.

    Attributes:
        places: log of the level at which half of the jump has happened.
        widths: relative, as above.
        spans: log ratio of the two levels between which the place is; more than two where gaps are joined.
        log_prior: log weight before anything was measured; the weights sum to 1.
    """

    places: FloatArray
    widths: FloatArray
    spans: FloatArray
    log_prior: FloatArray

    def only(self, chosen: NDArray[np.bool_]) -> "Steps":
        """Some of them, with the weights that they have."""
        return Steps(self.places[chosen], self.widths[chosen], self.spans[chosen], self.log_prior[chosen])

    def heights(self, logs: FloatArray) -> FloatArray:
        """Share of the jump that has happened at each log level; shape (steps, levels)."""
        away = (logs[None, :] - self.places[:, None]) * (MIDDLE / self.widths[:, None])
        found = (away > 0).astype(float)
        near = np.abs(away) < FAR
        found[near] = ndtr(away[near])
        return found


@lru_cache(maxsize=8)
def steps(levels: tuple[int, ...]) -> Steps:
    """A step of every width between all levels that follow each other.

    Args:
        levels: at least two, growing, each at least 1.

    Raises:
        ValueError: levels that are not as said.

    >>> found = steps((1, 2, 4, 8))
    >>> [round(float(n), 2) for n in np.exp(found.places[:3])], round(float(np.exp(found.log_prior).sum()), 6)
    ([1.41, 2.83, 5.66], 1.0)
    """
    if len(levels) < 2 or levels[0] < 1 or any(a >= b for a, b in pairwise(levels)):
        raise ValueError(f"levels: found {list(levels)[:8]}, expected at least two, growing, from 1 on")
    logs = np.log(np.array(levels, dtype=float))
    gaps = [(float(a), float(b)) for a, b in pairwise(logs)]
    widths = SHARP + GRADUAL
    rows = [(place, w, length) for w in widths for place, length in _thinned(gaps, w, float(logs[-1] - logs[0]))]
    places, wide, lengths = np.array(rows).T
    shares = np.where(np.isin(wide, GRADUAL), GRADUAL_SHARE / len(GRADUAL), (1 - GRADUAL_SHARE) / len(SHARP))
    return Steps(places, wide, lengths, np.log(lengths * shares / (logs[-1] - logs[0])))


def _thinned(gaps: Sequence[tuple[float, float]], width: float, span: float) -> Iterator[tuple[float, float]]:
    """Middle and length of gaps that are joined while they are shorter than a step of this width could show."""
    shortest = max(width / PLACES, span / MOST_PLACES if len(gaps) > MOST_PLACES else 0.0)
    begin = gaps[0][0]
    for number, (_, end) in enumerate(gaps, 1):
        if end - begin >= shortest or number == len(gaps):
            yield (begin + end) / 2, end - begin
            begin = end
