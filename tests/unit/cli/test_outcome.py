"""How `run` and `study` end: what failed, what comes next, and how to go on."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scalograph.cli import analyze_steps, start
from scalograph.cli.options import StartOptions
from tests.kit import samples


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def concluded(monkeypatch: pytest.MonkeyPatch, reason: str, folder: str = "out") -> int:
    found: Any = samples.bare()
    Path(folder).mkdir(parents=True)
    monkeypatch.setattr(analyze_steps, "analyze", lambda source: (found, source))
    monkeypatch.setattr(analyze_steps, "exit_code", lambda found: 5)
    session: Any = SimpleNamespace(reason=reason, signal=None, results=SimpleNamespace(folder=Path(folder)))
    return start.conclude(session, StartOptions(), ["scalograph", "run", "s.toml", "--budget", "1s", "--quick"], False)


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("busy", "go on with: scalograph run s.toml --budget 1s --quick --resume -o out"),
        ("budget", "a larger --budget or --max-runs: scalograph run s.toml --quick --resume -o out"),
        ("complete", ""),
    ],
)
def test_a_study_that_ended_early_says_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], reason: str, said: str
) -> None:
    concluded(monkeypatch, reason)
    err = capsys.readouterr().err.replace("\n", "")
    assert said in err and bool(err) == bool(said)


def test_the_next_command_can_be_pasted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    concluded(monkeypatch, "complete", "p q/out")
    assert "scalograph report 'p q/out'\n" in capsys.readouterr().out
