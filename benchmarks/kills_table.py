"""What a campaign prints: kinds of harm by planners with their counts, then each class of fault, which must be 0."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from command_common import Figure
from kills_checks import FAULTS
from kills_harms import DISKS, IGNORED, ROWS

HARMLESS = "no harm"
NO_KILLS = ("journal cut", *(f"disk full: {where}" for where in DISKS))
ALL_ROWS = (*ROWS, IGNORED, *NO_KILLS)
Outcome = Mapping[str, Any]


def n_kills(outcomes: Iterable[Outcome]) -> int:
    """Kills that came in time; neither full disks nor cut journals."""
    return sum(hit for outcome in outcomes for row, hit in outcome["done"] if row not in NO_KILLS)


def table(outcomes: Sequence[Outcome], planners: Sequence[str]) -> list[str]:
    """Lines: rows are kinds of harm, columns planners; a cell is how often, and behind ! the faults."""
    n = Counter((row, outcome["planner"]) for outcome in outcomes for row, hit in outcome["done"] if hit)
    wrong = Counter((fault[0], outcome["planner"]) for outcome in outcomes for fault in outcome["faults"])
    heads = ["", *planners, "all"]
    rows = [_row(row, planners, n, wrong) for row in (*ALL_ROWS, HARMLESS) if any(key[0] == row for key in n | wrong)]
    total = ["all", *(str(sum(n[row, name] for row in ALL_ROWS)) for name in planners), str(n.total())]
    widths = [max(map(len, column)) for column in zip(heads, *rows, total, strict=True)]
    return [_line(cells, widths) for cells in (heads, *rows, total)]


def _row(row: str, planners: Sequence[str], n: Counter[tuple[str, str]], wrong: Counter[tuple[str, str]]) -> list[str]:
    cells = [f"{n[row, name]}" + (f"!{wrong[row, name]}" if wrong[row, name] else "") for name in planners]
    return [row, *cells, str(sum(n[row, name] for name in planners))]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    return "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)])


def figures(outcomes: Sequence[Outcome]) -> list[Figure]:
    """Each class of fault with the limit 0; before them how much was done."""
    found = Counter(fault[1] for outcome in outcomes for fault in outcome["faults"])
    late = sum(not hit for outcome in outcomes for _, hit in outcome["done"])
    done = Counter(row for outcome in outcomes for row, hit in outcome["done"] if hit)
    note = f"{len(outcomes)} studies, {sum(outcome['n_runs'] for outcome in outcomes)} runs, {late} came too late"
    counts = [Figure("kills", n_kills(outcomes), "", note=note)]
    counts += [Figure(row, done[row], "") for row in NO_KILLS]
    return counts + [Figure(name, found[name], "", 0) for name in FAULTS]
