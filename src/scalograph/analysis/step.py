"""How coarse are scores? A clock that ticks, or a figure that is rounded, hides what is smaller than its step."""

import math

import numpy as np

from scalograph.analysis.center import Scores, present
from scalograph.analysis.estimate import MOST_LOG, Estimate

# Numbers are multiples of a step if they are within this of one, as a share of the largest.
EXACT = 1e-9
# Of what share it is told.
MATTERS = 1e-4
# Scores that spread by so many steps blur them: rounding then moves their mean by less than 1 % of one.
BLURRED = 0.5
IDENTICAL_RUNS = "all runs have one score: the clock or counter is too coarse to tell a difference"


def common_step(*samples: Scores) -> float | None:
    """Return the largest step of which all scores are multiples; None where they have one value or are zero.

    A clock of full resolution has a step too, of no matter.

    >>> common_step([120, 130, 120], [110]), common_step([5, 5]), round(common_step([0.12, 0.16]), 9)
    (10.0, None, 0.04)
    """
    values = np.sort(np.abs(np.concatenate([present(scores)[0] for scores in samples])))
    least, step = EXACT * float(values[-1]) if values.size else 0.0, 0.0
    gaps = [gap for gap in np.diff(values).tolist() if gap > least]
    for value in [*gaps, *values[:1].tolist()] if gaps else ():
        larger, smaller = max(value, step), min(value, step)
        while smaller > least:
            rest = math.fmod(larger, smaller)
            larger, smaller = smaller, min(rest, smaller - rest)  # a hair below a multiple is one
        step = larger
        if step <= 2 * least:
            break
    return step or None


def rounding(scores: Scores, step: float | None) -> float:
    """Return by how much, as a share, rounding to a step may have moved the mean of these scores."""
    values, _ = present(scores)
    if step is None or not values.size or not np.mean(values):
        return 0.0
    spread = float(values.std(ddof=1)) if values.size > 1 else 0.0
    return 0.0 if spread >= BLURRED * step else step / 2 / float(np.mean(np.abs(values)))


def widened(found: Estimate, *samples: Scores) -> Estimate:
    """Return the estimate with an interval that holds what the step of its scores hides.

    One value throughout hides all: there is no interval then.
    """
    if found.low is None or found.high is None:
        return found
    step = common_step(*samples)
    if step is None:
        return Estimate(found.value, None, None, found.confidence, found.n, found.method, found.warnings).warned(
            IDENTICAL_RUNS
        )
    hidden = min(sum(rounding(scores, step) for scores in samples), MOST_LOG)
    if hidden < MATTERS:
        return found
    low, high = found.low * math.exp(-hidden), found.high * math.exp(hidden)
    told = f"scores are multiples of {step:.3g}: the interval is wider by {100 * hidden:.2g} %"
    return Estimate(found.value, low, high, found.confidence, found.n, found.method, found.warnings).warned(told)
