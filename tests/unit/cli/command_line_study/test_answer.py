"""From runs whose law is known to steps, limits and the sentence."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from scalograph.analysis.estimate import Estimate
from scalograph.cli.command_line_study.declaration import CommandStudy, PrintedFigure, study_text
from scalograph.cli.command_line_study.show import (
    alone_claim,
    ask_if_unused,
    curve_cases,
    document,
    efficiency,
    gains_per_cost,
    steps_table,
    usage_rows,
)
from scalograph.findings.row import Row
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve, StudyDoc
from scalograph.questions.asked import AskedFactors
from scalograph.questions.assemble import findings
from scalograph.questions.scaling.model_boundaries import next_gain
from scalograph.study.load import parse
from scalograph.text.answer_form import value_text

# Instrument, backend, containment, policies and nice values of every run.
SETUP = ("p", "plain", "cgroup", "", "")
OPS = PrintedFigure("ops", "ops/s", "higher", r"(\d+)")


def table(
    levels: tuple[int, ...] = (1, 2, 4, 8),
    sigma: float = 0.05,
    factor: str = "threads",
    responses: tuple[PrintedFigure, ...] = (),
    wall_s: float = 1.0,
    failing: tuple[int, ...] = (),
    cpus: int = 8,
    jitter: float = 0.01,
) -> Table:
    """Runs of a program with so large a serial share, on so many CPUs (or on as many as the level says)."""
    every = {factor: ",".join(map(str, levels))}
    study = parse(study_text(CommandStudy(("p", "{threads}"), AskedFactors(every), responses=responses)))
    rng = np.random.default_rng(3)
    configurations: list[dict[str, Any]] = [{factor: n} for n in levels]

    def row(n: int, block: int) -> Row:
        at_once = n if factor == "cpus" else min(n, cpus)
        took = wall_s * (1 + sigma * (at_once - 1)) / at_once * float(np.exp(jitter * rng.standard_normal()))
        scores = {"wall": took, "cpu": wall_s, "cpu_percent": 100 * wall_s / took, "ops": 1000 / took}
        scores = {name: score for name, score in scores.items() if name in study.responses and n not in failing}
        return row_of({factor: n}, block, scores, took, n_cpus=n if factor == "cpus" else cpus)

    rows = [row(n, block) for block in range(8) for n in levels]
    return Table(study, "hash", {}, list(configurations), [8] * len(levels), rows)


def row_of(levels: dict[str, Any], block: int, scores: dict[str, float], wall_s: float, **more: Any) -> Row:
    """Make the row of a run, which has failed where it has no scores."""
    status, verdict = ("ok", "clean") if scores else ("failed", "failed")
    name = f"b{block}-{levels}"
    ends = {"wall_s": wall_s, "setup": SETUP, **more}
    return Row(name, block, block, False, levels, status, None, verdict, (), {}, scores, **ends)


def only(given: Table) -> tuple[StudyDoc, Curve]:
    found = findings(given)
    (curve,) = found.curves
    return found.study, curve


def curve_of(given: Table) -> Curve:
    return only(given)[1]


def answer(given: Table) -> dict[str, Any]:
    """Return the values of all cases of the only curve."""
    return {key: value for case in curve_cases(*only(given), 0.8) for key, value in case.values.items() if value}


def question(given: Table) -> str:
    return ask_if_unused(*only(given))


def costs(given: Table, cost: float) -> dict[Any, Estimate]:
    return gains_per_cost(*only(given), cost)


def test_each_step_gains_what_the_law_says() -> None:
    found = findings(table())
    points = found.curves[0].points
    assert [point.level for point in points] == [1, 2, 4, 8]
    assert points[0].gain is None
    for before, now in pairwise(points):
        a, b = int(before.level), int(now.level)
        true = (b / (1 + 0.05 * (b - 1))) / (a / (1 + 0.05 * (a - 1))) - 1
        assert now.gain is not None and now.gain.contains(true)
        share = efficiency(found.study, now)
        assert share is not None and share.contains(1 / (1 + 0.05 * (b - 1)))


@pytest.mark.parametrize("responses", [(), (OPS,)])
def test_the_serial_share_is_found_again(responses: tuple[PrintedFigure, ...]) -> None:
    along = curve_of(table(responses=responses))
    assert along.law is not None and along.serial == along.law.sigma
    assert along.serial.low is not None and along.serial.low < 0.05 < float(along.serial.high or 0)


def test_two_sizes_give_it_by_karp_and_flatt_and_a_bracket_for_the_next() -> None:
    given = table((1, 2), factor="cpus")
    along = curve_of(given)
    assert along.law is None and along.serial is not None and along.serial.contains(0.05)
    assert along.next_size == 3 and along.next is not None
    amdahl = (3 / 1.1) / (2 / 1.05) - 1
    assert along.next.contains(amdahl)
    values = answer(given)
    assert values["share"].estimate.contains(0.05) and values["nth"] == "third" and values["gain"] > 0.3
    assert curve_of(table()).next is None
    assert curve_of(table((1, 2, 4))).next_size == 5
    found = next_gain(Estimate(0.0, -0.01, 0.0, 0.95, 10, ""), 1)
    assert found is not None and found.low == found.high == 1.0
    assert next_gain(Estimate(None, None, None, 0.95, 0, ""), 1) is None


@pytest.mark.parametrize("levels", [(1, 4), (1, 2, 4), (1, 2, 4, 8)])
def test_more_workers_than_cpus_are_no_serial_share(levels: tuple[int, ...]) -> None:
    along = curve_of(table(levels, sigma=0.05, cpus=2))
    assert along.serial is not None and along.serial.contains(0.05) and float(along.serial.high or 1) < 0.08
    assert along.next is None
    assert curve_of(table((4, 8), cpus=2)).serial is None


def test_cost_counts_the_cpus_that_a_step_adds() -> None:
    given = table(factor="cpus")
    cheap, dear = costs(given, 0.1), costs(given, 0.2)
    points = curve_of(given).points
    assert [*cheap] == [*dear] == [point.level for point in points[1:]]
    for point in points[1:]:
        paid, gain = cheap[point.level].value, point.gain
        assert paid and gain and gain.value
        assert paid == pytest.approx(2 * float(dear[point.level].value or 0))
        assert paid == pytest.approx(100 * gain.value / (0.1 * int(point.level) / 2))
    # Sixteen threads have no more CPUs than eight: they cost nothing more.
    assert [*costs(table((1, 8, 16)), 0.1)] == [8]


def test_the_sentence_of_a_known_program_takes_the_last_level_that_is_worth_it() -> None:
    values = answer(table(sigma=0.05))
    assert (values["used"], values["n"]) == ("5.95", 8) and values["share"].estimate.contains(0.05)
    assert answer(table(sigma=0.06))["level"] == "4 threads"
    assert answer(table(sigma=0.9))["level"] == "1 thread"
    one_of_many = answer(table((1, 2, 4, 8, 12), sigma=1.0, factor="cpus"))
    assert (one_of_many["used"], one_of_many["n"]) == ("1", 12)


def test_a_level_that_cannot_be_ruled_out_is_named() -> None:
    """At 0.0833 the efficiency of 4 threads is just the target: its interval holds it."""
    values = answer(table(sigma=0.0833, jitter=0.02))
    assert {values["level"], values["other"]} in ({"4 threads", "2"}, {"2 threads", "4"})


def test_a_command_alone_has_its_time_and_its_share_of_a_cpu() -> None:
    claim = alone_claim(findings(table((1,))), "p 1")
    assert claim is not None and claim.matrix is not None and claim.answered
    (case,), (row,) = claim.cases, claim.matrix.rows
    assert (case.case, case.values["command"], case.values["n"]) == ("time", "p 1", 8)
    assert case.values["value"].estimate == row.cells[0].estimate and row.cells[-1].text == "8"
    assert case.values["used"] == "1" and row.cells[-2].text == "1 of 8"
    idle = table((1,))
    for one in idle.rows:
        one.scores["cpu"], one.scores["cpu_percent"] = 0.02, 2.0
    claim = alone_claim(findings(idle), "p 1")
    assert claim is not None and claim.cases[0].values["cpu"] == "2%"
    assert alone_claim(findings(table()), "p 1") is None


def test_the_cpus_of_the_sentence_are_those_of_a_row() -> None:
    given = table()
    used, share = usage_rows(findings(given), ["1", "4", "8 threads"])
    assert used.cells[-1].text == answer(given)["used"] and share.label == "serial share"
    assert share.cells[-1].text.startswith(value_text(*answer(given)["share"]))


def test_levels_that_failed_leave_the_others_their_figures() -> None:
    given = table(failing=(4,))
    along = curve_of(given)
    assert [point.n_failed for point in along.points] == [0, 0, 8, 0]
    assert along.points[1].speedup and along.points[1].speedup.value
    doc = steps_table(findings(given), None)
    assert [row[-1] for row in doc.rows] == ["8", "8", "0, 8 failed", "8"]
    assert "share" in answer(given)
    given = table(failing=(1,))
    along = curve_of(given)
    assert all(point.speedup is None or point.speedup.value is None for point in along.points[1:])
    doc = steps_table(findings(given), None)
    assert doc.rows[1][1].value == pytest.approx(0.525, rel=0.05)


def test_factors_that_count_nothing_and_runs_too_short_say_nothing_of_cpus() -> None:
    study = parse(study_text(CommandStudy(("p", "{gc}"), AskedFactors({"gc": "a,b"}))))
    rows = [row_of({"gc": gc}, i, {"wall": 1.0 + i / 100}, 1.0) for gc in "ab" for i in range(3)]
    given = Table(study, "hash", {}, [{"gc": "a"}, {"gc": "b"}], [3, 3], rows)
    along = curve_of(given)
    assert [point.level for point in along.points] == ["a", "b"]
    assert along.law is None and answer(given) == {} and costs(given, 1.0) == {}
    given = table(wall_s=0.001)
    assert all(point.cpus_used is None for point in curve_of(given).points)
    assert "used" not in answer(given)


def test_a_command_that_ignores_its_level_is_told_unless_levels_are_hardly_known() -> None:
    same = table(sigma=1.0, jitter=0.002)
    assert "Does the command use {threads}?" in question(same)
    for other in (table(), table((1,)), table(factor="cpus", sigma=1.0), table(factor="copies", sigma=1.0)):
        assert question(other) == ""
    few, wide = table(sigma=1.0), table(sigma=1.0)
    few.rows[:] = few.rows[: len(few.configurations)]
    for row in wide.rows:
        row.scores["wall"] *= 1 + 0.2 * (row.block % 3 - 1)
    assert question(few) == question(wide) == ""


def test_documents_and_tables_have_the_scores_that_count_in_order_of_size() -> None:
    given = table((1, 2))
    given.rows[0] = replace(given.rows[0], verdict="disturbed")
    found = document(findings(given), ["So."], 0.1)
    steps = found["curves"][0]["steps"]
    assert [len(step["responses"]["wall"]["scores"]) for step in steps] == [7, 8]
    assert found["answer"] == ["So."] and found["speedup"]["value"] == steps[-1]["speedup"]["value"]
    doc = steps_table(findings(table((4, 1, 2))), None)
    assert [row[0] for row in doc.rows] == [1, 2, 4]
