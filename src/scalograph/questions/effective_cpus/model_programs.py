"""Programs that could be the one that is measured: each has a cap on the CPUs that it uses, and a serial share.

T(k) = T1 (s + (1 - s) / min(k, m) + c (k - 1)) for a total of work on k CPUs, of which the program uses m at most; the
share s is done by one alone, and each CPU costs c, mostly nothing: more CPUs can make a program slower.

In *rounds*, k equal pieces of work are taken to m CPUs whole, one after the other: per piece, T(k) / k = T1 (s +
(1 - s) ceil(k / m) / k + c (k - 1)). Where pieces share a CPU in turns the first form holds for them too.

Source: G. M. Amdahl, AFIPS Spring Joint Computer Conference 1967, with a cap; N. J. Gunther, Guerrilla Capacity
Planning (2007), for the cost of coherency (its kappa is c); the rounds as published for threads that are mapped onto
two kernel threads (time doubles at three threads and stays at four).
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalograph.analysis.center import FloatArray

# More CPUs that together gain less than this do not help.
GAIN = 0.02
# Neighboring serial shares differ by this much in the time on all CPUs: about the noise of one run.
STEP = 0.05
# Serial shares from here on differ by 1 %.
FINE_FROM, N_FINE = 0.8, 21
# The most that is believed before of the flat program, which one CPU serves: however few CPUs there are.
MOST_FLAT = 0.1
# What all CPUs together cost, in parts of T1, and the weight of each before anything was measured.
COSTS = (0.0, 0.06, 0.12, 0.24, 0.48)
COST_PRIOR = (0.8, 0.05, 0.05, 0.05, 0.05)

# Programs times choices of slowed runs that are weighed in a second or two, and in a few hundred MB.
AFFORDABLE = 3e7

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Programs:
    """Hypotheses, one in each row.

    Attributes:
        levels: CPU counts (or pieces of work) that can be measured, growing.
        caps: CPUs that it uses at most.
        serials: its serial share, 0 to 1.
        log_times: log of the time for the same work at each level, relative to one CPU; shape (programs, levels).
        answers: index of the level beyond which more CPUs gain less than 2 %.
        log_prior: log weight before anything was measured: every serial share is as probable as any other, and so is
            every cap but 1, which gives the same flat program at each share.
    """

    levels: tuple[int, ...]
    caps: IntArray
    serials: FloatArray
    log_times: FloatArray
    answers: IntArray
    log_prior: FloatArray


def most_runs(top: int, rounds: bool) -> int:
    """Runs of which two may be slowed in any way, that can still be held against every program up to this level."""
    n_programs = len(COSTS) * (2 if rounds else 1) * top * len(_serial_shares(top))
    return int(np.sqrt(2 * AFFORDABLE / n_programs))


@lru_cache(maxsize=8)
def programs(levels: tuple[int, ...], rounds: bool = False) -> Programs:
    """Every cap up to the highest level, with serial shares from none to all.

    Args:
        levels: at least two, growing, each at least 1.
        rounds: the levels count equal pieces of work, which may be done in rounds; both forms are then possible.

    Raises:
        ValueError: levels that are not as said.

    >>> found = programs((1, 2, 3, 4))
    >>> [found.levels[a] for a in found.answers[found.serials == 0][:4]]
    [1, 2, 3, 4]
    """
    if len(levels) < 2 or levels[0] < 1 or any(a >= b for a, b in pairwise(levels)):
        raise ValueError(f"levels: found {list(levels)}, expected at least two, growing, from 1 on")
    sizes, top = np.array(levels), levels[-1]
    shares = _serial_shares(top)
    forms = np.concatenate([_parallel(sizes, top, way) for way in ((False, True) if rounds else (False,))])
    costs = np.array(COSTS)[:, None] * (sizes - 1) / top
    serial = shares[None, None, :, None]
    # One axis for each of cost, form and cap, serial share, level.
    times = serial + (1 - serial) * forms[None, :, None, :] + costs[:, None, None, :]
    axes = times.shape[:3]
    caps = np.resize(np.arange(1, top + 1), len(forms))[:, None]
    one = min(1 / top, MOST_FLAT)
    of_caps = np.where(caps == 1, one, (1 - one) / (top - 1))
    prior = np.log(COST_PRIOR)[:, None, None] + np.log(of_caps) + np.log(_cells(shares))
    flat = times.reshape(-1, len(levels))
    return Programs(
        levels, _spread(caps, axes), _spread(shares, axes), np.log(flat), answers(flat), _spread(prior, axes)
    )


def _spread(values: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    return np.broadcast_to(values, axes).ravel()


def answers(times: FloatArray) -> IntArray:
    """Index of the first level that is at most 2 % above the shortest time of all levels, in each row.

    >>> answers(np.array([[1.0, 0.5, 0.5], [1.0, 0.5, 0.4]])).tolist()
    [1, 2]
    """
    return np.asarray(np.argmax(times <= (1 + GAIN) * times.min(axis=-1, keepdims=True), axis=-1))


def _serial_shares(top: int) -> FloatArray:
    """Even steps in the log of the time on all CPUs: elsewhere a step could not be seen, or would hide an answer.

    Of almost serial programs finer ones: between one CPU that helps and all of them lie a few percent of the time.
    """
    logs = np.linspace(-np.log(top), 0.0, max(2, int(np.ceil(np.log(top) / STEP)) + 1))
    parallel = 1 - 1 / max(top, 2)  # one CPU knows no difference
    shares = np.clip((np.exp(logs) - 1 / top) / parallel, 0.0, 1.0)
    return np.concatenate([shares[shares < FINE_FROM], np.linspace(FINE_FROM, 1.0, N_FINE)])


def _cells(shares: FloatArray) -> FloatArray:
    """Width of the cell of each share: halfway to its neighbors, so that every share is as probable as any other."""
    edges = np.concatenate([[0.0], (shares[1:] + shares[:-1]) / 2, [1.0]])
    return np.asarray(np.diff(edges))


def _parallel(sizes: IntArray, top: int, in_rounds: bool) -> FloatArray:
    caps = np.arange(1, top + 1)[:, None]
    if in_rounds:
        return np.asarray(np.ceil(sizes / caps) / sizes)
    return 1.0 / np.minimum(sizes, caps)
