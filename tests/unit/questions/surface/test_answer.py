"""Surfaces from runs that are made up: the matrix, what is left out, and the words about it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scalograph.protocol.findings import Claim, Findings
from scalograph.questions.surface.claim import surface_claim
from scalograph.questions.surface.document import Surface, Surfaces
from scalograph.questions.surface.model import pinned_time, shared_time
from tests.kit.findings import findings_of, table_of
from tests.kit.records import recorded

STUDY = """\
version = 1
name = "copies"
title = "How long?"
work = "per-worker"
seed = 0

[workload]
command = ["./prog"]
copies = "{copies}"

[factors.copies]
levels = [1, 2, 3, 4, 6, 8]

[factors.cpus]
control = "cpus"
levels = [1, 2]

[protocol]
runs = 3
timeout = "10s"

[baseline]
copies = 1
"""
SIZES = (1, 2, 3, 4, 6, 8)


def run(copies: int, cpus: int, wall_s: float, last_s: float | None = None) -> dict[str, Any]:
    """A run whose copies end evenly between 90 % of the time and all of it."""
    found = recorded(wall_s, wall_s * min(copies, cpus), cpus=tuple(range(cpus)), per_cpu_s=(wall_s * 0.5,) * cpus)
    (one,) = found["copies"]
    ends = [wall_s * (0.9 + 0.1 * (i + 1) / copies) for i in range(copies)]
    found["copies"] = [{**one, "copy": i, "pid": i + 1, "end_ns": round(end * 1e9)} for i, end in enumerate(ends)]
    return found


def surfaces_of(found: Findings) -> list[Surface]:
    part = found.document("surface", Surfaces)
    return part.surfaces if part else []


def surface_of(folder: Path, time: Callable[[int, int], float], text: str = STUDY) -> Findings:
    made = [
        ({"copies": n, "cpus": m}, run(n, m, 0.1 * time(n, m) * jitter))
        for jitter in (0.995, 1.0, 1.005)
        for m in (1, 2)
        for n in SIZES
    ]
    return findings_of(folder, made, text)


def test_a_surface_has_a_row_for_each_count_of_cpus_and_what_is_expected(tmp_path: Path) -> None:
    (found,) = surfaces_of(surface_of(tmp_path, shared_time))
    assert (found.x, found.y, found.x_levels, found.y_levels) == ("copies", "cpus", list(SIZES), [1, 2])
    for row, cpus in zip(found.cells, found.y_levels, strict=True):
        for cell, n in zip(row, found.x_levels, strict=True):
            assert cell is not None
            assert cell.expected == pytest.approx(0.1 * shared_time(n, cpus), rel=0.01)
            assert cell.flag is None
            assert cell.busy == pytest.approx([0.5] * cpus)
            assert (cell.deviation is None) == (cell.fairness is None) == (n == 1)
    assert [slope.value for slope in found.slopes] == pytest.approx([0.1, 0.05], rel=0.02)


def test_workers_that_stay_on_one_cpu_are_told_apart(tmp_path: Path) -> None:
    (found,) = surfaces_of(surface_of(tmp_path, pinned_time))
    flags = {n: cell.flag.text if cell.flag else "" for n, cell in zip(SIZES, found.cells[1], strict=True) if cell}
    assert flags[3] == "as if each worker stayed on one CPU"
    assert flags[2] == flags[4] == ""


def claim_of(found: Findings) -> Claim:
    assert found.claim is not None
    return found.claim


def test_the_claim_says_what_one_more_costs_on_fewest_and_most_cpus(tmp_path: Path) -> None:
    found = claim_of(surface_of(tmp_path, shared_time))
    (text,) = found.sentences
    assert text.startswith("CPUs are shared as theory says, within ") and found.figure == "response wall"
    assert "each copy beyond the CPUs adds 100" in text and "ms on 1 CPU (100" in text
    assert found.matrix and [row.label for row in found.matrix.rows] == ["1", "2"]


def test_what_costs_more_is_never_as_theory_says(tmp_path: Path) -> None:
    text = claim_of(surface_of(tmp_path, lambda n, m: 1 + 1.4 * max(0, n - m) / m)).sentences[0]
    assert text.startswith("Sharing CPUs costs more than theory says on 1 CPU and 2 CPUs: ")


def test_workers_that_disturb_each_other_before_the_cpus_end_are_the_exception(tmp_path: Path) -> None:
    found = claim_of(surface_of(tmp_path, lambda n, m: shared_time(n, m) * (1 + 0.5 * (n > 1 and m > 1))))
    told = "With a CPU each they are slower, too: 2 copies on 2 CPUs take 1.5"
    assert any(text.startswith(told) for text in found.sentences)


def test_of_too_few_workers_beyond_the_cpus_no_slope_is_told(tmp_path: Path) -> None:
    text = STUDY.replace("levels = [1, 2]\n", "levels = [6, 8]\n")
    made = [
        ({"copies": n, "cpus": m}, run(n, m, 0.1 * shared_time(n, m) * jitter))
        for jitter in (0.995, 1.0, 1.005)
        for m in (6, 8)
        for n in SIZES
    ]
    found = findings_of(tmp_path, made, text)
    surface = surface_claim(table_of(tmp_path, made, text), {}, surfaces_of(found))
    assert surface and not surface.answered and surface.sentences[0].startswith("Cannot be said: ")


def test_the_tables_hold_every_configuration_and_the_slopes(tmp_path: Path) -> None:
    tables = {table.id: table for table in surface_of(tmp_path, shared_time).tables}
    assert [row[0] for row in tables["surface-0-slopes"].rows] == [1, 2]
    assert [row[:2] for row in tables["surface-0-0"].rows] == [[m, n] for m in (1, 2) for n in SIZES]
    assert {row[-2] for row in tables["surface-0-0"].rows} == {"50 %", "50 %, 50 %"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('work = "per-worker"', 'work = "total"'),
        ("copies = 1", "cpus = 1"),
        ("copies = 1", "copies = 2"),
    ],
)
def test_another_question_has_no_surface(tmp_path: Path, before: str, after: str) -> None:
    head, tail = STUDY.split("[baseline]") if before.startswith("copies") else (STUDY, "")
    text = head + "[baseline]" + tail.replace(before, after) if tail else head.replace(before, after)
    assert surfaces_of(surface_of(tmp_path, shared_time, text)) == []
