"""How a part of which claims are not resolved goes on, and one of which that was interrupted."""

import json
from pathlib import Path
from typing import Any

import pytest

from scalograph.cli.reproduce import reproduce_plan
from scalograph.cli.reproduce.reproduce_plan import extend_part, inconclusive_claims, may_decide, restore_extension
from scalograph.protocol.findings import Findings
from scalograph.protocol.published_claim import DecidedClaim
from scalograph.study.declare import Declared
from scalograph.study.identity import dump_study
from scalograph.study.load import parse
from tests.kit.studies import VALID


def declared(**protocol: Any) -> Declared:
    study = parse(VALID)
    protocol = {"runs": 3, **protocol}
    return Declared(
        study.model_copy(update={"protocol": study.protocol.model_copy(update=protocol)}), Path("study.toml")
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A part of three blocks of ten seconds each, after a warm-up of four."""
    (tmp_path / "journal.jsonl").write_text("")
    monkeypatch.setattr(reproduce_plan, "inconclusive_claims", lambda _: ["S0-1"])
    monkeypatch.setattr(reproduce_plan, "seconds_per_block", lambda _: {-1: 4.0, 0: 10.0, 1: 9.0, 2: 11.0})
    return tmp_path


@pytest.mark.parametrize(("seconds", "runs", "budget_s"), [(40.0, 7, 80.0), (1.0, 4, 50.0), (1e9, 10_000, 100_010.0)])
def test_it_gets_as_many_blocks_as_take_that_long_and_time_for_them(
    folder: Path, seconds: float, runs: int, budget_s: float
) -> None:
    found = extend_part(folder, declared(), seconds)
    assert found is not None
    protocol = found.study.protocol
    assert protocol.runs == runs and protocol.budget_s == pytest.approx(budget_s, abs=1)


def test_one_that_its_own_time_ended_is_not_asked_for_fewer_runs(folder: Path) -> None:
    found = extend_part(folder, declared(runs=20, budget_s=35.0), 20.0)
    assert found is not None
    assert (found.study.protocol.runs, found.study.protocol.budget_s) == (20, 60.0)


def test_what_ends_by_itself_or_is_resolved_stays_as_it_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    search = declared()
    search = Declared(search.study.model_copy(update={"question": "cliff"}), search.file)
    assert extend_part(folder, search, 20.0) is None
    assert extend_part(folder, declared(precision=0.02), 20.0) is None
    monkeypatch.setattr(reproduce_plan, "inconclusive_claims", lambda _: [])
    assert extend_part(folder, declared(), 20.0) is None


def test_further_runs_are_offered_for_claims_that_they_may_decide() -> None:
    search = Declared(declared().study.model_copy(update={"question": "cliff"}), Path("study.toml"))
    for decision, is_open in (("not resolved", True), ("holds", False)):
        found = Findings.model_construct(published_claims=[DecidedClaim.model_construct(id="a", decision=decision)])
        assert may_decide(found, declared()) == is_open
        assert not may_decide(found, search)


def test_results_that_cannot_be_read_have_no_claims(tmp_path: Path) -> None:
    assert inconclusive_claims(tmp_path) == []


@pytest.mark.parametrize(
    ("begun", "runs", "budget_s"),
    [
        ({"runs": 7, "budget_s": 90.0}, 7, 90.0),
        ({"runs": 3, "budget_s": 90.0}, 3, 90.0),
        ({"runs": 3, "budget_s": 30.0}, 3, 60.0),
    ],
)
def test_an_interrupted_one_has_the_runs_and_the_time_of_its_latest_start(
    tmp_path: Path, begun: dict[str, Any], runs: int, budget_s: float
) -> None:
    events = [{"event": "study", "protocol": 1, "study": dump_study(declared(budget_s=60.0).study)}]
    events += [{"event": "resume", "study": dump_study(declared(**begun).study)}, {"event": "resume"}]
    (tmp_path / "journal.jsonl").write_text("".join(json.dumps({"at": "", **event}) + "\n" for event in events))
    protocol = restore_extension(tmp_path, declared(budget_s=60.0)).study.protocol
    assert (protocol.runs, protocol.budget_s) == (runs, budget_s)
