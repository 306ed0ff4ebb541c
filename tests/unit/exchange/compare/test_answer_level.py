"""Levels of results without curves: what a search answers with, or the ratio of two versions."""

import math
from pathlib import Path

import pytest

from scalograph.analysis.estimate import Estimate
from scalograph.exchange.compare.answer_level import answer_level
from scalograph.exchange.compare.summarize import summarize
from scalograph.protocol.findings import Findings, Part, ResponseDoc, RunsDoc, StudyDoc, Trust
from scalograph.questions.best.document import Best, BestConfiguration
from scalograph.questions.size.document import Size, SizeNeed
from scalograph.questions.within_limit.document import WithinLimit
from tests.kit.findings import findings_of, runs_of
from tests.kit.studies import a_study

WALL = ResponseDoc(name="wall", title="wall time", unit="s")


def findings(question: str, document: object, level: str = "reliable") -> Findings:
    part = Part(data=document.model_dump() if document else None)  # type: ignore[attr-defined]
    return Findings(
        study=StudyDoc(name="first", title="First", question=question, work="total", hash="a" * 64, seed=1, factors=[],
                       responses=[WALL]),
        runs=RunsDoc(n_asked=1, n_done=1, n_failed=0, configurations=1),
        trust=Trust(level=level, sentence="All runs used."), parts={question: part},
    )  # fmt: skip


def size(memory: float | None) -> Size:
    def need(factor: str, value: float | None) -> SizeNeed:
        return SizeNeed(factor=factor, beside={}, decided=True, need=Estimate(value), always=0, never=0, runs=[])

    return Size(response="wall", limit=1.0, needs=[need("quota", 0.5), need("memory", memory)])


WINNER = BestConfiguration(levels={"threads": 6, "mode": "a"}, cost=6, n=3, within=1, fresh=Estimate(0.25, 0.2, 0.3))
BEST = Best(response="wall", decided=True, margin=0.02, n_configurations=9, n_runs=9, n_fresh=4, n_excluded=0,
            noise=0.01, risk=0.01, winner=WINNER, default=WINNER, members=[WINNER])  # fmt: skip
LIMIT = WithinLimit(factor="rate", response="p99", limit=0.05, decided=True, crossing=Estimate(900.0), always=0,
                    never=0, runs=[])  # fmt: skip


@pytest.mark.parametrize(("question", "document", "title", "values"), [
    ("size", size(64.0), "least quota and memory", {"memory": 64.0, "quota": 0.5}),
    ("best", BEST, "wall time of the best", {"best": 0.25}),
    ("within-limit", LIMIT, "rate at the limit", {"rate": 900.0}),
])  # fmt: skip
def test_what_a_search_answers_with_is_its_level(
    question: str, document: object, title: str, values: dict[str, float]
) -> None:
    summary = summarize(findings(question, document), "a")
    assert (summary.response_title, summary.names, summary.excluded) == (title, tuple(values), "")
    assert [math.exp(log) for log in summary.logs] == pytest.approx([*values.values()])
    assert summary.coefficients == ({"best threads": 6.0} if question == "best" else {})


def test_a_search_without_a_value_or_that_cannot_be_used_is_excluded_with_the_reason() -> None:
    assert summarize(findings("size", size(None)), "a").excluded == "its search found no value"
    assert summarize(findings("size", size(64.0), "unusable"), "a").excluded == "All runs used"
    assert answer_level(findings("sweep", None)) is None


@pytest.mark.parametrize("first", ["main-3f2c1a9b01", "old"])
def test_of_two_versions_the_ratio_is_a_series_and_of_revisions_the_level(tmp_path: Path, first: str) -> None:
    text = a_study({"version": [first, "new"]}, baseline={"version": first})
    runs = runs_of({first: 2.0, "new": 2.2}, 6, factor="version")
    summary = summarize(findings_of(tmp_path, runs, text), "a")
    assert summary.coefficients["slowdown"] == pytest.approx(1.1)
    if first == "old":
        assert summary.names == ("version=new", "version=old") and summary.unit == "s"
    else:
        assert summary.names == ("slowdown",) and math.exp(summary.logs[0]) == pytest.approx(1.1)
