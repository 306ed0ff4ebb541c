"""Series of many results: lanes, levels, coefficients, and changes for the worse with one error rate over all."""

import xml.etree.ElementTree as ET
from collections.abc import Sequence

import numpy as np
import pytest
from msgspec.structs import replace

from scalograph.analysis.change_points import recent_rises
from scalograph.exchange.compare.series_watch import watch, watch_claim, watch_tables, watch_trust
from scalograph.exchange.junit import watch_junit
from scalograph.protocol.result_summary import ResultSummary, start_seconds
from scalograph.protocol.watched_series import SeriesNote
from tests.kit.findings import cases_of

NOISE = np.random.default_rng(5).normal(0, 0.01, 400)
SINCE = start_seconds("2026-02-01T00:00:00Z")


def summaries(
    logs: Sequence[float], study: str = "first", lane: str = "2 CPUs, A", **more: object
) -> list[ResultSummary]:
    """A result each day from 1 January on: logs of two configurations."""
    bare = ResultSummary(folder="", study=study, title="Made", lane=lane, response="wall", response_title="wall time",
                         unit="s", names=("n=1", "n=2"))  # fmt: skip
    days = [f"2026-{1 + i // 31:02}-{1 + i % 31:02}" for i in range(len(logs))]
    return [
        replace(bare, folder=f"{study}/{lane}/{day}", started=f"{day}T00:00:00Z", logs=(x, x - 1), **more)
        for day, x in zip(days, map(float, logs), strict=True)
    ]


def steps(at: int, size: float, n: int = 40, seed: int = 0) -> list[float]:
    return [float(x + size * (i >= at)) for i, x in enumerate(NOISE[seed * 40 : seed * 40 + n])]


@pytest.mark.parametrize(
    ("at", "size", "better", "alarms"),
    [(34, 0.1, "lower", 1), (34, -0.1, "lower", 0), (34, -0.1, "higher", 1), (34, 0.1, "higher", 0),
     (12, 0.1, "lower", 0), (40, 0.1, "lower", 0)],
)  # fmt: skip
def test_only_a_recent_change_for_the_worse_is_an_alarm(at: int, size: float, better: str, alarms: int) -> None:
    watched = watch(summaries(steps(at, size), better=better), SINCE)
    assert len(watched.alarms) == alarms
    (series,) = watched.series
    assert [change.at for change in series.changes] == ([at] if at < 40 else [])
    assert [change.is_recent for change in series.changes] == ([at > 31] if at < 40 else [])
    if at < 40:
        assert series.changes[0].ratio and series.changes[0].ratio.value == pytest.approx(np.exp(size), rel=0.02)
    assert watch_claim(watched).answered
    assert next(iter(cases_of(watch_claim(watched)))) == ("worse" if alarms else "steady")


def test_a_change_within_the_margin_is_shown_and_alarms_nobody() -> None:
    every = summaries(steps(33, 0.04))
    assert len(watch(every, SINCE).alarms) == 1
    watched = watch(every, SINCE, margin=0.1)
    assert not watched.alarms and watched.series[0].changes[0].is_small
    assert [table.id for table in watch_tables(watched)] == ["changes", "series"]


@pytest.mark.parametrize(
    ("second", "note", "alarms"),
    [(0.0, {"date": "2026-02-02"}, []), (0.0, {"date": "2026-02-03"}, []), (0.1, {"date": "2026-02-02"}, [37]),
     (0.0, {"date": "2026-01-12"}, [32]), (0.0, {"date": "2026-02-02", "study": "other"}, [32])],
)  # fmt: skip
def test_a_new_change_alarms_beside_an_acknowledged_one(second: float, note: dict[str, str], alarms: list[int]) -> None:
    logs = [x + second * (i >= 37) for i, x in enumerate(steps(32, 0.1))]
    watched = watch(summaries(logs), SINCE, notes=[SeriesNote(text="known", acknowledged=True, **note)])
    assert [change.at for _, change in watched.alarms] == alarms
    assert ("acknowledged" in cases_of(watch_claim(watched))) == (not alarms)
    assert [c.at for c in watched.series[0].changes] == sorted({32, *alarms})


def test_a_note_where_nothing_changed_is_no_change() -> None:
    (series,) = watch(summaries(steps(40, 0)), SINCE, notes=[
        SeriesNote(text="a", acknowledged=True, date="2026-02-03")
    ]).series  # fmt: skip
    assert series.is_tested and series.changes == []


def test_lanes_are_series_of_their_own_and_the_reader_is_informed() -> None:
    slower = [x + 0.5 for x in steps(40, 0, seed=1)]
    watched = watch([*summaries(steps(40, 0)), *summaries(slower, lane="2 CPUs, B")], SINCE)
    assert [series.lane for series in watched.series] == ["2 CPUs, A", "2 CPUs, B"] and not watched.alarms
    trust = watch_trust(watched)
    assert trust and "first ran on 2 CPUs, A; 2 CPUs, B" in trust.points[0]


def test_coefficients_are_series_and_those_without_direction_are_not_tested() -> None:
    every = [
        replace(summary, coefficients={"sigma": 0.02 + 0.001 * x + 0.05 * (i >= 34), "best level": 4.0})
        for i, (summary, x) in enumerate(zip(summaries(steps(40, 0)), NOISE[100:], strict=False))
    ]
    watched = watch(every, SINCE)
    assert [(s.figure, s.is_tested) for s in watched.series] == [
        ("wall time", True), ("sigma", True), ("best level", False),
    ]  # fmt: skip
    ((series, change),) = watched.alarms
    assert series.figure == "sigma" and change.at == 34 and change.after == pytest.approx(0.07, abs=0.001)


def test_what_decides_nothing_is_excluded_with_its_reason() -> None:
    every = summaries(steps(34, 0.1))
    every[35] = replace(every[35], excluded="9 of 9 runs were disturbed", logs=(9.0, 9.0))
    every[20] = replace(every[20], names=("n=1",), logs=(0.0,))
    every[21] = replace(every[21], response="other")
    every.append(ResultSummary(folder="torn", unread="no journal"))
    watched = watch(every, SINCE, left_out=["a.json: another format"])
    ((series, change),) = watched.alarms
    assert change.at == 34 and [p.excluded for p in series.points if p.excluded] == [
        "other configurations", "another response", "9 of 9 runs were disturbed",
    ]  # fmt: skip
    assert series.points[35].value == pytest.approx(np.exp(9))
    assert watched.left_out[:2] == ["a.json: another format", "torn: no journal"] and "3 of 40" in watched.left_out[2]
    trust = watch_trust(watched)
    assert trust and "3 of 40 results" in trust.sentence


def test_what_differs_from_the_result_before_a_change_is_named() -> None:
    every = summaries(steps(34, 0.1))
    every = [replace(s, facts={"kernel": "6.12" if i < 34 else "6.18"}, commit=f"{i:07}a") for i, s in enumerate(every)]
    watched = watch(every, SINCE)
    case = cases_of(watch_claim(watched))
    assert case["changes"]["changes"] == ["kernel 6.12 \N{RIGHTWARDS ARROW} 6.18"]
    assert case["clearest"]["name"] == "0000034a"


def test_too_few_results_are_no_answer() -> None:
    claim = watch_claim(watch(summaries([0.0, 0.1, 0.2]), SINCE))
    assert [*cases_of(claim)] == ["few"] and not claim.answered


def test_one_error_rate_holds_over_all_series() -> None:
    rng = np.random.default_rng(2)
    n_false = 0
    for night in range(20):
        every = rng.normal(0, 1, (40, 30))
        n_false += any(c.place >= 20 for series in recent_rises([*every], [20] * 40, seed=night) for c in series)
    assert n_false <= 4  # 5% of 20 is 1; more than 4 happen in 0.3%
    every[:30, 26:] += 6
    rises = recent_rises([*every], [20] * 40)
    assert sum(any(change.place == 26 for change in series) for series in rises) == 30


def test_rare_values_among_equal_ones_are_no_rise() -> None:
    rare = [4.0, 4.0, 5.0, *([4.0] * 30), 5.0, 5.0]
    assert recent_rises([rare, *(NOISE[40 * i : 40 * i + 40] for i in range(2, 9))], [25] * 8) == [[]] * 8


def test_series_of_one_kind_moderate_the_variance_of_each() -> None:
    every = [NOISE[40 * i : 40 * i + 40] for i in range(8)]
    doubtful = [*every[0][:35], *(x + 0.022 for x in every[0][35:])]
    alone = recent_rises([doubtful, *every[1:]], [25] * 8, kinds=[f"{i}" for i in range(8)])
    shared = recent_rises([doubtful, *every[1:]], [25] * 8)
    assert shared[0][0].place == alone[0][0].place == 35 and shared[0][0].p < alone[0][0].p


def test_ci_gets_one_case_for_each_series() -> None:
    watched = watch(
        [*summaries(steps(34, 0.1)), *summaries([0.0], "few"), *summaries(steps(40, 0, seed=2), "same")], SINCE
    )
    suite = ET.fromstring(watch_junit(watched))[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    assert [case.get("classname") for case in suite if case.find("failure") is not None] == ["first"]
