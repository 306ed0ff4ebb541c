"""Results over time: the level of each, and the result that begins a new one."""

from dataclasses import replace

import numpy as np
import pytest

from scalograph.errors import StudyError
from scalograph.exchange.compare.measured_source import FailedConfiguration, MeasuredSource
from scalograph.exchange.compare.series import DatedSource, series, series_claim, series_tables, series_trust
from scalograph.protocol.compared_results import ResultSeries
from scalograph.protocol.findings import Trust
from tests.kit.findings import cases_of
from tests.unit.exchange.compare.made import source

CURVE = {1: 8.0, 2: 4.2, 4: 2.3}


def results(n: int, step_at: int | None = None) -> list[DatedSource]:
    rng, every = np.random.default_rng(33), []
    for i in range(n):
        ratio, kernel = (1.08, "6.18") if step_at is not None and i >= step_at else (1.0, "6.12")
        level = ratio * float(np.exp(0.005 * rng.standard_normal()))
        times = {n: t * level for n, t in CURVE.items()}
        every.append(dated(i, source(f"r{i:02}", times, machine={"kernel": kernel})))
    return every


def dated(i: int, result: MeasuredSource) -> DatedSource:
    return DatedSource(f"2026-01-{i + 1:02}T00:00:00Z", result)


def test_a_new_level_begins_with_a_result_and_else_there_is_one() -> None:
    found = series(results(12, 7)[::-1])
    (step,) = found.steps
    assert step.name == "r07" and step.ratio.value == pytest.approx(1.08, rel=0.01)
    assert [(d.what, d.reference, d.other) for d in step.differences] == [("kernel", "6.12", "6.18")]
    assert [one.stretch for one in found.results] == [1] * 7 + [2] * 5
    claim = series_claim(found)
    case, changes = claim.cases
    assert (case.case, case.values["name"], case.values["word"]) == ("step", "r07", "slower")
    assert changes.values["changes"] == ["kernel 6.12 \N{RIGHTWARDS ARROW} 6.18"] and claim.matrix
    assert case.values["gain"] in [row.cells[2].estimate for row in claim.matrix.rows]
    assert [table.id for table in series_tables(found)] == ["results", "steps"]


@pytest.mark.parametrize(
    ("n", "step_at", "margin", "case"),
    [(12, None, None, "equivalent"), (12, None, 0.05, "equivalent"), (12, None, 0.005, "open"), (4, None, None, "few"),
     (12, 7, 0.15, "small step")],
)  # fmt: skip
def test_results_with_no_change_beyond_the_margin(n: int, step_at: int | None, margin: float | None, case: str) -> None:
    claim = series_claim(series(results(n, step_at), margin=margin))
    assert [*cases_of(claim)] == [case, "changes"][: 1 if step_at is None else 2]
    assert claim.answered == (case not in ("open", "few"))
    assert case != "small step" or cases_of(claim)[case]["margin"] == 0.15
    # Enough results, but nothing bounds how far one of them is from the first.
    single = dated(6, source("single", CURVE, (1.0,)))
    assert [*cases_of(series_claim(series([*results(6), single])))] == ["no intervals"]


def test_values_that_do_not_vary_are_bounded_by_their_resolution() -> None:
    def history(*times: float, scores: tuple[float, ...] = (1.0,) * 6) -> ResultSeries:
        return series([dated(i, source(f"r{i:02}", {1: time}, scores)) for i, time in enumerate(times)])

    assert [*cases_of(series_claim(history(*[10.0] * 12)))] == ["one value"]
    # One step of the clock is no change; twenty are.
    one = history(*[10.0] * 7, *[11.0] * 5)
    assert one.steps == [] and [*cases_of(series_claim(one))] == ["open"]
    many = history(*[10.0] * 7, *[30.0, 31.0, 30.0, 31.0, 30.0])
    assert [step.name for step in many.steps] == ["r07"] and many.steps[0].ratio.low < 2.9
    assert series_claim(many).answered
    # A counter has no clock.
    counts = [dated(i, source(f"r{i:02}", {1: 10.0}, (1.0,) * 6, response={"unit": ""})) for i in range(12)]
    assert [*cases_of(series_claim(series(counts)))] == ["equivalent"]


def test_what_says_or_decides_nothing_is_left_out() -> None:
    every = results(8)
    every[2] = dated(2, source("busy", CURVE, refused="9 of 9 runs were disturbed"))
    every[3] = dated(3, source("fewer", {1: 8.0}))
    found = series(every, ["torn: no journal"])
    assert len(found.results) == 6
    assert found.left_out == ["torn: no journal", "busy: 9 of 9 runs were disturbed", "fewer: other configurations"]
    with pytest.raises(StudyError, match="no result that can be compared"):
        series([], ["torn: no journal"])
    every = results(9)
    every[2] = dated(2, source("fallen", {**CURVE, 1: 80.0}, doubt="includes disturbed runs"))
    every[4] = dated(4, source("nothing", CURVE, (0.0, 0.0)))
    found = series(every)
    assert len(found.results) == 7 and not found.steps
    assert found.left_out == [
        "fallen: 1 of 3 configurations includes disturbed runs",
        "nothing: a score of 0 or less, or beyond 1e130",
    ]


def test_care_that_a_study_asks_for_is_passed_on() -> None:
    care = Trust(level="caution", sentence="The machine drifted.")
    found = series([*results(7), dated(7, source("r07", CURVE, trust=care))])
    trust, matrix = series_trust(found), series_claim(found).matrix
    assert trust and trust.level == "caution" and trust.points == ["Of r07: The machine drifted."]
    assert matrix and [row.cells[0].doubt for row in matrix.rows if row.cells[0].doubt] == ["The machine drifted."]
    assert series_trust(series(results(8))) is None


def newest_without_one(*failed: FailedConfiguration) -> ResultSeries:
    """Eight results, of which the newest lacks four threads."""
    *every, (_, last) = results(8)
    return series([*every, dated(7, replace(last, configurations=last.configurations[:2], failed=failed))])


def test_a_newest_result_that_failed_or_lacks_a_configuration_is_named() -> None:
    found = newest_without_one(FailedConfiguration({"threads": 4}, (5, 6)))
    assert len(found.results) == 7 and found.left_out == ["r07: runs failed with threads=4 (5 of 6)"]
    claim = series_claim(found)
    assert claim.cases[0].values["text"] == "the newest result is excluded: r07: runs failed with threads=4 (5 of 6)"
    assert not claim.answered
    found = newest_without_one()
    claim = series_claim(found)
    assert len(found.results) == 8 and not claim.answered
    assert claim.cases[0].values["text"] == "the newest result, r07, lacks threads=4"
