"""Findings of runs that a test makes up."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import structs

from scalograph.findings import table
from scalograph.findings.table import Table
from scalograph.protocol.findings import Findings, Point
from scalograph.questions.assemble import findings

from ..study.example import VALID
from .test_table import write

JITTER = (0.99, 1.0, 1.01)
Made = Sequence[tuple[Mapping[str, Any], dict[str, Any]]]

# The valid study along threads alone, and its times by threads.
ONE_FACTOR = VALID.replace('[factors.lock]\nlevels = ["none", "cas"]\n', "")


def loaded(folder: Path, made: Made, text: str) -> Table:
    """The table of a journal whose configurations are those of its runs."""
    configurations = [dict(found) for found in {tuple(t.items()): t for t, _ in made}.values()]
    n_asked = [sum(t == wanted for t, _ in made) for wanted in configurations]
    runs = [(dict(t), found) for t, found in made]
    design = {"configurations": configurations, "runs": n_asked}
    read = table.load(write(folder / "journal.jsonl", runs, text, design=design))
    # Each configuration runs once in a block.
    read.rows[:] = [structs.replace(row, block=index // len(configurations)) for index, row in enumerate(read.rows)]
    return read


def found_in(folder: Path, made: Made, text: str) -> Findings:
    """The findings of such a journal."""
    return findings(loaded(folder, made, text), folder)


def at(found: Findings, level: object, curve: int = 0) -> Point:
    """The point of a curve at a level."""
    return next(point for point in found.curves[curve].points if point.level == level)
