"""Surfaces from runs that are made up: the matrix, what is left out, and the words about it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from scalograph.protocol.findings import Findings
from scalograph.questions.assemble import findings
from scalograph.questions.surface.claim import surface_claim
from scalograph.questions.surface.document import Surface, Surfaces
from scalograph.questions.surface.model import pinned_time, shared_time
from tests.kit.findings import Made, cases_of, cells_of, claim_of, findings_of, table_named, table_of
from tests.kit.records import recorded
from tests.kit.shown_numbers import check_numbers
from tests.kit.studies import a_study

SIZES = (1, 2, 3, 4, 6, 8)


def study(
    cpus: Sequence[int] = (1, 2), baseline: dict[str, int] | None = None, work: str = "per-worker", **more: Any
) -> str:
    factors = {"copies": [*SIZES], **more, "cpus": {"title": "CPUs", "control": "cpus", "levels": [*cpus]}}
    tables = {"workload": {"copies": "{copies}"}, "protocol": {"runs": 3}, "baseline": baseline or {"copies": 1}}
    return a_study(factors, command="./prog", work=work, **tables)


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


Time = Callable[[int, int], float]


def made(time: Time, cpus: Sequence[int] = (1, 2), **more: str) -> Made:
    return [
        ({"copies": n, **more, "cpus": m}, run(n, m, 0.1 * time(n, m) * jitter))
        for jitter in (0.995, 1.0, 1.005)
        for m in cpus
        for n in SIZES
    ]


def dear(n: int, m: int) -> float:
    """What each worker beyond the CPUs costs is 1.4 times the expected."""
    return 1 + 1.4 * max(0, n - m) / m


def surface_of(folder: Path, time: Time, **changes: Any) -> Findings:
    return findings_of(folder, made(time), study(**changes))


def test_cells_have_what_is_expected_and_workers_that_stay_on_one_cpu_are_told(tmp_path: Path) -> None:
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
    (found,) = surfaces_of(surface_of(tmp_path, pinned_time))
    flags = {n: cell.flag.text if cell.flag else "" for n, cell in zip(SIZES, found.cells[1], strict=True) if cell}
    assert flags[3] == "as if each worker stayed on one CPU"
    assert flags[2] == flags[4] == ""


def test_the_claim_says_what_one_more_costs_on_fewest_and_most_cpus(tmp_path: Path) -> None:
    found = surface_of(tmp_path, shared_time)
    claim, first, adds = claim_of(found), cases_of(found)["fair"], cases_of(found)["adds"]
    assert claim.cases[0].case == "fair" and claim.answered and claim.figure == "response wall"
    assert first["most"] < 0.05 and not first["left"]
    assert (adds["at"], adds["last_at"], adds["worker"], adds["group"]) == ("1 CPU", "2 CPUs", "copy", "")
    assert adds["first"].estimate.value == pytest.approx(0.1, rel=0.02) and [*cells_of(found)] == ["1", "2"]
    assert [row[0] for row in table_named(found, "surface-0-slopes").rows] == [1, 2]
    rows = table_named(found, "surface-0-0").rows
    assert [row[:2] for row in rows] == [[m, n] for m in (1, 2) for n in SIZES]
    assert {row[-2] for row in rows} == {"50%", "50%, 50%"}


def test_what_costs_more_is_never_fair_and_named_where_it_does(tmp_path: Path) -> None:
    first = claim_of(surface_of(tmp_path, dear)).cases[0]
    assert first.case == "unfair" and first.values["who"] == []
    assert [round(e.value, 1) for e in first.values["gain"]] == [1.4, 1.4]
    found = claim_of(surface_of(tmp_path, lambda n, m: dear(n, m) if m > 1 else shared_time(n, m)))
    cases = cases_of(found)
    assert found.cases[0].case == "unfair" and cases["unfair"]["who"] == ["2 CPUs"] and "fair elsewhere" in cases
    assert cases["adds"]["at"] == "2 CPUs" and "last" not in cases["adds"] and next(iter(cells_of(found))) == "2"


def test_each_surface_counts_and_workers_that_disturb_each_other_are_the_exception(tmp_path: Path) -> None:
    """That of one lock is fair, that of the other is not: the exception leads, and is named."""
    both = [*made(shared_time, lock="a"), *made(dear, lock="b")]
    found = claim_of(findings_of(tmp_path, both, study(lock=["a", "b"])))
    cases = cases_of(found)
    assert found.cases[0].case == "unfair" and cases["unfair"]["who"] == ["lock b"]
    assert "fair elsewhere" in cases and cases["adds"]["group"] == "lock b"
    assert [*cells_of(found)][:2] == ["lock b, 1 CPU", "lock b, 2 CPUs"]
    ridge = cases_of(surface_of(tmp_path, lambda n, m: shared_time(n, m) * (1 + 0.5 * (n > 1 and m > 1))))["ridge"]
    assert (ridge["workers"], ridge["who"]) == ("copies", ["2 CPUs"])
    assert [round(e.value, 1) for e in ridge["gain"]] == [1.5]


@pytest.mark.parametrize("time", [shared_time, dear, pinned_time])
def test_every_number_of_the_claim_is_a_cell_of_a_row_that_shows(time: Time, tmp_path: Path) -> None:
    check_numbers(claim_of(surface_of(tmp_path, time)))


def test_of_too_few_workers_beyond_the_cpus_no_slope_is_told(tmp_path: Path) -> None:
    read = table_of(tmp_path, made(shared_time, (6, 8)), study((6, 8)))
    surface = surface_claim(read, {}, surfaces_of(findings(read)))
    assert surface and not surface.answered and [*cases_of(surface)] == ["no slope"]


@pytest.mark.parametrize("changes", [{"work": "total"}, {"baseline": {"cpus": 1}}, {"baseline": {"copies": 2}}])
def test_another_question_has_no_surface(tmp_path: Path, changes: dict[str, Any]) -> None:
    assert surfaces_of(surface_of(tmp_path, shared_time, **changes)) == []
