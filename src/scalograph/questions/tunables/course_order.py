"""The runs of a stage in their order: a block of the array, a replicate of one at a time, a block that confirms."""

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scalograph.questions.tunables.model_array import Settings, block_rows
from scalograph.questions.tunables.model_space import Tuned

# Rows of an array before each of which a run of the default is made.
EVERY = 9
# Runs of the default of a plan one at a time, as published.
N_DEFAULT = 10


class Ordered(NamedTuple):
    """A run that is to come: its settings, its block, and whether it is one of the fresh runs that confirm."""

    settings: Settings
    block: int
    confirms: bool = False


def array_block(space: Tuned, number: int, seed: int, left_out: set[tuple[int, int]]) -> list[Ordered]:
    """Return a block of the array, a run of the default before every nine of its own.

    Args:
        space: what is varied.
        number: of the block, from 0 on.
        seed: of the study.
        left_out: settings that fail: the default stands for them.
    """
    runs: list[Ordered] = []
    for k, row in enumerate(block_rows(space.n_levels, number, seed)):
        if k % EVERY == 0:
            runs.append(Ordered(space.default, number))
        kept = tuple(0 if (j, level) in left_out else level for j, level in enumerate(row))
        runs.append(Ordered(kept, number))
    return runs


def replicate(space: Tuned, number: int, n_runs: int, seed: int) -> list[Ordered]:
    """Return one replicate: every setting alone, and its share of the ten runs of the default, in a drawn order.

    Args:
        space: what is varied.
        number: of the replicate, from 0 on.
        n_runs: replicates.
        seed: of the study.
    """
    n_default = max(1, (number + 1) * N_DEFAULT // n_runs - number * N_DEFAULT // n_runs)
    runs = [Ordered(space.alone(*setting), number) for setting in space.settings]
    runs += [Ordered(space.default, number)] * n_default
    random.Random(f"{seed} {number}").shuffle(runs)
    return runs


def confirming(space: Tuned, treatments: Sequence[Settings], n_blocks: int, seed: int) -> Iterator[Ordered]:
    """Yield the fresh runs: in each block every treatment and the default once, in a drawn order."""
    draw = random.Random(f"{seed} confirm")
    for block in range(n_blocks):
        runs = [Ordered(settings, block, confirms=True) for settings in (space.default, *treatments)]
        draw.shuffle(runs)
        yield from runs
