"""Find where the time jumps, if it does at all.

The place is searched among steps of every width against a smooth curve (`model_evidence`). The next run goes where it
tells most of the place: the predictive variance between the steps over that within them. The search is over when 95%
of the posterior of the place lie within 5% and a cliff has 95%, or when it has less than 5%.

Source: D. J. C. MacKay, Information-based objective functions for active data selection, Neural Computation 4 (1992);
benchmarks/statistics_cliff.py prints what it reaches.

A run that is more probably slowed than not is set aside before the next is looked for, three at most: the evidence
itself allows for one. It stays in the journal and in every table, and its level is repeated (`search_state`), so that
a second run tells a slow level from a slow run.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp

import numpy as np
from scipy.special import logsumexp

from scalograph.analysis.center import FloatArray
from scalograph.questions.cliff.model_evidence import (
    CLIFF_PRIOR,
    FURTHER_PRIOR,
    GRADUAL,
    JUMP_SD,
    LEAST,
    JumpEvidence,
    Steps,
    covariance,
    evidence,
    steps,
    variance,
)

SURE = 0.95
# A place is known when that much of its posterior lies within +-5%.
NEAR = 0.05
LEAST_RUNS = 10
# Steps below this share of the posterior do not choose the next run.
NEGLIGIBLE = 1e-4
# Runs at odd levels, and at even ones, from which on they are compared.
ALTERNATING = 3
# A further cliff within a tenth of a known one is the same one.
SAME = 0.1
# A run that is more probably slowed than not, and how many of them are set aside one after the other.
LIKELY, MOST_SLOWED = 0.5, 3
# Values are compared as rounded: the last bits differ between machines, and a replay must choose the same.
DIGITS, ROUNDING = 9, 1e-9

# Cached posteriors: the answer replays the search, run by run, that the planner has just made.
MOST_KEPT = 128

Range = tuple[float, float]
Ints = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """A jump of the time: log of the level at half of it, and the relative width that holds 80% of it."""

    place: float
    width: float


@dataclass(frozen=True, slots=True)
class Cliff:
    """Posterior of one cliff after some runs.

    Attributes:
        location: level at half of the jump, the median of its posterior.
        interval: levels between which the jump happens, with 99%; its own width included.
        probability: that there is a jump of 20% or more at all.
        within: share of the posterior of the place within 5% of `location`.
        factor: time above over time below, with its 95% range.
        gradual: probability that it takes a tenth of the level or more to happen.
        step: place and width, for charts and for the search for further ones.
        slowed: probability for each run that something slowed it.
        n_more: runs until the place is known, if each is as informative as the next; 0 where it is known.
    """

    location: float
    interval: Range
    probability: float
    within: float
    factor: tuple[float, float, float]
    gradual: float
    step: Step
    next_level: int
    slowed: tuple[float, ...]
    n_more: int

    @property
    def is_there(self) -> bool:
        """Tell whether a cliff is sure, and its place known."""
        return self.probability >= SURE and self.within >= SURE

    @property
    def is_none(self) -> bool:
        return self.probability <= 1 - SURE


def cliff(n: Sequence[int], times: Sequence[float], levels: Sequence[int], *, previous: Sequence[Step] = ()) -> Cliff:
    """Return the posterior of a cliff after some runs.

    Args:
        n: level of each run, one of `levels`.
        times: score of each run, above zero, any unit.
        levels: that can be measured, ascending, from 1 on.
        previous: cliffs that are known; a further one is searched.

    Raises ValueError: an argument has no meaning, or no place is left (`has_place`).

    >>> found = cliff([1, 4, 16, 32, 63, 64, 128] * 2, [1, 1, 1, 1, 1, 2, 2] * 2, range(1, 129))
    >>> found.interval, found.is_there
    ((63.0, 64.0), True)
    """
    return _fit_cliff(tuple(n), tuple(times), tuple(levels), tuple(previous))


@lru_cache(maxsize=MOST_KEPT)
def _fit_cliff(n: Ints, times: tuple[float, ...], levels: Ints, previous: tuple[Step, ...]) -> Cliff:
    logs, scores = _check_runs(n, times, levels)
    hypotheses = _exclude_known(steps(levels), previous)
    middle = float(np.log([levels[0], levels[-1]]).mean())
    centered = replace(hypotheses, places=hypotheses.places - middle)
    kept = np.ones(scores.size, dtype=bool)
    slowed = np.zeros(scores.size)
    for _ in range(MOST_SLOWED + 1):
        x, y = logs[kept] - middle, scores[kept]
        features = _features(x, middle, previous)
        seen = evidence(centered, x, y, features)
        slowed[kept] = seen.slowed
        worst = int(np.argmax(np.where(kept, slowed, -1.0)))
        if slowed[worst] < LIKELY or kept.sum() <= LEAST_RUNS // 2:
            break
        kept[worst] = False
    at = np.log(np.array(levels, dtype=float)) - middle
    telling = _information(centered, seen, x, features, at, _features(at, middle, previous))
    return _summarize(hypotheses, seen, levels, telling, slowed, prior=FURTHER_PRIOR if previous else CLIFF_PRIOR)


def _check_runs(n: Sequence[int], times: Sequence[float], levels: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    values = np.asarray(times, dtype=float)
    if len(n) != values.size or values.size < 2:
        raise ValueError(f"found {len(n)} levels and {values.size} times, expected as many of each, at least two")
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise ValueError("found a time of 0 or less, or no number; expected times above 0")
    if strangers := sorted(set(n) - set(levels)):
        raise ValueError(f"found runs at level {strangers[0]}, expected one of those that can be measured")
    return np.log(np.array(n, dtype=float)), np.log(values)


def alternation(n: Sequence[int], times: Sequence[float], step: float) -> float | None:
    """Return the time at odd levels over that at even ones, if that explains the runs and a step does not.

    Both are fitted beside a line in the logs, the step at the log level `step`. The alternation must leave less than a
    quarter of the squares that the step leaves, and be as large as what counts as a jump.
    """
    levels, y = np.array(n), np.log(np.array(times, dtype=float))
    odd, x = levels % 2, np.log(levels)
    if min(odd.sum(), (1 - odd).sum()) < ALTERNATING or y.size < LEAST_RUNS:
        return None
    fits = [_fit_beside_line(x, y, column) for column in (odd, (x > step).astype(float))]
    (left, change), (left_by_step, _) = fits
    return exp(change) if left < left_by_step / 4 and abs(change) >= LEAST else None


def _fit_beside_line(x: FloatArray, y: FloatArray, column: FloatArray) -> tuple[float, float]:
    """Return the squares that a line and a column leave, and the coefficient of the column."""
    design = np.column_stack([np.ones_like(x), x, column])
    coefficients = np.linalg.lstsq(design, y, rcond=None)[0]
    return float(((y - design @ coefficients) ** 2).sum()), float(coefficients[-1])


def _exclude_known(hypotheses: Steps, previous: Sequence[Step]) -> Steps:
    free = np.ones(hypotheses.places.size, dtype=bool)
    for step in previous:
        free &= np.abs(hypotheses.places - step.place) > max(SAME, step.width)
    kept = hypotheses.only(free)
    return replace(kept, log_prior=kept.log_prior - logsumexp(kept.log_prior)) if free.any() else kept


def has_place(levels: Sequence[int], previous: Sequence[Step]) -> bool:
    """Tell whether a further cliff could lie between these levels."""
    return _exclude_known(steps(tuple(levels)), previous).places.size > 0


def _features(x: FloatArray, middle: float, previous: Sequence[Step]) -> FloatArray:
    """Return the heights of known steps, each times its standard deviation; shape (known, x)."""
    places, widths = np.array([(step.place, step.width) for step in previous]).reshape(-1, 2).T
    none = np.zeros(len(previous))
    return Steps(places - middle, widths, none, none).heights(x) * JUMP_SD


def _information(
    hypotheses: Steps, seen: JumpEvidence, x: FloatArray, features: FloatArray, at: FloatArray, known_at: FloatArray
) -> FloatArray:
    """Return for each level the predictive variance between steps over that within them."""
    likely = seen.weights > NEGLIGIBLE * seen.weights.max()
    weights, jumps, sds = seen.weights[likely], seen.jump[likely], seen.jump_sd[likely]
    chosen = hypotheses.only(likely)
    noise = seen.curve.noise**2 * np.eye(x.size)
    across = covariance(x, at, seen.curve, features, known_at)
    to = np.linalg.solve(covariance(x, x, seen.curve, features, features) + noise, across)
    rest = chosen.heights(at) - chosen.heights(x) @ to
    base = variance(at, seen.curve, known_at) - (across * to).sum(axis=0) + seen.curve.noise**2
    share = weights / weights.sum()
    squares = rest**2
    within = base + (share * sds**2) @ squares
    between = np.maximum((share * jumps**2) @ squares - ((share * jumps) @ rest) ** 2, 0.0)
    return np.asarray(np.round(between / within, DIGITS))


def _summarize(
    hypotheses: Steps, seen: JumpEvidence, levels: Sequence[int], telling: FloatArray, slowed: FloatArray, prior: float
) -> Cliff:
    order = np.argsort(hypotheses.places, kind="stable")
    summed = np.cumsum(seen.weights[order])
    log_level = float(hypotheses.places[order[int(np.searchsorted(summed, 0.5))]])
    near = np.abs(hypotheses.places - log_level) <= NEAR
    here = np.where(near, seen.weights, 0.0)
    best = int(np.argmax(np.round(here, DIGITS)))
    odds = exp(min(max(seen.cliff, -700.0), 700.0)) * prior / (1 - prior)
    low, middle, high = _factor(here, seen)
    return Cliff(
        location=exp(log_level), interval=_interval(hypotheses, seen.weights, levels), probability=odds / (1 + odds),
        within=float(here.sum()) if here.any() else 0.0, factor=(low, middle, high),
        gradual=float(seen.weights[np.isin(hypotheses.widths, GRADUAL)].sum()),
        step=Step(log_level, float(hypotheses.widths[best])), next_level=levels[int(np.argmax(telling))],
        slowed=tuple(map(float, slowed)), n_more=_n_more(hypotheses, seen.weights, float(telling.max())),
    )  # fmt: skip


def _n_more(hypotheses: Steps, weights: FloatArray, telling: float) -> int:
    """Estimate runs until the place is known within 5%: the entropy left over what the next run takes of it.

    A run takes half the log of 1 + between/within (that of a normal channel); a place that is known with 95% leaves
    less than 0.2 nats, one in three places beside it included.
    """
    cells = np.floor(hypotheses.places / (2 * NEAR)).astype(int)
    shares = np.bincount(cells - cells.min(), weights)
    left = float(-(shares[shares > 0] * np.log(shares[shares > 0])).sum()) - 0.2
    gained = 0.5 * float(np.log1p(telling))
    return 0 if left <= 0 else int(min(np.ceil(left / max(gained, 1e-3)), 9999))


def _interval(hypotheses: Steps, weights: FloatArray, levels: Sequence[int]) -> Range:
    """Return the measurable levels around 99% of the steps: 0.5% begin below it, 0.5% end above."""
    half = np.maximum(hypotheses.widths, hypotheses.spans) / 2
    low, high = _quantile(hypotheses.places - half, weights, 0.005), _quantile(hypotheses.places + half, weights, 0.995)
    below = [level for level in levels if level <= low * (1 + ROUNDING)] or [levels[0]]
    above = [level for level in levels if level >= high * (1 - ROUNDING)] or [levels[-1]]
    return float(below[-1]), float(above[0])


def _quantile(logs: FloatArray, weights: FloatArray, share: float) -> float:
    order = np.argsort(logs, kind="stable")
    summed = np.cumsum(weights[order])
    return float(np.exp(logs[order[min(np.searchsorted(summed, share * summed[-1]), len(order) - 1)]]))


def _factor(weights: FloatArray, seen: JumpEvidence) -> tuple[float, float, float]:
    """Return low end, expected value and high end of the time above over below, at the place itself."""
    share = weights / weights.sum()
    mean = float(share @ seen.jump)
    sd = float(np.sqrt(share @ (seen.jump_sd**2 + (seen.jump - mean) ** 2)))
    return exp(mean - 1.96 * sd), exp(mean), exp(mean + 1.96 * sd)
