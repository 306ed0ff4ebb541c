"""Choose: the fastest configuration, those that may be as fast, and the run that may change this the most."""

from dataclasses import dataclass
from math import log1p

import numpy as np

from scalograph.questions.best.model import IntArray
from scalograph.questions.best.model_surface import TimeSurface

# Configurations that are weighed together, and joint draws of their times.
MOST_WEIGHED, N_DRAWS = 128, 512
# A configuration is a member where it may be within the margin of the best with that probability; and so many of the
# most probable ones that one of them is the best with that.
MAYBE, SURELY = 0.02, 0.99
# By how much deviations are widened for members: surfaces are rougher than any fit (benchmarks/find_best_truth.py).
WIDER = 1.5


@dataclass(frozen=True, slots=True)
class Choice:
    """What runs say of the best.

    Attributes:
        winner: index of the configuration with the least expected time.
        members: those that may be the best, or within the margin of it, by index, with the probability that they are
            within it; the winner is one.
        risk: probability that another one is faster than the winner by more than the margin.
        next: where the next run may change this the most.
    """

    winner: int
    members: dict[int, float]
    risk: float
    next: int


def choose(surface: TimeSurface, margin: float, allowed: IntArray) -> Choice:
    """Choose among the allowed configurations, by index."""
    hopeful = np.round(surface.mean[allowed] - 3 * surface.sd[allowed], 9)
    weighed = allowed[np.argsort(hopeful, kind="stable")[:MOST_WEIGHED]]
    logs = surface.draws(weighed, N_DRAWS, seed=len(weighed))
    least = logs.min(axis=1)
    first = int(np.argmin(np.round(surface.mean[weighed], 9)))
    limit = log1p(margin)
    wide = logs.mean(axis=0) + WIDER * (logs - logs.mean(axis=0))
    within = (wide <= wide.min(axis=1)[:, None] + limit).mean(axis=0)
    shares = np.bincount(wide.argmin(axis=1), minlength=len(weighed)) / len(logs)
    order = np.lexsort((np.arange(len(weighed)), -within, -shares))
    needed = order[: int(np.searchsorted(np.cumsum(shares[order]), SURELY)) + 1]
    members = {*np.flatnonzero(within >= MAYBE).tolist(), *needed.tolist(), first}
    risk = float((logs[:, first] - least > limit).mean())
    return Choice(
        int(weighed[first]), {int(weighed[k]): float(within[k]) for k in sorted(members)}, risk,
        int(weighed[_tells_most(logs, first, limit, surface.noise)]),
    )  # fmt: skip


def _tells_most(
    logs: "np.ndarray[tuple[int, int], np.dtype[np.float64]]", first: int, limit: float, noise: float
) -> int:
    """Return the winner or its strongest challenger, whichever run narrows their difference more."""
    for beyond in (limit, 0.0):
        gains = np.maximum(logs[:, [first]] - beyond - logs, 0.0).mean(axis=0)
        gains[first] = 0.0
        if gains.max() > 0:
            break
    other = int(np.argmax(np.round(gains, 9)))
    apart = logs[:, first] - logs[:, other]
    narrowed = [np.cov(logs[:, k], apart)[0, 1] ** 2 / (logs[:, k].var() + noise**2) for k in (first, other)]
    return first if narrowed[0] > narrowed[1] else other
