"""How `run` and `study` end: what failed, what comes next, and how to go on."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scalograph.cli import analyze_steps, start
from scalograph.cli.options import StartOptions
from scalograph.errors import Exit
from scalograph.protocol.findings import Claim
from tests.kit import samples

Concluded = Callable[..., tuple[str, str]]


@pytest.fixture
def concluded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Concluded:
    """What is said on both streams when a study has ended for a reason, with results in a folder."""
    found: Any = samples.bare()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(analyze_steps, "analyze", lambda source: (found, source))
    monkeypatch.setattr(analyze_steps, "exit_code", lambda found: 5)

    def conclude(reason: str, folder: str = "out") -> tuple[str, str]:
        Path(folder).mkdir(parents=True)
        session: Any = SimpleNamespace(reason=reason, signal=None, results=SimpleNamespace(folder=Path(folder)))
        words = ["scalograph", "run", "s.toml", "--budget", "1s", "--quick"]
        start.conclude(session, StartOptions(), words, False)
        return tuple(capsys.readouterr())

    return conclude


@pytest.mark.parametrize(("reason", "advice"), [
    ("busy", "go on with: scalograph run s.toml --budget 1s --quick --resume -o out"),
    ("budget", "a larger --budget or --max-runs: scalograph run s.toml --quick --resume -o out"),
    ("complete", ""),
])  # fmt: skip
def test_a_study_that_ended_early_says_how_to_go_on(concluded: Concluded, reason: str, advice: str) -> None:
    err = concluded(reason)[1].replace("\n", "")
    assert advice in err and bool(err) == bool(advice)


def test_the_next_command_can_be_pasted(concluded: Concluded) -> None:
    assert "scalograph report 'p q/out'\n" in concluded("complete", "p q/out")[0]


@pytest.mark.parametrize(("n_empty", "n_short", "answered", "strict", "code"), [
    (0, 0, True, True, Exit.DONE), (0, 2, True, False, Exit.DONE), (0, 2, True, True, Exit.NO_ANSWER),
    (0, 0, False, False, Exit.NO_ANSWER), (1, 2, False, True, Exit.CONFIGURATION_FAILED),
])  # fmt: skip
def test_an_answer_ends_in_0_and_missing_runs_in_5_where_that_is_strict(
    n_empty: int, n_short: int, answered: bool, strict: bool, code: Exit
) -> None:
    runs = samples.bare().runs.model_copy(update={"n_empty": n_empty, "n_short": n_short})
    study = samples.bare().model_copy(update={"runs": runs, "claim": Claim(sentences=["s"], answered=answered)})
    assert analyze_steps.exit_code(study, strict) == code
    # What is shown in place of the findings' own answer decides.
    other = study.model_copy(update={"claim": Claim(sentences=["s"], answered=not answered)})
    assert analyze_steps.exit_code(other, strict, answered) == code
