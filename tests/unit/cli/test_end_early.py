"""How a command ends after a signal: with the answer from the runs so far, unless somebody is in a hurry."""

import signal
from pathlib import Path

import pytest

from scalograph.cli.start import end_early
from scalograph.errors import Exit, StudyError
from scalograph.protocol.results import Results
from scalograph.run.session import Session

RESUME = ["scalograph", "run", "s.toml", "--resume"]


def session(n_before: int = 0, n_made: int = 0, number: int = signal.SIGINT, is_hurried: bool = False) -> Session:
    return Session(Results(Path("out")), "interrupted", n_before, number, n_made, is_hurried)


@pytest.mark.parametrize("runs", [{"n_made": 5}, {"n_before": 5}])
def test_after_ctrl_c_the_runs_so_far_are_answered(runs: dict[str, int], capsys: pytest.CaptureFixture[str]) -> None:
    answers: list[int] = []
    assert end_early(session(**runs), RESUME, lambda: answers.append(5) or 5) == Exit.INTERRUPTED
    said = capsys.readouterr().err.replace("\n", " ")
    assert answers == [5]
    assert "interrupted: answer from 5 runs, Ctrl-C again leaves at once. Resume with: scalograph run s.toml" in said


@pytest.mark.parametrize(
    ("ended", "code"),
    [
        (session(), Exit.INTERRUPTED),
        (session(n_made=5, is_hurried=True), Exit.INTERRUPTED),
        (session(n_made=5, number=signal.SIGTERM), Exit.TERMINATED),
    ],
)
def test_nobody_waits_for_an_answer_without_runs_or_in_a_hurry(
    ended: Session, code: Exit, capsys: pytest.CaptureFixture[str]
) -> None:
    answers: list[int] = []
    assert end_early(ended, RESUME, lambda: answers.append(0) or 0) == code and not answers
    said = capsys.readouterr().err.replace("\n", " ")
    assert "interrupted: nothing finished is lost. Resume with: scalograph run s.toml --resume" in said


def test_an_answer_that_is_refused_changes_no_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    def refuse() -> int:
        raise StudyError.one("--table", "no such table", "one of these")

    assert end_early(session(n_made=5), RESUME, refuse) == Exit.INTERRUPTED
    assert "no such table" in capsys.readouterr().err


def test_a_second_ctrl_c_leaves_while_the_answer_is_made() -> None:
    def press_again() -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        end_early(session(n_made=5), RESUME, press_again)
