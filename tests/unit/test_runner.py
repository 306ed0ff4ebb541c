import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from scalograph import journal, runner
from scalograph.analysis.verdict import Judgment
from scalograph.design.grid import GridPlanner
from scalograph.design.planner import Design, Run
from scalograph.errors import HostError
from scalograph.journal import Journal
from scalograph.runner import Budget, replay, run_study
from scalograph.study import parse

from .records import record
from .study.example import VALID


def small() -> Design:
    return Design(
        parse(VALID), tuple({"threads": n, "lock": k} for n in (1, 2, 4) for k in ("none", "cas")), (), {0: 2}
    )


class Told:
    def __init__(self) -> None:
        self.runs: list[str] = []

    def asked(self, run: Run) -> None: ...

    def told(self, run: Run, found: Mapping[str, Any], judgment: Judgment) -> None:
        self.runs.append(run.run)


class FakeHost:
    """Ends as it is told: after `stop_after` runs it raises `error`."""

    def __init__(self, stop_after: int = 10**9, error: BaseException | None = None) -> None:
        self.measured: list[str] = []
        self.stop_after, self.error = stop_after, error

    def measure(self, run: Run) -> Mapping[str, Any]:
        if len(self.measured) >= self.stop_after and self.error:
            raise self.error
        self.measured.append(run.run)
        return record()


def started(file: Path) -> Journal:
    book = Journal(file)
    book.append("study", protocol=1)
    return book


def run_once(file: Path, host: FakeHost, planner: GridPlanner, book: Journal | None = None) -> str:
    book = book or started(file)
    try:
        return run_study(planner, host, book, Budget(None), Told())
    finally:
        book.close()


def test_ask_is_written_before_the_run_and_run_before_the_next_ask(tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    assert run_once(file, FakeHost(), GridPlanner(small())) == "complete"
    events = [event["event"] for event in journal.read(file)]
    assert events == ["study", *["ask", "run", "verdict"] * 21, "end"]


@pytest.mark.parametrize("stop_after", [0, 1, 7, 20])
def test_a_study_killed_anywhere_resumes_to_the_same_runs(tmp_path: Path, stop_after: int) -> None:
    whole = FakeHost()
    run_once(tmp_path / "whole.jsonl", whole, GridPlanner(small()))

    file, first = tmp_path / "killed.jsonl", FakeHost(stop_after, HostError("disk", "full"))
    with pytest.raises(HostError):
        run_once(file, first, GridPlanner(small()))
    planner, second = GridPlanner(small()), FakeHost()
    assert replay(planner, journal.read(file)) == stop_after
    run_once(file, second, planner, Journal(file))
    assert first.measured + second.measured == whole.measured


def test_ctrl_c_loses_no_finished_run_and_the_broken_one_is_asked_again(tmp_path: Path) -> None:
    file, host = tmp_path / "journal.jsonl", FakeHost(3, KeyboardInterrupt())
    assert run_once(file, host, GridPlanner(small())) == "interrupted"
    planner = GridPlanner(small())
    replay(planner, journal.read(file))
    asked = [event["run"] for event in journal.read(file) if event["event"] == "ask"]
    again = planner.ask()
    assert again is not None and again.run == asked[-1] and len(asked) == 4


def test_a_run_without_its_verdict_is_still_told(tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    run_once(file, FakeHost(), GridPlanner(small()))
    events = [event for event in journal.read(file) if event["event"] != "verdict"]
    planner = GridPlanner(small())
    assert replay(planner, events) == 21
    assert planner.ask() is None


def test_a_budget_stops_before_a_block_and_never_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(0.0, 10.0)  # each look at the clock is 10 s later: a block takes 10 s
    monkeypatch.setattr(runner.time, "monotonic", lambda: next(clock))
    book, host = started(tmp_path / "journal.jsonl"), FakeHost()
    assert run_study(GridPlanner(small()), host, book, Budget(25.0), Told()) == "budget"
    book.close()
    assert len(host.measured) == 14  # two whole blocks of seven


def test_time_spent_before_a_resume_counts_towards_the_budget(tmp_path: Path) -> None:
    budget = Budget(10.0, spent=9.9)
    first = GridPlanner(small()).ask()
    assert first is not None and budget.allows(first)
    budget._blocks.append(5.0)
    assert not budget.allows(Run("b0001-0000", 1, {}, 0))


def test_an_interrupted_record_is_no_run(tmp_path: Path) -> None:
    class Interrupted(FakeHost):
        def measure(self, run: Run) -> Mapping[str, Any]:
            return record(status="interrupted")

    file = tmp_path / "journal.jsonl"
    assert run_once(file, Interrupted(), GridPlanner(small())) == "interrupted"
    assert [event["event"] for event in journal.read(file)] == ["study", "ask", "end"]
