"""The scores of one treatment without the missing ones, their center and their spread."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Scores = Sequence[float | None] | Sequence[float] | Sequence[int] | FloatArray

IDENTICAL = "all scores are identical: the interval has no width; the clock or counter may be too coarse"


@dataclass(frozen=True, slots=True)
class Center:
    """A mean with its standard error.

    Attributes:
        value: the mean (of logs, or of plain scores; the caller knows).
        se: standard error of `value`; NaN below two scores.
        df: degrees of freedom of `se`; 0 below two scores.
    """

    value: float
    se: float
    df: int


def present(scores: Scores) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the finite scores, in order, shape (n,), and a warning that counts the missing ones.

    None, NaN and infinities are missing; 0.0 is a value.

    >>> present([0.0, None, 2.0])
    (array([0., 2.]), ('1 of 3 scores is missing',))
    """
    values = as_array(scores)
    kept = values[np.isfinite(values)]
    n_missing = values.size - kept.size
    if n_missing == 0:
        return kept, ()
    verb = "is" if n_missing == 1 else "are"
    return kept, (f"{n_missing} of {values.size} scores {verb} missing",)


def as_array(scores: Scores) -> FloatArray:
    """Return scores as floats, shape (n,), with NaN for None.

    Raises:
        ValueError: the scores are not one flat sequence.
    """
    values = np.asarray(scores, dtype=np.float64)  # None becomes NaN
    if values.ndim != 1:
        raise ValueError(f"scores: found {values.ndim} dimensions, expected 1: one score for each run")
    return values


def has_logs(*samples: FloatArray) -> bool:
    """Tell whether all values are above zero, so that logs exist."""
    return all(bool(np.all(x > 0)) for x in samples)


def n_trimmed(n: int, trim: float) -> int:
    """Return the number of scores set aside at each end when a share `trim` is trimmed from `n` scores.

    Raises:
        ValueError: `trim` is outside [0, 0.25].

    >>> n_trimmed(10, 0.1), n_trimmed(9, 0.1)
    (1, 0)
    """
    if not 0 <= trim <= 0.25:
        raise ValueError(f"trim: found {trim}, expected a share between 0 and 0.25 of each end")
    return math.floor(trim * n + 1e-9)


def center(values: FloatArray, trim: float = 0.0) -> Center:
    """Return the mean of `values`, shape (n >= 1,), with the standard error over runs.

    With `trim`: the trimmed mean, and the standard error from the winsorized variance.

    Source: K. K. Yuen, The two-sample trimmed t for unequal population variances, Biometrika 61 (1974).
    """
    n, cut = values.size, n_trimmed(values.size, trim)
    ordered = np.sort(values)
    kept = ordered[cut : n - cut]
    df = kept.size - 1
    if df < 1:
        return Center(float(kept[0]), math.nan, 0)
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
    """Warn if trimming was requested and there are too few scores to trim one."""
    if trim > 0 and n_trimmed(n, trim) == 0:
        needed = math.ceil(1 / trim - 1e-9)
        return (f"need >= {needed} runs to trim {trim:.0%} at each end, have {n}: none trimmed",)
    return ()


def score(iterations: Scores, warmup: int = 0) -> float | None:
    """Return the score of a run: the median of its iterations after the first `warmup` ones.

    The median, because one iteration disturbed by a collector or an interrupt should not move the run. The
    variation between runs stays: statistics count runs, not iterations.

    Args:
        iterations: one value for each iteration, in order, shape (m,); None and NaN are missing.
        warmup: iterations left out at the start, counted before missing ones are dropped.

    Returns:
        The score in the unit of the iterations; None if none is left.

    Raises:
        ValueError: `warmup` is negative.

    >>> score([9.0, 2.0, 1.0, 3.0], warmup=1)
    2.0
    >>> score([0.0, 0.0])
    0.0
    >>> score([5.0], warmup=1) is None
    True
    """
    if warmup < 0:
        raise ValueError(f"warmup: found {warmup}, expected a count of iterations, 0 or more")
    values, _ = present(iterations[warmup:])
    return float(np.median(values)) if values.size else None


def scores(runs: Sequence[Scores], warmup: int = 0) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the scores of several runs, shape (n_runs,), NaN for a run without one, and a warning that counts those.

    >>> scores([[1.0, 3.0], []])
    (array([ 2., nan]), ('1 of 2 runs without an iteration after a warm-up of 0',))
    """
    found = [score(run, warmup) for run in runs]
    n_without = sum(x is None for x in found)
    values = np.array([np.nan if x is None else x for x in found], dtype=np.float64)
    if n_without == 0:
        return values, ()
    return values, (f"{n_without} of {len(found)} runs without an iteration after a warm-up of {warmup}",)
