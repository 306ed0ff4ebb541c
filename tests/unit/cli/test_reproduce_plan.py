"""How a part of which claims are inconclusive goes on, and which of two results of a part stays."""

import json
from pathlib import Path
from typing import Any

import pytest

from scalograph.cli.reproduce import reproduce_plan
from scalograph.cli.reproduce.reproduce_plan import (
    disturbed_share,
    extend_part,
    inconclusive_claims,
    may_decide,
    restore_extension,
    run_again,
    settle,
)
from scalograph.protocol.findings import Findings
from scalograph.protocol.published_claim import DecidedClaim
from scalograph.study.declare import Declared
from scalograph.study.identity import dump_study
from scalograph.study.load import parse
from tests.kit.studies import VALID


def declared(question: str = "sweep", **protocol: Any) -> Declared:
    study = parse(VALID)
    changed = {"question": question, "protocol": study.protocol.model_copy(update={"runs": 3, **protocol})}
    return Declared(study.model_copy(update=changed), Path("study.toml"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A part of three blocks of ten seconds each, after a warm-up of four."""
    (tmp_path / "journal.jsonl").write_text("")
    monkeypatch.setattr(reproduce_plan, "inconclusive_claims", lambda _: ["S0-1"])
    monkeypatch.setattr(reproduce_plan, "seconds_per_block", lambda _: {-1: 4.0, 0: 10.0, 1: 9.0, 2: 11.0})
    return tmp_path


@pytest.mark.parametrize(("seconds", "runs", "budget_s"), [(40.0, 7, 80.0), (1.0, 4, 50.0), (1e9, 10_000, 100_010.0)])
def test_it_gets_as_many_blocks_as_take_that_long(folder: Path, seconds: float, runs: int, budget_s: float) -> None:
    found = extend_part(folder, declared(), seconds)
    assert found is not None
    protocol = found.study.protocol
    assert protocol.runs == runs and protocol.budget_s == pytest.approx(budget_s, abs=1)


def test_one_that_its_own_time_ended_is_not_asked_for_fewer_runs(folder: Path) -> None:
    found = extend_part(folder, declared(runs=20, budget_s=35.0), 20.0)
    assert found is not None and (found.study.protocol.runs, found.study.protocol.budget_s) == (20, 60.0)


def test_what_ends_or_is_resolved_stays_as_it_is(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert extend_part(folder, declared("cliff"), 20.0) is None
    assert extend_part(folder, declared(precision=0.02), 20.0) is None
    monkeypatch.setattr(reproduce_plan, "inconclusive_claims", lambda _: [])
    assert extend_part(folder, declared(), 20.0) is None
    for decision, is_open in (("inconclusive", True), ("holds", False)):
        found = Findings.model_construct(published_claims=[DecidedClaim.model_construct(id="a", decision=decision)])
        assert may_decide(found, declared()) == is_open and not may_decide(found, declared("cliff"))
    assert inconclusive_claims(tmp_path) == [] and disturbed_share(tmp_path) == 1.0


@pytest.mark.parametrize(("begun", "runs", "budget_s"), [
    ({"runs": 7, "budget_s": 90.0}, 7, 90.0),
    ({"runs": 3, "budget_s": 90.0}, 3, 90.0),
    ({"runs": 3, "budget_s": 30.0}, 3, 60.0),
])  # fmt: skip
def test_interrupted_ones_have_latest_runs(tmp_path: Path, begun: dict[str, Any], runs: int, budget_s: float) -> None:
    events = [{"event": "study", "protocol": 1, "study": dump_study(declared(budget_s=60.0).study)}]
    events += [{"event": "resume", "study": dump_study(declared(**begun).study)}, {"event": "resume"}]
    (tmp_path / "journal.jsonl").write_text("".join(json.dumps({"at": "", **event}) + "\n" for event in events))
    protocol = restore_extension(tmp_path, declared(budget_s=60.0)).study.protocol
    assert (protocol.runs, protocol.budget_s) == (runs, budget_s)


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A part half of whose runs were disturbed; `share` stands for the findings."""
    monkeypatch.setattr(reproduce_plan, "disturbed_share", lambda folder: float((folder / "share").read_text()))
    monkeypatch.setattr(reproduce_plan.analyze_steps, "analyze", lambda folder: None)
    write_share(tmp_path / "part", "0.5")
    return tmp_path


def write_share(folder: Path, share: str) -> None:
    folder.mkdir()
    (folder / "share").write_text(share)


def share_of(folder: Path) -> str:
    return (folder / "share").read_text()


@pytest.mark.parametrize(("share", "stays"), [("0.4", True), ("0.5", False), ("0.9", False)])
def test_the_quieter_result_stays(parts: Path, share: str, stays: bool) -> None:
    message = run_again(parts / "part", lambda new: write_share(new, share), lambda new: True)
    assert message.startswith(f"the {'new' if stays else 'earlier'} result stays")
    assert share_of(parts / "part") == (share if stays else "0.5")
    assert [folder.name for folder in parts.iterdir()] == ["part"]


def test_a_few_quiet_runs_do_not_replace_a_whole_result(parts: Path) -> None:
    message = run_again(parts / "part", lambda new: write_share(new, "0.0"), lambda new: False)
    assert message.startswith("the earlier result stays") and share_of(parts / "part") == "0.5"
    assert (parts / "part.again").is_dir()  # --resume --again goes on there


@pytest.mark.guarantee
def test_one_result_is_whole_after_a_kill_at_any_moment(parts: Path) -> None:
    (parts / "part").rename(parts / "part.old")
    settle(parts / "part")
    assert share_of(parts / "part") == "0.5"
    write_share(parts / "part.old", "0.9")
    settle(parts / "part")
    assert share_of(parts / "part") == "0.5" and not (parts / "part.old").exists()
