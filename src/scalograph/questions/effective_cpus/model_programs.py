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

import numpy as np
from numpy.typing import NDArray

from scalograph.analysis.center import FloatArray

# More CPUs that together gain less than this do not help.
GAIN = 0.02
# Neighboring serial shares differ by this much in the time on all CPUs: about the noise of one run.
STEP = 0.05
# Programs without a cap of their own, before anything was measured; any cap of the others is as probable as another.
UNCAPPED = 0.5
# What all CPUs together cost, in parts of T1, and the weight of each before anything was measured.
COSTS = (0.0, 0.06, 0.12, 0.24, 0.48)
COST_PRIOR = (0.8, 0.05, 0.05, 0.05, 0.05)

# Programs times choices of slowed runs that are weighed in a second or two, and in a few hundred MB.
AFFORDABLE = 3e7

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Programs:
    """Hypotheses, one in each row: a cell of serial shares, taken at its middle.

    Attributes:
        levels: CPU counts (or pieces of work) that can be measured, growing.
        caps: CPUs that it uses at most.
        serials: its serial share, 0 to 1.
        widths: of the cell of serial shares around that one.
        costs: of all CPUs together, in parts of T1.
        in_rounds: whether pieces of work are taken to CPUs whole.
        log_times: log of the time for the same work at each level, relative to one CPU; shape (programs, levels).
        answers: index of the level beyond which more CPUs gain less than 2 %.
        log_prior: log weight before anything was measured: every serial share is as probable as any other; half of
            the programs have no cap.
    """

    levels: tuple[int, ...]
    caps: IntArray
    serials: FloatArray
    widths: FloatArray
    costs: FloatArray
    in_rounds: NDArray[np.bool_]
    log_times: FloatArray
    answers: IntArray
    log_prior: FloatArray


def most_runs(top: int, rounds: bool) -> int:
    """Runs of which two may be slowed in any way, that can still be held against every program up to this level."""
    n_programs = len(COSTS) * (2 if rounds else 1) * top * (_edges(top).size - 1)
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
    >>> [found.levels[a] for a in found.answers[found.serials == found.serials.min()][:4]]
    [1, 2, 3, 4]
    """
    if len(levels) < 2 or levels[0] < 1 or any(a >= b for a, b in pairwise(levels)):
        raise ValueError(f"levels: found {list(levels)}, expected at least two, growing, from 1 on")
    top = levels[-1]
    edges, ways = _edges(top), (False, True) if rounds else (False,)
    axes = np.meshgrid(range(len(COSTS)), ways, range(1, top + 1), range(edges.size - 1), indexing="ij")
    cost, in_rounds, caps, cell = (np.asarray(axis.ravel(), dtype=np.int64) for axis in axes)
    widths = np.diff(edges)[cell]
    prior = np.log(np.array(COST_PRIOR)[cost]) + np.log(_of_caps(top))[caps - 1] + np.log(widths)
    middles = ((edges[1:] + edges[:-1]) / 2)[cell]
    return _made(levels, caps, middles, widths, np.array(COSTS)[cost], in_rounds.astype(bool), prior)


def split(found: Programs, kept: NDArray[np.bool_], parts: int) -> Programs:
    """Keep some programs, each as several: its cell of serial shares in equal parts.

    Args:
        found: the programs.
        kept: which of them to keep, at least one.
        parts: of each, 1 or more.
    """
    offsets = (np.arange(parts) + 0.5) / parts - 0.5
    widths, prior = (np.repeat(x[kept], parts) for x in (found.widths, found.log_prior))
    caps, costs = np.repeat(found.caps[kept], parts), np.repeat(found.costs[kept], parts)
    in_rounds = np.repeat(found.in_rounds[kept], parts)
    serials = np.repeat(found.serials[kept], parts) + widths * np.tile(offsets, np.count_nonzero(kept))
    return _made(found.levels, caps, serials, widths / parts, costs, in_rounds, prior - np.log(parts))


def select(found: Programs, kept: NDArray[np.bool_]) -> Programs:
    """Keep some programs as they are."""
    return Programs(
        levels=found.levels, caps=found.caps[kept], serials=found.serials[kept], widths=found.widths[kept],
        costs=found.costs[kept], in_rounds=found.in_rounds[kept], log_times=found.log_times[kept],
        answers=found.answers[kept], log_prior=found.log_prior[kept],
    )  # fmt: skip


def answers(times: FloatArray) -> IntArray:
    """Index of the first level that is at most 2 % above the shortest time of all levels, in each row.

    >>> answers(np.array([[1.0, 0.5, 0.5], [1.0, 0.5, 0.4]])).tolist()
    [1, 2]
    """
    return np.asarray(np.argmax(times <= (1 + GAIN) * times.min(axis=-1, keepdims=True), axis=-1))


def _made(
    levels: tuple[int, ...],
    caps: IntArray,
    serials: FloatArray,
    widths: FloatArray,
    costs: FloatArray,
    in_rounds: NDArray[np.bool_],
    log_prior: FloatArray,
) -> Programs:
    k, m, serial = np.array(levels)[None, :], caps[:, None], serials[:, None]
    parallel = np.where(in_rounds[:, None], np.ceil(k / m) / k, 1.0 / np.minimum(k, m))
    times = serial + (1 - serial) * parallel + costs[:, None] * (k - 1) / levels[-1]
    return Programs(levels, caps, serials, widths, costs, in_rounds, np.log(times), answers(times), log_prior)


def _edges(top: int) -> FloatArray:
    """Serial shares with even steps between them in the log of the time on all CPUs, none and all at the ends."""
    n = max(2, int(np.ceil(np.log(top) / STEP)))
    shares = (np.exp(np.linspace(-np.log(top), 0.0, n + 1)) - 1 / top) / (1 - 1 / max(top, 2))
    return np.clip(shares, 0.0, 1.0)


def _of_caps(top: int) -> FloatArray:
    """Weight of each cap before anything was measured; the last one stands for none here."""
    weights = np.full(top, (1 - UNCAPPED) / top)
    weights[-1] += UNCAPPED
    return weights
