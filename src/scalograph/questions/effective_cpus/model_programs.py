"""Hypothetical programs, each with a cap on the CPUs that it uses, and a serial share.

T(k) = T1 (s + (1 - s) / min(k, m) + c (k - 1)) for a total of work on k CPUs, of which the program uses m at most; the
share s is done by one alone, and each CPU costs c, mostly nothing: more CPUs can make a program slower.

In *rounds*, k equal pieces of work are taken to m CPUs whole, one after the other: per piece, T(k) / k = T1 (s +
(1 - s) ceil(k / m) / k + c (k - 1)). Where pieces share a CPU in turns the first form holds for them too.

Source: G. M. Amdahl, AFIPS Spring Joint Computer Conference 1967, with a cap; N. J. Gunther, Guerrilla Capacity
Planning (2007), for the cost of coherency (its kappa is c); the rounds as published for threads that are mapped onto
two kernel threads (time doubles at three threads and stays at four).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from scalograph.analysis.center import FloatArray
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.interval import summarize
from scalograph.analysis.ratios import ratio
from scalograph.findings.answer import SampleMap
from scalograph.findings.sample import Sample
from scalograph.findings.table import Table
from scalograph.protocol.plain import Level
from scalograph.study.model import Study

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
        levels: CPU counts (or pieces of work) that can be measured, ascending.
        caps: CPUs that it uses at most.
        serials: its serial share, 0 to 1.
        widths: of the cell of serial shares around that one.
        costs: of all CPUs together, in parts of T1.
        in_rounds: whether pieces of work are taken to CPUs whole.
        log_times: log of the time for the same work at each level, relative to one CPU; shape (programs, levels).
        answers: index of the level beyond which more CPUs gain less than 2%.
        log_prior: every serial share is as probable as any other; half of the programs have no cap.
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
    """Return how many runs, any two of them slowed, can be weighed against every program up to this level."""
    n_programs = len(COSTS) * (2 if rounds else 1) * top * (_edges(top).size - 1)
    return int(np.sqrt(2 * AFFORDABLE / n_programs))


@lru_cache(maxsize=8)
def programs(levels: tuple[int, ...], rounds: bool = False) -> Programs:
    """Make programs with every cap up to the highest level, and serial shares from none to all.

    `rounds`: the levels count equal pieces of work, which may be done in rounds; both forms are then possible.
    Raises ValueError unless there are two levels or more, ascending, each at least 1.

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
    cap_prior = np.full(top, (1 - UNCAPPED) / top)
    cap_prior[-1] += UNCAPPED  # the highest cap stands for none
    prior = np.log(np.array(COST_PRIOR)[cost]) + np.log(cap_prior)[caps - 1] + np.log(widths)
    middles = ((edges[1:] + edges[:-1]) / 2)[cell]
    return _make_programs(levels, caps, middles, widths, np.array(COSTS)[cost], in_rounds.astype(bool), prior)


def split_cells(candidates: Programs, kept: NDArray[np.bool_], parts: int) -> Programs:
    """Keep some programs, at least one, each as several: its cell of serial shares in equal parts."""
    index, offsets = np.repeat(np.flatnonzero(kept), parts), (np.arange(parts) + 0.5) / parts - 0.5
    caps, in_rounds = candidates.caps[index], candidates.in_rounds[index]
    widths, costs, prior = (x[index] for x in (candidates.widths, candidates.costs, candidates.log_prior))
    serials = candidates.serials[index] + widths * np.tile(offsets, np.count_nonzero(kept))
    return _make_programs(candidates.levels, caps, serials, widths / parts, costs, in_rounds, prior - np.log(parts))


def select_programs(candidates: Programs, kept: NDArray[np.bool_]) -> Programs:
    rows = ("caps", "serials", "widths", "costs", "in_rounds", "log_times", "answers", "log_prior")
    return replace(candidates, **{name: getattr(candidates, name)[kept] for name in rows})


def answers(times: FloatArray) -> IntArray:
    """Return the index of the first level at most 2% above the shortest time of all levels, in each row.

    >>> answers(np.array([[1.0, 0.5, 0.5], [1.0, 0.5, 0.4]])).tolist()
    [1, 2]
    """
    return np.asarray(np.argmax(times <= (1 + GAIN) * times.min(axis=-1, keepdims=True), axis=-1))


def _make_programs(
    levels: tuple[int, ...], caps: IntArray, serials: FloatArray, widths: FloatArray, costs: FloatArray,
    in_rounds: NDArray[np.bool_], log_prior: FloatArray,
) -> Programs:  # fmt: skip
    k, m, serial = np.array(levels)[None, :], caps[:, None], serials[:, None]
    parallel = np.where(in_rounds[:, None], np.ceil(k / m) / k, 1.0 / np.minimum(k, m))
    times = serial + (1 - serial) * parallel + costs[:, None] * (k - 1) / levels[-1]
    return Programs(levels, caps, serials, widths, costs, in_rounds, np.log(times), answers(times), log_prior)


def _edges(top: int) -> FloatArray:
    """Return serial shares from none to all, with even steps in the log of the time on all CPUs."""
    n = max(2, int(np.ceil(np.log(top) / STEP)))
    shares = (np.exp(np.linspace(-np.log(top), 0.0, n + 1)) - 1 / top) / (1 - 1 / max(top, 2))
    return np.clip(shares, 0.0, 1.0)


# Busy for less, or for more than the rest, is not at all and throughout: the edges of a slice, a tick of the kernel.
EDGE = 0.01


@dataclass(frozen=True, slots=True)
class Concurrency:
    """Concurrency of one run, from its timeline.

    Attributes:
        shares: share of the time with 0, 1, 2, ... tasks on a CPU; sums to 1. Empty without switch records.
        exact: share of the time for which `shares` is no estimate, 0 to 1.
    """

    shares: tuple[float, ...] = ()
    exact: float = 0.0


def concurrency(wall_ns: int | None, bin_ns: int = 0, busy_ns: Sequence[Sequence[int]] = ()) -> Concurrency:
    """Return tasks at once, from fields of a record's `run` and `timeline`.

    `busy_ns` has a row for each CPU that was used, a number for each bin. None of them (switches were too many to
    record each) gives no shares.

    >>> found = concurrency(4, 1, [[1, 1, 1, 1], [1, 1, 0, 0]])
    >>> found.shares, found.exact
    ((0.0, 0.5, 0.5), 1.0)
    """
    # The end of the run cuts the last bin.
    starts = bin_ns * np.arange(max(map(len, busy_ns), default=0), dtype=float)
    lengths = np.clip((wall_ns or 0) - starts, 0.0, bin_ns)
    lengths = lengths[lengths > 0]
    if not lengths.size:
        return Concurrency()
    busy = _busy(busy_ns, lengths)
    total = float(lengths.sum())
    sharp = ((busy <= EDGE) | (busy >= 1 - EDGE)).all(axis=0)
    shares = busy_distribution(busy) @ lengths / total
    return Concurrency(tuple(float(share) for share in shares), float(lengths[sharp].sum()) / total)


def _busy(rows: Sequence[Sequence[int]], lengths: FloatArray) -> FloatArray:
    """Return the share of each bin for which each CPU was busy; shape (CPUs, bins)."""
    busy = np.zeros((len(rows), lengths.size))
    for cpu, row in enumerate(rows):
        values = row[: lengths.size]
        busy[cpu, : len(values)] = values
    return np.clip(busy / lengths, 0.0, 1.0)


def busy_distribution(busy: FloatArray) -> FloatArray:
    """Return the probability of 0, 1, ... busy CPUs in each bin, if independent; shape (CPUs + 1, bins).

    >>> busy_distribution(np.array([[1.0, 0.5], [0.0, 0.5]])).tolist()
    [[0.0, 0.25], [1.0, 0.5], [0.0, 0.25]]
    """
    probabilities = np.zeros((busy.shape[0] + 1, busy.shape[1]))
    probabilities[0] = 1.0
    for row in busy:
        probabilities[1:] = probabilities[1:] * (1 - row) + probabilities[:-1] * row
        probabilities[0] *= 1 - row
    return probabilities


def levels_of(samples: SampleMap, group: Mapping[str, Level], factor: str) -> dict[int, Sample]:
    """Return the measured samples of a group by level."""
    measured = [s for s in samples.values() if s.succeeded and s.configuration.items() >= group.items()]
    return {int(sample.configuration[factor]): sample for sample in measured}


def ratio_to_first(table: Table, members: Mapping[int, Sample], level: int) -> Estimate:
    """Estimate time at a level over that at the lowest; of a rate, the other way round."""
    name, confidence, first = table.view.primary, table.view.confidence, min(members)
    ours, theirs = members[level].scores(name), members[first].scores(name)
    if level == first:
        return Estimate(1.0, 1.0, 1.0, confidence, len(ours), "1 by definition")
    if table.view.response.better == "higher":
        ours, theirs = theirs, ours
    return ratio(ours, theirs, confidence)


def cpus_used(study: Study, sample: Sample) -> Estimate | None:
    """Estimate CPU seconds over wall seconds, of the window where the study reads that; None where not measured."""
    name = next((name for name, r in study.responses.items() if r.source == "run.cpu_percent"), None)
    scores = [x / 100 for x in sample.scores(name)] if name else []
    if not scores:
        scores = [cpus for row in sample.counted if (cpus := row.cpus_used) is not None]
    return summarize(scores, study.protocol.confidence) if scores else None
