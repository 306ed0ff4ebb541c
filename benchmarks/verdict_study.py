"""A small study as Scalograph conducts it: random blocks, disturbed runs made again once, then left out.

The speedup that it should find comes from quiet runs, of which only those count that a witness saw undisturbed.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from probe_common import Figure
from verdict_common import Work, judged, pace, record, typical
from verdict_witness import witnessed

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.ratios import ratio
from scalograph.machine.ceiling.compare_ceiling import ratio as ratio_of_estimates

RUNS = 5
TRUTHS = 30
# Where the host takes a tick from most runs, one a round would leave too few.
TRUTHS_A_ROUND = 3
# Threads, seconds, and 1 where the run was flagged.
Made = tuple[int, float, float]


@dataclass(frozen=True, slots=True)
class Small:
    """What a small study says.

    Attributes:
        speedup: from the runs that were not flagged; None where fewer than two of a configuration are left.
        full: whether each configuration has as many of these as were asked for.
        unjudged: the speedup of the same runs, made once each, as if none had been flagged.
    """

    speedup: Estimate | None
    full: bool
    unjudged: Estimate


def small_study(work: Work, seconds: float, draw: random.Random) -> Small:
    """Five blocks of a run at one thread and a run at two, total work the same."""
    first: list[Made] = []
    again: list[Made] = []
    for _ in range(RUNS):
        block = [_made(work, seconds, n) for n in draw.sample((1, 2), 2)]
        disturbed = [n for n, _, flag in block if flag == 1.0]
        # More than half of a block disturbed: the machine is busy, and a second time would be no better.
        again += [_made(work, seconds, n) for n in disturbed] if len(disturbed) <= len(block) / 2 else []
        first += block
    return concluded(first, again)


def _made(work: Work, seconds: float, threads: int) -> Made:
    return (threads, *judged(work.argv(seconds, threads)))


def concluded(first: Sequence[Made], again: Sequence[Made]) -> Small:
    """What follows from the runs of the plan and those made again."""
    clean = {n: [wall for threads, wall, flag in [*first, *again] if threads == n and flag < 1] for n in (1, 2)}
    every = {n: [wall for threads, wall, _ in first if threads == n] for n in (1, 2)}
    n_least = min(map(len, clean.values()))
    return Small(ratio(clean[1], clean[2]) if n_least >= 2 else None, n_least >= RUNS, ratio(every[1], every[2]))


def quiet_paces(folder: Path, work: Work, seconds: float, *kind: str) -> dict[str, list[float]]:
    """Return the pace of quiet runs at one and two threads, of those that the witness saw undisturbed."""
    found: dict[str, list[float]] = {"truth 1": [], "truth 2": []}
    for threads in (1, 2) * TRUTHS_A_ROUND:
        argv = work.argv(seconds, threads, *kind)
        measured, seen = witnessed(folder, partial(record, argv))
        found[f"truth {threads}"] += [pace((measured.run.wall_ns or 0) / 1e9, argv)] if seen.undisturbed else []
    return found


def truth(found: Mapping[str, list[float]]) -> tuple[Estimate, Figure]:
    """Return the true speedup, and its row; `n` is of the number of threads that has fewer undisturbed runs."""
    one, two = (found.get(f"truth {threads}", []) for threads in (1, 2))
    true, n = ratio_of_estimates(typical(one), typical(two)), min(len(one), len(two))
    enough = "" if n >= TRUTHS else f": fewer than {TRUTHS}, so that nothing below is to be believed"
    ends = "" if true.low is None else f" [{true.low:.3f}, {true.high:.3f}]"
    return true, Figure("true speedup", true.value, "x", None, f"of undisturbed runs{ends}{enough}", n)
