"""Find how many CPUs a program really uses, and whether one more would help.

The answer k_eff is the least CPU count beyond which all further CPUs together gain less than 2%: T(k) <= 1.02 min T.
It is searched among programs with a cap, a serial share and a cost of each CPU (`model_programs`). The next run goes
where the answers disagree most: the predictive variance of log T(k) between answers.

It is over when one answer has 95%, after eight runs at the earliest, when runs were made at the answer and beside it,
and when the check does not say that the program is none of these.

Source: D. J. C. MacKay, Information-based objective functions for active data selection, Neural Computation 4 (1992),
for runs where the predictive variance is largest; benchmarks/statistics_effective_cpus.py prints what it reaches.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.questions.effective_cpus import model_search
from scalograph.questions.effective_cpus.model_programs import IntArray, Programs, programs

SURE = 0.95
LEAST_RUNS = 8
# Below this, runs like these are too rare under the best of the programs. Asked in error, the search without a model
# finds the answer too, with twice the runs.
MISFIT = 0.03
# Variances are compared as rounded: the last bits differ between machines, and a replay must choose the same.
DIGITS = 9
# Cached posteriors: the answer replays the search, run by run, that the planner has just made.
MOST_KEPT = 64

Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Effective:
    """Posterior of the effective CPUs after some runs.

    Attributes:
        k_eff: the most probable answer, one of the levels.
        probabilities: of every answer that has 0.1% at least.
        serial: serial share, 95% credible range.
        gain: what the next level gains over k_eff (0.05: 5% shorter), 95% credible range; None at the last level.
        fit: posterior predictive probability of a misfit as large as this one; small: no program of this kind.
        pending: levels where a run is wanted before anything is decided: the only one there looks slowed, or the
            answer or the level next to it was not measured.
    """

    k_eff: int
    probability: float
    probabilities: Mapping[int, float]
    serial: Range
    gain: Range | None
    fit: float
    next_level: int
    n: int
    pending: tuple[int, ...] = ()

    @property
    def sure(self) -> bool:
        return self.n >= LEAST_RUNS and self.probability >= SURE and not self.pending and not self.misfit

    @property
    def misfit(self) -> bool:
        """Tell whether the program is none of these: `model_search.search` decides without a model."""
        return self.n >= LEAST_RUNS and not self.pending and self.fit < MISFIT


def effective_cpus(
    k: Sequence[int], times: Sequence[float], levels: Sequence[int], *, rounds: bool = False
) -> Effective:
    """Return the posterior after some runs.

    Args:
        k: CPU count of each run, one of `levels`.
        times: score of each run: time for the same work, above zero, any unit. For a sweep of pieces of work (threads
            that each do the same), time over pieces.
        levels: CPU counts that can be measured, ascending.
        rounds: the levels count such pieces (`model_programs.programs`).

    Raises ValueError: an argument has no meaning.

    >>> found = effective_cpus([1, 2, 3, 4] * 2, [1.0, 0.5, 0.5, 0.5] * 2, [1, 2, 3, 4])
    >>> found.k_eff, found.sure
    (2, True)
    """
    return _effective(tuple(k), tuple(times), tuple(levels), rounds)


@lru_cache(maxsize=MOST_KEPT)
def _effective(k: tuple[int, ...], times: tuple[float, ...], levels: tuple[int, ...], rounds: bool) -> Effective:
    every = programs(levels, rounds)
    at, logs = _check_runs(k, times, every.levels)
    candidates = model_search.select_plausible(every, at, logs)
    seen = model_search.evidence(candidates, at, logs)
    shares = np.bincount(candidates.answers, seen.weights, minlength=len(levels))
    best = int(np.argmax(np.round(shares, DIGITS)))
    pending = model_search.suspect_levels(at, seen.slowed)
    if not pending and shares[best] >= SURE:  # the answer and the levels next to it: none is read off a curve
        near = (best, best + 1, best - 1)
        pending = [level for level in near if 0 <= level < len(levels) and level not in at]
    chosen = pending[0] if pending else _most_telling(candidates, seen)
    half = candidates.widths / 2  # out to the ends of the cells: a share between two of their middles may be true
    return Effective(
        k_eff=candidates.levels[best], probability=float(shares[best]),
        probabilities={n: float(p) for n, p in zip(candidates.levels, shares, strict=True) if p >= 0.001},
        serial=(_range(candidates.serials - half, seen.weights)[0], _range(candidates.serials + half, seen.weights)[1]),
        gain=_gain(candidates, seen, best), fit=model_search.fit_probability(candidates, seen, at, logs),
        next_level=candidates.levels[chosen], n=logs.size, pending=tuple(candidates.levels[i] for i in pending),
    )  # fmt: skip


def _check_runs(k: Sequence[int], times: Sequence[float], levels: tuple[int, ...]) -> tuple[IntArray, FloatArray]:
    values = np.asarray(times, dtype=float)
    if len(k) != values.size or not values.size:
        raise ValueError(f"found {len(k)} CPU counts and {values.size} times, expected as many of each, at least one")
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise ValueError("found a time of 0 or less, or no number; expected times above 0")
    if strangers := sorted(set(k) - set(levels)):
        raise ValueError(f"found runs on {strangers[0]} CPUs, expected one of {list(levels)}")
    return np.searchsorted(levels, k), np.log(values)


def _most_telling(candidates: Programs, seen: model_search.Evidence) -> int:
    times = candidates.log_times + seen.log_first[:, None]
    means = seen.weights @ times
    variance = np.zeros(means.size)
    for answer in range(means.size):
        chosen = candidates.answers == answer
        if (share := float(seen.weights[chosen].sum())) > 1e-12:
            variance += share * (seen.weights[chosen] @ times[chosen] / share - means) ** 2
    return int(np.argmax(np.round(variance, DIGITS)))


def _gain(candidates: Programs, seen: model_search.Evidence, best: int) -> Range | None:
    if best + 1 == len(candidates.levels):
        return None
    return _range(np.expm1(candidates.log_times[:, best] - candidates.log_times[:, best + 1]), seen.weights)


def _range(values: FloatArray, weights: FloatArray) -> Range:
    order = np.argsort(values, kind="stable")
    summed = np.cumsum(weights[order])
    low, high = np.searchsorted(summed, [0.025, 0.975])
    return float(values[order[low]]), float(values[order[min(high, values.size - 1)]])


Limit = Literal[
    "none", "mask", "quota", "more CPUs than work", "believes in another number", "lock or serial share",
    "busy without help", "pool of fixed size", "improbable", "unknown",
]  # fmt: skip
# Used CPUs below this share of k_eff stood idle part of the time; above its inverse they were burnt without help.
USED = 0.85
# CPUs that are used up to this share of a quota used all of it.
AT_THE_QUOTA = 0.9
# A serial share whose lower end is above this is one.
SERIAL = 0.02


def name_limit(
    k_eff: int, probability: float, machine: int, mask: int, *, used: float | None = None, quota: float | None = None,
    believed: int | None = None, workers: int | None = None, serial: Range | None = None,
) -> Limit:  # fmt: skip
    """Name the first limit that the evidence supports, most of it measured on all CPUs that the program was given.

    Limits that somebody set (a quota, a mask) come before those of the program: the program could not have used more.

    Args:
        k_eff: CPUs that help.
        probability: of that number, 0 to 1.
        machine: CPUs of the machine.
        mask: CPUs that the program may run on (affinity, cpuset), the most that were tried.
        used: CPU seconds over wall seconds; None where not measured.
        quota: CPUs' worth of time that a cgroup grants; None: no quota.
        believed: CPUs that the program says it has; None where it says nothing.
        workers: threads, processes or jobs that it was told to use; None where nobody told it.
        serial: interval of the serial share; None where there is none.

    >>> name_limit(2, 0.97, machine=12, mask=12, used=1.97)
    'pool of fixed size'
    """
    if probability < SURE:
        return "improbable"
    fills_quota = quota is not None and quota < mask and used is not None and used >= AT_THE_QUOTA * quota
    if fills_quota and quota is not None and k_eff <= math.ceil(quota):
        return "quota"
    if k_eff >= mask:
        return "mask" if mask < machine else "none"
    if workers is not None and workers <= k_eff:
        return "more CPUs than work"
    if believed == k_eff:
        return "believes in another number"
    is_idle = used is None or used < USED * k_eff
    if is_idle:
        return "lock or serial share" if serial and serial[0] > SERIAL else "unknown"
    return "busy without help" if used is not None and used > k_eff / USED else "pool of fixed size"
