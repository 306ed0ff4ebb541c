"""A further question is a folder and a row: a toy one goes through all five stops and `find`, without an edit."""

import json
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from scalograph.cli import pipeline
from scalograph.questions.registry import QUESTIONS
from tests.golden.command import Said, scalograph
from tests.kit.command import simulated
from tests.kit.results import findings_in
from tests.kit.studies import a_study
from tests.unit.report.test_html import unpacked

# Which level takes the least time? Each is run twice.
ROLES = {
    "check": """
from scalograph.study.cross_checks import check_single_factor, check_ignored_keys

BASIS = "levels"


def mistakes(raw, factors):
    yield from check_single_factor(factors)
    yield from check_ignored_keys(raw, "precision", "runs", "warmup_runs")
""",
    "state": """
from scalograph.design.search_steps import Search, count_levels, searched_factor


class FastestCourse:
    def __init__(self, levels):
        self.times = {level: [] for level in levels}

    @property
    def next_level(self):
        return next((level for level, times in self.times.items() if len(times) < 2), None)

    @property
    def n_left(self):
        return sum(2 - len(times) for times in self.times.values())

    @property
    def summary(self):
        return ""

    def observe(self, level, score):
        self.times[level].append(score)

    def observe_failure(self, level):
        del self.times[level]


def begin(study, configurations):
    levels = count_levels(configurations, searched_factor(study, configurations))
    steps = {level: (configuration,) for level, configuration in levels.items()}
    return Search(searched_factor(study, configurations), steps, [*levels], FastestCourse(levels), 2 * len(levels))
""",
    "plan": """
from functools import partial

from scalograph.design.search import SearchPlan
from toy_question.state import begin


def plan(design):
    return SearchPlan(design, partial(begin, design.study, design.configurations))
""",
    "document": """
from scalograph.protocol.plain import Model


class Fastest(Model):
    factor: str
    level: int
""",
    "answer": """
from scalograph.findings.answer import Answer
from scalograph.findings.sample import replay_runs
from scalograph.protocol.findings import Column, TableDoc
from toy_question.state import begin
from toy_question.document import Fastest


def answer(table, taken, curves):
    search = begin(table.study, table.configurations)
    times = replay_runs(search, table).times
    best = min(times, key=lambda level: min(times[level]))
    columns = [Column(name=search.what, kind="label"), Column(name="best time", unit="s")]
    rows = [[level, min(found)] for level, found in times.items()]
    return Answer(
        document=Fastest(factor=search.what, level=best),
        decided=all(len(found) == 2 for found in times.values()),
        sentences=[f"The fastest level is {best}."],
        tables=[TableDoc(id="fastest", title="The best times", columns=columns, rows=rows)],
    )
""",
    "chart": """
from scalograph.protocol.figure import Figure, Plot, View
from toy_question.document import Fastest


def figures(findings):
    found = findings.document("fastest", Fastest)
    if found is None:
        return []
    bars = [{"type": "bar", "x": [found.level], "y": [1]}]
    return [Figure("fastest", "The fastest level, drawn", "A bar.", [View([Plot("one bar", bars, {})])])]
""",
    "find": '''
from dataclasses import dataclass
from typing import Annotated

from scalograph.questions.asked import AskedFactors, Option
from toy_question.document import Fastest


@dataclass(frozen=True)
class FastestOptions:
    """Which number of threads is the fastest?"""

    threads: Annotated[str, Option("Which to try.")] = "1,2"

    def factors(self):
        return AskedFactors({"threads": self.threads})


OPTIONS = FastestOptions


def figures(found):
    part = found.document("fastest", Fastest)
    return {"level": part.level if part else None}
''',
}
STUDY = a_study({"threads": [1, 2, 4]}, title="Which level is the fastest?", question="fastest", seed=1)
TIMES = {"true 1": 0.9, "true 2": 0.3, "true 4": 0.5}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the toy question, its row, a study that asks it, and a probe that makes its runs up."""
    for name, text in ROLES.items():
        (tmp_path / "toy_question" / f"{name}.py").parent.mkdir(exist_ok=True)
        (tmp_path / "toy_question" / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(QUESTIONS, "fastest", "toy_question")
    (tmp_path / "study.toml").write_text(STUDY)
    monkeypatch.setenv("SCALOGRAPH_PROBE", simulated(tmp_path, TIMES)["SCALOGRAPH_PROBE"])
    monkeypatch.setattr(pipeline, "machine_lock", lambda *_: nullcontext(()))  # nothing is measured
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "toy_question"]:
        del sys.modules[name]


def done(folder: Path, *arguments: str) -> Said:
    said = scalograph([*arguments], folder)
    assert said.code == 0, said.printed
    return said


def test_a_toy_question_goes_through_all_five_stops(folder: Path) -> None:
    done(folder, "check", "study.toml")
    assert "3 configurations; 3 runs first, then one at a time" in done(folder, "plan", "study.toml").printed
    done(folder, "run", "study.toml", "-o", "results")
    head, *planned = map(json.loads, (folder / "results" / "design.jsonl").read_text().splitlines())
    assert (head["question"], head["most_runs"], len(planned)) == ("fastest", 6, 3)
    done(folder, "analyze", "results")
    found = findings_in(folder / "results")
    assert found["answer"] == ["The fastest level is 2."]
    answered = {"decided": True, "applies": "", "data": {"factor": "threads", "level": 2}}
    assert found["parts"]["fastest"] == answered
    assert [table["id"] for table in found["tables"] if table["question"] == "fastest"] == ["fastest"]
    assert "The fastest level is 2." in done(folder, "report", "results").printed
    assert "The best times" in done(folder, "report", "results", "--table", "fastest").printed
    page = (folder / "results" / "report.html").read_text()
    assert "The fastest level, drawn" in json.dumps(unpacked(page))


def test_find_asks_it_of_a_command(folder: Path) -> None:
    assert "fastest" in done(folder, "find", "--help").printed
    said = done(folder, "find", "fastest", "--threads", "1,2,4", "-o", "found", "--json", "--", "true", "{threads}")
    assert json.loads(said.printed[said.printed.index("{") :])["level"] == 2
    assert 'question = "fastest"' in (folder / "found" / "study.toml").read_text()
    assert findings_in(folder / "found")["runs"]["n_done"] == 6


def test_its_mistakes_are_told_and_without_its_row_there_is_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "study.toml").write_text(STUDY + "[protocol]\nruns = 3\n")
    said = scalograph(["check", "study.toml"], folder)
    assert said.code == 2 and "in a search" in said.printed
    monkeypatch.delitem(QUESTIONS, "fastest")
    said = scalograph(["check", "study.toml"], folder)
    error = "error: study.toml:6: question: 'fastest' is not valid"
    hint = (
        "hint: use 'sweep', 'effective-cpus', 'cliff', 'break-even', 'throughput', 'within-limit', "
        "'tunables', 'size', 'commit' or 'best'"
    )
    assert said.code == 2 and " ".join(said.printed.split()) == f"{error} {hint}"
