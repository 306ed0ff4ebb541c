"""Finite scores of one configuration, with their center and its standard error."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
# Degrees of freedom of a spread that is given: so many that Student's t is normal.
GIVEN = 1_000_000_000
Scores = Sequence[float | None] | Sequence[float] | Sequence[int] | FloatArray

IDENTICAL = "all scores are identical: the interval has no width; the clock or counter may be too coarse"


@dataclass(frozen=True, slots=True)
class Center:
    """A mean of logs or scores, its standard error (NaN below two scores) and degrees of freedom (then 0).

    A single value of given spread has that standard error, and GIVEN degrees of freedom.
    """

    value: float
    se: float
    df: int


def finite_scores(scores: Scores) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the finite scores in order, and a warning that counts the others (None, NaN, infinities).

    >>> finite_scores([0.0, None, 2.0])
    (array([0., 2.]), ('1 of 3 scores is missing',))
    """
    values = score_array(scores)
    kept = values[np.isfinite(values)]
    n_missing = values.size - kept.size
    if n_missing == 0:
        return kept, ()
    verb = "is" if n_missing == 1 else "are"
    return kept, (f"{n_missing} of {values.size} scores {verb} missing",)


def score_array(scores: Scores) -> FloatArray:
    """Return scores as floats, NaN for None. Raises ValueError unless they are one flat sequence."""
    values = np.asarray(scores, dtype=np.float64)  # None becomes NaN
    if values.ndim != 1:
        raise ValueError(f"scores: found {values.ndim} dimensions, expected 1: one score for each run")
    return values


def has_logs(*samples: FloatArray) -> bool:
    """Tell whether all values are above zero, so that logs exist."""
    return all(bool(np.all(x > 0)) for x in samples)


def n_trimmed(n: int, trim: float) -> int:
    """Return how many of `n` scores a share `trim` trims at each end. Raises ValueError outside [0, 0.25].

    >>> n_trimmed(10, 0.1), n_trimmed(9, 0.1)
    (1, 0)
    """
    if not 0 <= trim <= 0.25:
        raise ValueError(f"trim: found {trim}, expected a share between 0 and 0.25 of each end")
    return math.floor(trim * n + 1e-9)


def center(values: FloatArray, trim: float = 0.0, spread: float = 0.0) -> Center:
    """Return the trimmed mean of one or more values, with its standard error from the winsorized variance.

    `spread` is the given standard deviation of a single value; 0 where unknown. Two or more have their own.

    Source: K. K. Yuen, The two-sample trimmed t for unequal population variances, Biometrika 61 (1974).
    """
    n, cut = values.size, n_trimmed(values.size, trim)
    ordered = np.sort(values)
    kept = ordered[cut : n - cut]
    df = kept.size - 1
    if df < 1:
        return Center(float(kept[0]), spread or math.nan, GIVEN if spread else 0)
    if ordered[0] == ordered[-1]:  # rounding in the mean must not turn "no spread" into a spread
        return Center(float(ordered[0]), 0.0, df)
    with np.errstate(over="ignore", invalid="ignore"):  # ends that overflow are reported as None, with a warning
        mean = float(kept.mean())
        if cut:
            ordered = np.clip(ordered, kept[0], kept[-1])  # winsorized
        off = ordered - (ordered.mean() if cut else mean)
        squares = float(np.square(off).sum())
        return Center(mean, math.sqrt(squares / (kept.size * df)), df)


def trim_note(n: int, trim: float) -> tuple[str, ...]:
    """Return a warning if trimming was requested and there are too few scores to trim one."""
    if trim > 0 and n_trimmed(n, trim) == 0:
        needed = math.ceil(1 / trim - 1e-9)
        return (f"need >= {needed} runs to trim {trim:.0%} at each end, have {n}: none trimmed",)
    return ()


def score(iterations: Scores, warmup: int = 0) -> float | None:
    """Return the score of a run: the median of its iterations after warm-up; None if none is left.

    A median, so that one iteration disturbed by a collector or an interrupt does not move the run.

    Args:
        iterations: in order; None and NaN are missing.
        warmup: iterations excluded at the start, counted before missing ones are dropped; ValueError below 0.

    >>> score([9.0, 2.0, 1.0, 3.0], warmup=1)
    2.0
    >>> score([0.0, 0.0])
    0.0
    >>> score([5.0], warmup=1) is None
    True
    """
    if warmup < 0:
        raise ValueError(f"warmup: found {warmup}, expected a count of iterations, 0 or more")
    values, _ = finite_scores(iterations[warmup:])
    return float(np.median(values)) if values.size else None


def scores(runs: Sequence[Scores], warmup: int = 0) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the scores of runs, shape (n_runs,), NaN for a run without one, and a warning that counts those.

    >>> scores([[1.0, 3.0], []])
    (array([ 2., nan]), ('1 of 2 runs without an iteration after a warm-up of 0',))
    """
    medians = [score(run, warmup) for run in runs]
    n_without = sum(x is None for x in medians)
    values = np.array([np.nan if x is None else x for x in medians], dtype=np.float64)
    if n_without == 0:
        return values, ()
    return values, (f"{n_without} of {len(medians)} runs without an iteration after a warm-up of {warmup}",)
