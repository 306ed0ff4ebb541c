"""Faster, slower, equivalent, or inconclusive: each follows from the intervals, or from what forbids any answer."""

from dataclasses import replace
from typing import Any

import pytest

from scalograph.errors import StudyError
from scalograph.exchange.compare.compare_claim import compare_claim, differences
from scalograph.exchange.compare.measured_source import MeasuredSource, divide_scores, select_levels
from scalograph.exchange.compare.result_answer import compare_sources
from scalograph.protocol.compared_results import ResultComparison
from scalograph.protocol.findings import Trust
from tests.kit.refusals import refuses
from tests.unit.exchange.compare.made import source

CURVE = {1: 8.0, 2: 4.2, 4: 2.3, 8: 1.4}


OLD = source("old", CURVE)


def compared(old: MeasuredSource, new: MeasuredSource, margin: float | None = None) -> ResultComparison:
    return compare_sources(old, [new], margin).results[0]


def cases(old: MeasuredSource, *new: MeasuredSource, margin: float | None = None) -> dict[str, dict[str, Any]]:
    return {case.case: case.values for case in compare_claim(compare_sources(old, new, margin)).cases}


def grown(by: float, only: int | None = None) -> dict[int, float]:
    return {n: t * (by if only in (None, n) else 1.0) for n, t in CURVE.items()}


def test_a_common_factor_is_the_same_shape_at_another_level() -> None:
    new = source("new", grown(1.1))
    found = compared(OLD, new)
    assert found.answer == "slower" and found.shift and found.shift.value == pytest.approx(1.1)
    assert found.alike is not None and found.alike < 0.1
    assert cases(OLD, new)["alike"]["gain"] == found.shift


def test_one_level_is_told_by_itself() -> None:
    found = compared(OLD, source("new", grown(1.2, only=8)))
    assert [one.shown for one in found.configurations] == ["equivalent", "equivalent", "equivalent", "slower"]
    assert found.answer == "slower" and found.alike is None
    values = cases(OLD, source("new", grown(1.2, only=8)))
    assert values["different"]["who"] == "8 threads" and values["different"]["gain"] == found.configurations[3].ratio
    assert (values["beside"]["n"], values["beside"]["all"]) == (1, 4)
    assert compared(OLD, source("new", grown(0.8, only=8))).answer == "faster"
    slower_and_faster = source("new", grown(1.2, only=8) | {1: 6.0})
    assert compared(OLD, slower_and_faster).answer == "slower"
    ((name, ratios),) = cases(OLD, slower_and_faster)["beside"]["faster"]
    assert name == "1 thread" and [e.value for e in ratios] == pytest.approx([0.75])


def test_a_rate_that_falls_is_slower() -> None:
    rate = {"better": "higher", "unit": "1/s", "title": "throughput"}
    found = compared(source("old", CURVE, response=rate), source("new", grown(0.8), response=rate))
    assert found.answer == "slower" and found.shift and found.shift.value == pytest.approx(0.8)


def test_the_same_only_within_the_margin() -> None:
    new, slower = source("new", CURVE), source("new", grown(1.03))
    assert compared(OLD, new).answer == compared(OLD, new, 0.05).answer == "equivalent"
    narrow = compared(OLD, new, 0.001)
    assert (narrow.answer, narrow.case) == ("inconclusive", "open") and "the margin is 0.1%" in narrow.why
    assert cases(OLD, new, margin=0.001)["open"]["most"] == narrow.reach
    # A difference that is shown, and is within the margin, is none.
    assert (compared(OLD, slower).answer, compared(OLD, slower, 0.10).answer) == ("slower", "equivalent")


@pytest.mark.parametrize("refused", ["old", "new"])
def test_of_a_study_that_was_disturbed_nothing_is_compared(refused: str) -> None:
    why = "31 of 60 runs were disturbed"
    sides = [source(n, t, refused=why if n == refused else "") for n, t in (("old", CURVE), ("new", grown(2.0)))]
    found = compared(*sides)
    assert found.answer == "inconclusive" and why in found.why
    assert found.case == "refused" and [*cases(*sides)] == ["refused"]


def test_disturbed_configurations_decide_nothing() -> None:
    found = compared(source("old", CURVE, doubt="includes disturbed runs"), source("new", grown(3.0, only=1)))
    assert found.configurations[0].shown == "inconclusive" and found.configurations[0].doubt
    assert found.answer == "equivalent" and found.n_inconclusive == 1


@pytest.mark.parametrize("odd", [(0.0, 1.0), (1e-300, 1e300), (1e308, 1e308)])
def test_scores_without_a_ratio_decide_nothing(odd: tuple[float, ...]) -> None:
    new = source("new", CURVE)
    first, *others = new.configurations
    strange = first._replace(scores=(*odd, *first.scores[2:]))
    found = compared(OLD, replace(new, configurations=(strange, *others)))
    assert found.answer == "equivalent" and found.n_inconclusive == 1 and found.configurations[0].ratio.value is None


def test_few_runs_are_no_answer() -> None:
    assert compared(source("old", CURVE, (1.0,)), source("new", grown(2.0), (1.0,))).answer == "inconclusive"


def test_the_worst_of_several_is_the_answer() -> None:
    found = compare_sources(OLD, [source("a", grown(0.7)), source("b", CURVE), source("c", grown(1.4))])
    assert [one.answer for one in found.results] == ["faster", "equivalent", "slower"] and found.answer == "slower"
    assert [case.values["other"] for case in compare_claim(found).cases] == ["c", "a", "b"]  # the worst first


def test_every_number_of_the_sentences_is_that_of_a_row() -> None:
    for by in (grown(1.1), grown(1.2, only=8), grown(1.2, only=8) | {1: 6.0}, grown(2.5, only=4)):
        claim = compare_claim(compare_sources(OLD, [source("new", by)]))
        assert claim.matrix is not None
        shown = [cell.estimate for row in claim.matrix.rows for cell in row.cells if cell.estimate]
        values = [case.values for case in claim.cases]
        named = [one["gain"] for one in values if "gain" in one]
        named += [e for one in values for _, ratios in one.get("faster", []) for e in ratios]
        assert named and all(any(e == cell for cell in shown) for e in named)


def test_what_differs_around_the_runs_is_told() -> None:
    machine = {"kernel": "6.12.1", "n_cpus": 2, "clock_mhz": 2000.0, "jvms_used": {"25": "25.0.1"}}
    old = source("old", CURVE, machine=machine, levels={"version": "a"})
    new = source("new", CURVE, machine={**machine, "kernel": "6.18.4", "clock_mhz": 2001.0}, levels={"version": "b"})
    found = compare_sources(old, [new])
    told = [(one.what, one.reference, one.other) for one in found.results[0].differences]
    assert told == [("kernel", "6.12.1", "6.18.4"), ("version", "a", "b")]
    assert differences(found).startswith("differs: kernel 6.12.1")


@pytest.mark.parametrize("odd", [10**400, "much", None, [1], True, {"a": 10**9}])
def test_facts_that_nobody_measured_are_differences_like_any(odd: object) -> None:
    facts = ("memory_bytes", "clock_mhz", "n_cpus")
    old = source("old", CURVE, machine=dict.fromkeys(facts, 1000.5))
    new = source("new", CURVE, machine=dict.fromkeys(facts, odd))
    assert len(compared(old, new).differences) == (0 if odd is None else 3)
    refuses(StudyError, "does not tell its clock", divide_scores, new, "clock")


def test_sources_without_a_common_configuration_are_refused() -> None:
    with pytest.raises(StudyError, match="no configuration that both have"):
        compared(source("old", {1: 1.0, 2: 1.0}), source("new", {4: 1.0, 8: 1.0}))
    refuses(StudyError, "figures of one unit", compared, OLD, source("new", CURVE, response={"unit": "bytes"}))
    refuses(StudyError, "no configuration with threads=3", select_levels, [OLD], ["threads=3"])


def test_per_clock_counts_cycles() -> None:
    """A processor with a clock that is 16.5% higher took 40% less time: 1.43 times as much in a cycle."""
    old, new = source("old", CURVE, machine={"clock_mhz": 2000.0}), source("new", grown(0.6))
    found = compared(divide_scores(old, "clock"), divide_scores(new, "clock", 2330.0))
    assert found.shift and 1 / (found.shift.value or 0) == pytest.approx(1.43, abs=0.005)
    refuses(StudyError, "does not tell its clock", divide_scores, new, "clock")


def test_per_cpu_counts_cpu_seconds_and_a_share_of_a_rate() -> None:
    times = divide_scores(source("old", CURVE, (1.0, 1.0)), "cpu")
    assert times.configurations[2].scores[0] == pytest.approx(4 * 2.3)
    rates = divide_scores(source("old", CURVE, (1.0, 1.0), response={"better": "higher"}), "cpu")
    assert rates.configurations[2].scores[0] == pytest.approx(2.3 / 4)


@pytest.mark.parametrize(
    ("slower", "margin", "floor", "machine", "warned"),
    [
        (1.1, None, 0.0, {"cpu_model": "one"}, True),  # nothing is known
        (1.1, None, 0.03, {"cpu_model": "one"}, False),  # a floor is kept
        (1.1, 0.05, 0.0, {"cpu_model": "one"}, False),  # a margin was asked
        (1.0, None, 0.0, {"cpu_model": "one"}, False),  # no difference
        (1.1, None, 0.0, {}, False),  # not measured here
    ],
)
def test_a_difference_is_told_with_care_where_nobody_knows_how_much_the_machine_changes(
    slower: float, margin: float | None, floor: float, machine: dict[str, str], warned: bool
) -> None:
    old, new = (replace(source(name, grown(by)), machine=machine) for name, by in (("old", 1.0), ("new", slower)))
    doubts = compare_sources(old, [new], margin, floor=floor).results[0].doubts
    assert [text.startswith("Results of different times differ") for text in doubts] == [True] * warned


def test_doubts_of_the_studies_are_passed_on() -> None:
    new = source("new", CURVE, trust=Trust(level="caution", sentence="The machine drifted."))
    assert compared(OLD, new).doubts == ["Of new: The machine drifted."]
