"""Steady state of a run: change points on the logs of its iterations.

Outliers are first clipped to the running median, unless there are too many (iterations on two levels, as with and
without a garbage collection). Stretches that differ by less than 1%, or by less than the noise within them, are the
same state. The last state must hold for the last quarter of the iterations. Iterations are assumed to be independent:
if each resembles the one before, half of the steady runs seem to change.

Source: E. Barrett et al., Virtual machine warmup blows hot and cold, OOPSLA 2017 (the classes and the idea); the
detection is kernel change-point detection, S. Arlot et al., JMLR 20 (2019), by the library ruptures.
"""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from scalograph.analysis.center import FloatArray, Scores, finite_scores, has_logs

Kind = Literal["flat", "warm-up", "slowdown", "no steady state", "not assessed"]

NEED = 30
MOST = 1000  # longer runs are reduced to medians of blocks: the search is quadratic
SAME = 0.01
LAST = 0.25
# False alarms on 30, 100 and 1000 steady iterations: 0.8%, 0.1% and none of 2,000 (benchmarks/statistics_steady.py).
PENALTY = 4.0
SHORTEST = 5
OUTLIERS = 0.1  # of the iterations; more are no outliers
_WINDOW = 11


@dataclass(frozen=True, slots=True)
class Steady:
    """Class of the iterations of a run.

    Attributes:
        kind: of the course of the iterations.
        warmup: iterations before the steady state; 0 if flat, None if there is none or none was searched.
        why: what was needed and what was available, or how far the states are apart.
    """

    kind: Kind
    warmup: int | None
    why: str = ""


def steady(iterations: Scores) -> Steady:
    """Classify the iterations of one run, times in order in any unit.

    >>> steady([1.0] * 10).why
    'need >= 30 iterations to see a steady state, have 10'
    >>> result = steady([2.0] * 10 + [1.0, 1.001] * 30)
    >>> result.kind, result.warmup
    ('warm-up', 10)
    """
    values, _ = finite_scores(iterations)
    if values.size < NEED:
        return Steady("not assessed", None, f"need >= {NEED} iterations to see a steady state, have {values.size}")
    if not has_logs(values):
        return Steady("not assessed", None, "times of zero or below have no log")
    size = math.ceil(values.size / MOST)
    whole = values[values.size % size :] if size > 1 else values
    logs = _clip_outliers(np.log(np.median(whole.reshape(-1, size), axis=1)))
    result = _classify(logs, _states(logs), size)
    # Iterations that did not fill a block are excluded at the start, before the first state.
    return replace(result, warmup=result.warmup + values.size % size) if result.warmup else result


def _clip_outliers(logs: FloatArray) -> FloatArray:
    from scipy.ndimage import median_filter  # only runs of many iterations need it

    middle = median_filter(logs, _WINDOW, mode="mirror")  # a first outlier must not repeat itself
    away = np.abs(logs - middle)
    spread = 3 * 1.4826 * float(np.median(away))
    # The running median would split two levels into stretches of one level each.
    return logs if float(np.mean(away > spread)) > OUTLIERS else np.clip(logs, middle - spread, middle + spread)


def _noise(logs: FloatArray) -> float:
    """Return the standard deviation from one iteration to the next, which a jump hardly moves."""
    # The median alone does not see a second level of fewer than half of the iterations.
    steps = np.diff(logs)
    median = 1.4826 * float(np.median(np.abs(steps - np.median(steps))))
    return max(median / math.sqrt(2), float(steps.std()) / math.sqrt(2), 1e-6)


def _states(logs: FloatArray) -> list[tuple[int, int, float]]:
    from ruptures import KernelCPD  # imported where it is used: most studies have few iterations

    search = KernelCPD(kernel="linear", min_size=SHORTEST).fit((logs / _noise(logs))[:, None])
    ends = [int(end) for end in search.predict(pen=PENALTY * math.log(logs.size))]
    return [(a, b, float(logs[a:b].mean())) for a, b in zip([0, *ends], ends, strict=False)]


def _classify(logs: FloatArray, states: list[tuple[int, int, float]], size: int) -> Steady:
    last = states[-1][2]
    play = max(SAME, _noise(logs))
    begin = logs.size
    for first, _, level in reversed(states):
        if abs(level - last) > play:
            break
        begin = first
    earlier = [level for first, _, level in states if first < begin]
    if not earlier:
        return Steady("flat", 0)
    if begin > (1 - LAST) * logs.size:
        need = f"the last state lasts {logs.size - begin} of {logs.size} iterations, expected a quarter or more"
        return Steady("no steady state", None, need if size == 1 else f"{need} (blocks of {size})")
    apart = 100 * math.expm1(max(earlier, key=lambda level: abs(level - last)) - last)
    kind: Kind = "slowdown" if min(earlier) < last - play else "warm-up"
    return Steady(kind, begin * size, f"an earlier state took {apart:+.3g}% of the last one's time")
