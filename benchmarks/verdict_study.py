"""A small study as Scalograph conducts it: random blocks, disturbed runs made again once, then left out."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from verdict_common import Work, judged

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.ratios import ratio

RUNS = 5
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
