"""One score for a run, from its iterations after warm-up."""

from collections.abc import Sequence

import numpy as np

from scalograph.analysis.center import FloatArray, Scores, present


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
