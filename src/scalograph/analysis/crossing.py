"""Find the level at which a response crosses its limit, from few runs at any levels.

Near the limit the log of the response is a line in the log of the level: of any slope, with noise of any size, and runs
that something slowed. Farther off than a factor of 1.2 a run tells only on which side it is, so that nothing need be
known of the curve there. The next run goes where the crossing is most probable, a little below and above in turn.

Source: H. Robbins and S. Monro, Ann. Math. Statist. 22 (1951), for the problem; R. Waeber, P. I. Frazier and S. G.
Henderson, Bisection search with noisy responses, SIAM J. Control Optim. 51 (2013), for a posterior that is bisected.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np
from scipy.special import stdtr

from scalograph.analysis.center import FloatArray

# Log distance beyond which a run shows only its side of the limit.
NEAR = log(1.2)
# Slopes on logs, and noise of runs.
SLOPES = np.array([0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0])
NOISES = np.array([0.02, 0.04, 0.08, 0.16, 0.32])
# Degrees of freedom of the noise, and the share of uninformative runs.
DF, LOST = 4.0, 0.02
# Weight of a run's likelihood: the line is not exact, and earlier runs chose the later ones.
TEMPER = 0.75
# Places between the ends of the range, and how far beyond them the crossing may be.
N_PLACES, BEYOND = 400, log(2.0)
CREDIBLE, WIDEST, LEAST_RUNS = 0.95, 1.1, 6
SURE = 0.95


@dataclass(frozen=True, slots=True)
class Crossing:
    """Summary of the posterior after n runs: crossing with a 95% range, and the number of levels inside it.

    `always`, `never`: probabilities that the limit is met at all levels, or at none.
    """

    level: float
    inside: int
    low: float
    high: float
    always: float
    never: float
    n: int

    @property
    def is_known(self) -> bool:
        if self.n < LEAST_RUNS:
            return False
        return max(self.always, self.never) >= SURE or self.inside <= 1 or self.high <= WIDEST * self.low


def posterior(
    levels: Sequence[float], over: Sequence[float], ends: tuple[float, float], lost: float = LOST
) -> "Posterior":
    """Weigh all crossings in the searched range, by level and response over the limit of each run.

    `lost` is the share of runs that tell nothing.

    >>> seen = posterior([50, 100, 200, 90, 110, 100], [0.5, 1.0, 2.0, 0.9, 1.1, 1.0], (10, 1000))
    >>> found = seen.crossing([50, 90, 100, 110, 200])
    >>> found.low < 100 < found.high, found.is_known
    (True, True)
    """
    x, y = np.log(np.asarray(levels, dtype=float)), np.log(np.asarray(over, dtype=float))
    places = np.linspace(log(ends[0]) - BEYOND, log(ends[1]) + BEYOND, N_PLACES)
    slope, noise = SLOPES[:, None, None], NOISES[None, :, None]
    logs = np.zeros((SLOPES.size, NOISES.size, N_PLACES))
    for at, value in zip(x, y, strict=True):
        logs += np.log(_likelihood(slope * (at - places), float(value), noise, lost))
    weights = np.exp(TEMPER * (logs - logs.max())).sum(axis=(0, 1))
    return Posterior(places, weights / weights.sum(), ends, x.size)


def _likelihood(mean: FloatArray, value: float, noise: FloatArray, lost: float) -> FloatArray:
    """Return the likelihood of one run: of its distance where it is near, else of its side, which noise may hide."""
    if abs(value) > NEAR:
        hidden = stdtr(DF, -abs(value) / noise)
        return np.asarray(np.where(mean * value > 0, 1 - hidden, hidden) * (1 - lost) + lost)
    t = (value - mean) / noise
    density = 0.375 * (1 + t * t / DF) ** (-(DF + 1) / 2) / noise
    return np.asarray((1 - lost) * density + lost)


@dataclass(frozen=True, slots=True)
class Posterior:
    """Weights of crossings at `places`, logs of levels."""

    places: FloatArray
    weights: FloatArray
    ends: tuple[float, float]
    n: int

    def quantile(self, share: float) -> float:
        return exp(float(np.interp(share, np.cumsum(self.weights), self.places)))

    def crossing(self, levels: Sequence[float]) -> Crossing:
        """Summarize the posterior for a study with these levels."""
        low, high = (self.quantile((1 + end * CREDIBLE) / 2) for end in (-1, 1))
        always = float(self.weights[self.places > log(self.ends[1])].sum())
        never = float(self.weights[self.places < log(self.ends[0])].sum())
        inside = sum(low <= level <= high for level in levels)
        return Crossing(self.quantile(0.5), inside, low, high, always, never, self.n)
