"""Surfaces from runs that are made up: the matrix, what is left out, and the words about it."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scalograph.protocol.findings import Claim, Findings
from scalograph.questions.surface.claim import surface_claim
from scalograph.questions.surface.document import Surface, Surfaces
from scalograph.questions.surface.model import pinned_time, shared_time
from scalograph.text.cell_numbers import cell_number, matrix_scale
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
title = "CPUs"
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
    """A run whose copies end evenly between 90% of the time and all of it."""
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


def cases(found: Claim) -> dict[str, dict[str, Any]]:
    return {case.case: case.values for case in found.cases}


def test_the_claim_says_what_one_more_costs_on_fewest_and_most_cpus(tmp_path: Path) -> None:
    found = claim_of(surface_of(tmp_path, shared_time))
    assert found.cases[0].case == "fair" and found.answered and found.figure == "response wall"
    assert found.cases[0].values["most"] < 0.05 and not found.cases[0].values["left"]
    adds = cases(found)["adds"]
    assert (adds["at"], adds["last_at"], adds["worker"], adds["group"]) == ("1 CPU", "2 CPUs", "copy", "")
    assert adds["first"].estimate.value == pytest.approx(0.1, rel=0.02)
    assert found.matrix and [row.label for row in found.matrix.rows] == ["1", "2"]


def dear(n: int, m: int) -> float:
    """What each worker beyond the CPUs costs is 1.4 times the expected."""
    return 1 + 1.4 * max(0, n - m) / m


def test_what_costs_more_is_never_fair(tmp_path: Path) -> None:
    first = claim_of(surface_of(tmp_path, dear)).cases[0]
    assert first.case == "unfair" and first.values["who"] == []
    assert [round(e.value, 1) for e in first.values["gain"]] == [1.4, 1.4]


def test_what_costs_more_on_some_cpus_is_named(tmp_path: Path) -> None:
    found = claim_of(surface_of(tmp_path, lambda n, m: dear(n, m) if m > 1 else shared_time(n, m)))
    first = found.cases[0]
    assert first.case == "unfair" and first.values["who"] == ["2 CPUs"] and "fair elsewhere" in cases(found)
    adds = cases(found)["adds"]
    assert adds["at"] == "2 CPUs" and "last" not in adds and found.matrix and found.matrix.rows[0].label == "2"


TWO_LOCKS = STUDY.replace("[factors.cpus]", '[factors.lock]\nlevels = ["a", "b"]\n\n[factors.cpus]')


def test_each_surface_counts(tmp_path: Path) -> None:
    """That of one lock is fair, that of the other is not: the exception leads, and is named."""
    made = [
        ({"copies": n, "lock": lock, "cpus": m}, run(n, m, 0.1 * time(n, m) * jitter))
        for jitter in (0.995, 1.0, 1.005)
        for lock, time in (("a", shared_time), ("b", dear))
        for m in (1, 2)
        for n in SIZES
    ]
    found = claim_of(findings_of(tmp_path, made, TWO_LOCKS))
    assert found.cases[0].case == "unfair" and found.cases[0].values["who"] == ["lock b"]
    assert "fair elsewhere" in cases(found) and cases(found)["adds"]["group"] == "lock b"
    assert found.matrix and [row.label for row in found.matrix.rows][:2] == ["lock b, 1 CPU", "lock b, 2 CPUs"]


def test_workers_that_disturb_each_other_before_the_cpus_end_are_the_exception(tmp_path: Path) -> None:
    found = claim_of(surface_of(tmp_path, lambda n, m: shared_time(n, m) * (1 + 0.5 * (n > 1 and m > 1))))
    ridge = cases(found)["ridge"]
    assert ridge["workers"] == "copies" and [round(e.value, 1) for e in ridge["gain"]] == [1.5]
    assert ridge["who"] == ["2 CPUs"]


@pytest.mark.parametrize("time", [shared_time, dear, pinned_time])
def test_every_number_of_the_claim_is_a_cell_of_a_row_that_shows(
    time: Callable[[int, int], float], tmp_path: Path
) -> None:
    found = claim_of(surface_of(tmp_path, time))
    assert found.matrix
    scale = matrix_scale(found.matrix)
    cells = {(c.text or cell_number(c.estimate, scale)).split()[0] for row in found.matrix.rows for c in row.cells}
    numbers = re.findall(r"([\d.]+)(?:\N{MULTIPLICATION SIGN}| ms)", " ".join(found.sentences))
    assert numbers and {*numbers} <= cells, (found.sentences, cells)


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
    assert surface and not surface.answered and [case.case for case in surface.cases] == ["no slope"]


def test_the_tables_hold_every_configuration_and_the_slopes(tmp_path: Path) -> None:
    tables = {table.id: table for table in surface_of(tmp_path, shared_time).tables}
    assert [row[0] for row in tables["surface-0-slopes"].rows] == [1, 2]
    assert [row[:2] for row in tables["surface-0-0"].rows] == [[m, n] for m in (1, 2) for n in SIZES]
    assert {row[-2] for row in tables["surface-0-0"].rows} == {"50%", "50%, 50%"}


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
