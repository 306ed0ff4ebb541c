"""The trivial planner: the full grid in randomised blocks."""

import random
from collections.abc import Iterator, Mapping
from typing import Any

from scalograph.design.planner import Design, Run


class GridPlanner:
    """Each block holds every treatment once (baselines more often) in an order drawn anew.

    A slow drift of the machine then falls on all treatments alike, and differences within a block are paired.
    """

    def __init__(self, design: Design) -> None:
        self._left = {run.run: run for run in _order(design)}

    def ask(self) -> Run | None:
        """The first run in order that was not told yet."""
        return next(iter(self._left.values()), None)

    def tell(self, run: Run, record: Mapping[str, Any], verdict: str) -> None:
        """Cross a run off."""
        self._left.pop(run.run, None)

    @property
    def n_left(self) -> int:
        """Runs that are still to come."""
        return len(self._left)


def _order(design: Design) -> list[Run]:
    protocol = design.study.protocol
    warmups = (_warmup(design, number) for number in range(protocol.warmup_runs))
    return [*warmups, *_blocks(design)]


def _warmup(design: Design, number: int) -> Run:
    return Run(f"w{number:04d}", -1, design.treatments[number % len(design.treatments)], number, warmup=True)


def _blocks(design: Design) -> Iterator[Run]:
    generator = random.Random(design.study.seed)
    replicates = [0] * len(design.treatments)
    for block in range(design.study.protocol.runs):
        members = [i for i in range(len(design.treatments)) for _ in range(design.runs_per_block(i))]
        if design.study.protocol.order == "blocks":
            generator.shuffle(members)
        for position, index in enumerate(members):
            yield Run(f"b{block:04d}-{position:04d}", block, design.treatments[index], replicates[index])
            replicates[index] += 1
