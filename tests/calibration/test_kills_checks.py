"""What the campaigns of kills must notice, each fault made up here: nothing is killed but a process of ours."""

import json
import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.kit.scripts import Benchmarks

TRACE = "Traceback (most recent call last):"


@pytest.fixture(scope="module")
def checks(b: Benchmarks) -> ModuleType:
    return b.kills_checks


def lines(*events: dict[str, Any]) -> str:
    return "".join(json.dumps(event) + "\n" for event in events)


def made(*names: str, reason: str = "complete") -> str:
    return lines(*({"event": "run", "run": name} for name in names), {"event": "end", "reason": reason})


def ended(code: int, said: str = "", **fields: Any) -> SimpleNamespace:
    return SimpleNamespace(code=code, argv=["run"], said=lambda: said, **{"over_s": 1.0, "peak_bytes": 1, **fields})


def kinds(found: Iterator[tuple[str, str]]) -> list[str]:
    return [kind for kind, _ in found]


@pytest.mark.parametrize(("start", "journaled", "found"), [
    (ended(0), made("b1"), []), (ended(5), made("b1"), []),
    (ended(143, "go on with --resume"), made("b1", reason="interrupted"), []),
    (ended(143, "bye"), made("b1", reason="interrupted"), ["exit code"]),
    (ended(-15), "", []), (ended(-15), made("b1"), ["exit code"]),
    (ended(0), lines({"event": "run", "run": "b1"}), ["exit code"]),
    (ended(0), made("b1", reason="interrupted"), ["exit code"]),
    (ended(1), "", ["exit code"]), (ended(-9), "", ["exit code"]), (ended(143, TRACE), "", ["traceback"]),
    (ended(1, f"{TRACE} runpy\nKeyboardInterrupt"), "", []),
    (
        ended(1, "Traceback (most recent call last): scalograph/cli\nKeyboardInterrupt"),
        "",
        ["exit code", "traceback"],
    ),
    (ended(0, over_s=10.1), made("b1"), ["above 10 s"]),
    (ended(0, peak_bytes=10**9 + 1), made("b1"), ["above 1 GB"]),
])  # fmt: skip
def test_ends_not_of_the_contract(checks: ModuleType, start: SimpleNamespace, journaled: str, found: list[str]) -> None:
    assert kinds(checks.of_end(start, {143, -15}, journaled.encode())) == found


@pytest.mark.parametrize(
    ("after", "found"),
    [(made("b1", "b2"), []), (made("b2"), ["lost"]), ("", ["lost"]), (made("b1", "b2", "b2"), ["doubled"])],
)
def test_what_was_there_and_is_not(checks: ModuleType, tmp_path: Path, after: str, found: list[str]) -> None:
    (tmp_path / "journal.jsonl").write_text(after)
    before = lines({"event": "run", "run": "b1"}).encode()
    assert kinds(checks.of_journal(before, tmp_path / "journal.jsonl")) == found


@pytest.mark.parametrize(("planner", "names", "reason", "found"), [
    ("grid", "abc", "complete", []), ("grid", "ab", "complete", ["not as planned"]),
    ("grid", "acb", "complete", ["not as planned"]), ("grid", "abc", "budget", ["not as planned"]),
    ("precision", "ac", "complete", []), ("precision", "ca", "complete", ["not as planned"]),
    ("cliff", "abcd", "budget", []), ("cliff", "abd", "complete", ["not as planned"]),
    ("cliff", "abcdefghijklmnopq", "budget", ["not as planned"]),
])  # fmt: skip
def test_other_runs(
    checks: ModuleType, tmp_path: Path, planner: str, names: str, reason: str, found: list[str]
) -> None:
    (tmp_path / "design.jsonl").write_text(lines({}, *({"run": name} for name in "abc")))
    (tmp_path / "journal.jsonl").write_text(made(*names, reason=reason))
    assert kinds(checks.of_runs(planner, tmp_path)) == found


def test_what_is_left_behind(checks: ModuleType, tmp_path: Path) -> None:
    place = SimpleNamespace(folder=tmp_path, tmp=tmp_path / "tmp", cache=tmp_path / "cache", leaves=lambda: [])
    for folder in ("tmp", "cache/scalograph/builds/made-1a", "results"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "results" / "journal.jsonl").touch()
    assert kinds(checks.of_folders(place, tmp_path / "results")) == []
    (tmp_path / "results" / ".findings.json.1a").touch()
    (tmp_path / "tmp" / "scalograph-run-1a").mkdir()
    (tmp_path / "cache/scalograph/builds/.made-1a-2b").mkdir()
    assert kinds(checks.of_folders(place, tmp_path / "results")) == ["left behind"] * 3


def test_a_process_that_runs_on(checks: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(["sleep", "600"]) as child:
        monkeypatch.setattr(checks, "SETTLE_S", 0.0)
        monkeypatch.setattr(checks, "processes", lambda: {child.pid: "sleep 600"})
        assert kinds(checks.of_processes(SimpleNamespace(stalled_s=lambda: 0.0))) == ["left behind"]
        assert child.wait(10) == -9


@pytest.fixture
def settings(b: Benchmarks, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The campaign, which kills no start before it has hung, and takes no children of this process."""
    monkeypatch.setattr(b.settings_kills, "reap", lambda: None)
    monkeypatch.setattr(b.settings_kills, "LATEST_S", 1e6)
    return b.settings_kills


def faults(settings: ModuleType, folder: Path, start: str) -> dict[str, float]:
    """What a campaign finds whose starts are this line of shell."""

    class Failing(settings.Campaign):  # type: ignore[misc, name-defined]
        def _forked(self, argv: list[str]) -> int:
            (folder / "said").write_text("said")
            return os.posix_spawn("/bin/sh", ["sh", "-c", start], os.environ)

    campaign = Failing(settings.planted(folder / "kernel"), folder, random.Random(1))
    shown = {figure.name: figure.value for figure in settings.figures(campaign, 1)}
    assert shown["kills"] == 0
    return {name: shown[name] for name in settings.FAULTS if shown[name]}


@pytest.mark.parametrize("start", ["exit 2", "exit 130", "kill -SEGV $$"])
def test_a_start_that_ends_by_itself_is_a_fault(settings: ModuleType, tmp_path: Path, start: str) -> None:
    assert faults(settings, tmp_path, start) == {"exit code": settings.MOST_FAULTS}


def test_a_start_that_hangs_is_a_fault(settings: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "HANG_S", 0.05)
    monkeypatch.setattr(settings, "MOST_FAULTS", 2)
    assert faults(settings, tmp_path, "exec sleep 60") == {"hang": 2}
