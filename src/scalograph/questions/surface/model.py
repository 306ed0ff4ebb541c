"""Model the time of N equal workers on M CPUs, and the fairness of their finish times.

A worker that has a CPU to itself takes T(1). N of them on M CPUs cannot take less than T(1) max(1, N/M): the surface is
flat up to the ridge N = M and rises by T(1)/M for each further worker. That is reached where the CPUs are shared in
pieces of time. Where each worker stays on one CPU the fullest one decides: T(1) ceil(N/M).

Sources: the lower bound is R. McNaughton's for preemptive schedules, Management Science 6 (1959); the slope is
P. K. Sen's, JASA 63 (1968), the index R. Jain's, D. Chiu's and W. Hawe's, DEC Research Report
TR-301 (1984), equation 2.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from scalograph.analysis.center import IDENTICAL, Scores
from scalograph.analysis.estimate import Estimate, check_confidence, finite, need_runs, unknown_estimate
from scalograph.analysis.interval import summarize
from scalograph.analysis.ratios import ratio

PLAY = 0.05  # a deviation within it is none: what starting and ending of a worker may cost
SLOPE = "Theil-Sen slope over workers, Sen's interval"
JAIN = "Jain's index of finish times, typical run, Student t on the logs of their variation"
FEWEST_SIZES = 3  # counts of workers above the CPUs, for a slope
FEWEST_RUNS = 5  # for its interval: with fewer, the most extreme pairs cover 67 to 92%


def shared_time(workers: int, cpus: int) -> float:
    """Return time over that of one worker where CPUs are time-shared.

    >>> shared_time(1, 2), shared_time(3, 2)
    (1.0, 1.5)
    """
    return max(1.0, workers / cpus)


def pinned_time(workers: int, cpus: int) -> float:
    """Return time over that of one worker where each stays on one CPU.

    >>> pinned_time(2, 2), pinned_time(3, 2)
    (1.0, 2.0)
    """
    return float(math.ceil(workers / cpus))


def deviation(here: Scores, single: Scores, workers: int, cpus: int, confidence: float = 0.95) -> tuple[Estimate, str]:
    """Compare the time of N workers on M CPUs with T(1) max(1, N/M).

    `here`: times of the runs with `workers`; `single`: times of the runs with one worker on the same CPUs, same
    unit; `workers`: N, at least 1; `cpus`: M, at least 1.

    The ratio without unit (1: as expected), and a flag where its interval lies outside 1 +- 5%; else empty.

    >>> deviation([2.0, 2.02, 1.98], [1.0, 1.01, 0.99], 3, 2)[1]
    'as if each worker stayed on one CPU'
    """
    expected = shared_time(workers, cpus)
    estimate = ratio(here, single, confidence).rescale(1 / expected)
    return estimate, _flag(estimate, pinned_time(workers, cpus) / expected)


def _flag(estimate: Estimate, stays: float) -> str:
    if estimate.low is None or estimate.high is None:
        return ""
    if estimate.high < 1 - PLAY:
        return "shorter than the CPUs allow"
    if estimate.low <= 1 + PLAY:
        return ""
    near = estimate.low <= stays * (1 + PLAY) and estimate.high >= stays * (1 - PLAY)
    return "as if each worker stayed on one CPU" if near and stays > 1 + PLAY else "longer than the CPUs need"


def slope(points: Iterable[tuple[int, float]], cpus: int, confidence: float = 0.95) -> Estimate:
    """Estimate the time that each worker beyond the CPUs adds: the median slope of all pairs of runs.

    Robust: up to 29% of the runs may be disturbed, however far.

    `points`: workers and time of each run; those with fewer workers than `cpus` are on the flat part and left out.

    The slope, in time for each worker; without a value where fewer than three counts of workers are left.

    >>> slope([(n, n / 2) for n in range(1, 9)], 2).value
    0.5
    """
    check_confidence(confidence)
    rising = [(n, time) for n, time in points if n >= cpus and math.isfinite(time)]
    sizes = len({n for n, _ in rising})
    if sizes < FEWEST_SIZES:
        need = f"need >= {FEWEST_SIZES} counts of workers from {cpus} up for a slope, have {sizes}"
        return unknown_estimate(SLOPE, confidence, len(rising), need)
    from scipy.stats import theilslopes

    fit = theilslopes([time for _, time in rising], [n for n, _ in rising], confidence)
    if len(rising) < FEWEST_RUNS:
        need = need_runs(FEWEST_RUNS, len(rising))
        return Estimate(float(fit.slope), None, None, confidence, len(rising), SLOPE, (need,))
    ends = (finite(fit.low_slope), finite(fit.high_slope))
    estimate = Estimate(float(fit.slope), *ends, confidence, len(rising), SLOPE)
    return estimate.add_warnings(IDENTICAL) if ends[0] == ends[1] else estimate


def widen_jointly(estimate: Estimate, n: int) -> Estimate:
    """Widen the interval of a ratio so that n such intervals hold at once (Bonferroni, on logs).

    >>> round(widen_jointly(Estimate(1.0, 0.9, 1 / 0.9), 5).low, 2)
    0.87
    """
    if estimate.value is None or not estimate.low or not estimate.high or n < 2:
        return estimate
    normal = NormalDist().inv_cdf
    wider = normal(1 - (1 - estimate.confidence) / (2 * n)) / normal(0.5 + estimate.confidence / 2)
    low, high = (estimate.value * (end / estimate.value) ** wider for end in (estimate.low, estimate.high))
    return replace(estimate, low=low, high=high)


def jain(times: Sequence[float]) -> float:
    """Return Jain's fairness of finish times: 1 where all finish together, 1/n where one took all the time.

    Workers that run one after the other, in equal parts, have 3 (n + 1) / (4 n + 2), 0.75 for many.

    Raises ValueError: no times, or none above zero.

    >>> jain([2.0, 2.0]), jain([1.0, 0.0])
    (1.0, 0.5)
    """
    values = np.asarray(times, dtype=float)
    squares = float(values @ values)
    if values.size == 0 or not squares > 0 or float(values.min()) < 0:
        raise ValueError(f"jain: found {list(times)!r:.80}, expected times of at least zero, one above it")
    return min(1.0, float(values.sum()) ** 2 / (values.size * squares))


def fairness(runs: Sequence[Sequence[float]], confidence: float = 0.95) -> Estimate:
    """Average Jain's index of the finish times within a run.

    The index is 1 / (1 + c^2) of the times' coefficient of variation c. The interval is taken on log c and carried
    over, so that it never leaves 0 to 1.

    `runs`: of each run, the finish times of its workers, any unit, two workers or more.

    >>> fairness([[1.0, 1.0], [1.0, 1.0]]).value
    1.0
    """
    measured = [times for times in runs if len(times) > 1 and max(times) > 0]
    if not measured:
        return unknown_estimate(JAIN, confidence, 0, need_runs(1, 0, "a value of two workers or more"))
    variation = summarize([math.sqrt(max(0.0, 1 / jain(times) - 1)) for times in measured], confidence)
    value, high, low = (
        None if c is None else 1 / (1 + max(c, 0.0) ** 2) for c in (variation.value, variation.low, variation.high)
    )
    return replace(variation, value=value, low=low, high=high, method=JAIN)
