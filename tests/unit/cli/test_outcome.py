"""How commands end: what failed, how to go on, its exit code; after a signal with the answer from the runs so far."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scalograph.cli import analyze_steps, ending, start
from scalograph.cli.main import _code
from scalograph.cli.options import StartOptions
from scalograph.cli.start import end_early
from scalograph.errors import SIGNALS, Exit, StudyError
from scalograph.protocol.findings import Claim
from scalograph.protocol.results import Results
from scalograph.run.session import Session
from tests.kit import samples
from tests.kit.command import environment, shell
from tests.kit.findings import CONFIGURATIONS, write_journal
from tests.kit.records import recorded

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
def test_answer_ends_in_0_few_runs_in_5(n_empty: int, n_short: int, answered: bool, strict: bool, code: Exit) -> None:
    runs = samples.bare().runs.model_copy(update={"n_empty": n_empty, "n_short": n_short})
    study = samples.bare().model_copy(update={"runs": runs, "claim": Claim(sentences=["s"], answered=answered)})
    assert analyze_steps.exit_code(study, strict) == code
    # What is shown in place of the findings' own answer decides.
    other = study.model_copy(update={"claim": Claim(sentences=["s"], answered=not answered)})
    assert analyze_steps.exit_code(other, strict, answered) == code


def test_a_folder_nobody_may_enter(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refused(*_: object, **__: object) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/root/s/study.toml")

    monkeypatch.setattr(ending.app, "main", refused)
    assert ending.execute(["check", "/root/s/study.toml"]) == 3
    message = capsys.readouterr().err
    assert "/root/s/study.toml" in message and "permission denied" in message and "Traceback" not in message


# Says more than a pipe holds, waits for nobody, and tells by its code why something was lost.
CODE = """
import os, sys
from scalograph.cli.ending import guard, refusal
answer = guard()
taken = os.open("/dev/null", os.O_RDONLY)
for stream in (sys.stdout, sys.stderr):
    for _ in range(100):
        print("x" * 1000, file=stream)
    stream.flush()
lost = refusal(answer)
sys.exit(taken if lost is None else 100 + lost.errno)
"""


@pytest.mark.parametrize(("streams", "code"), [
    ("", 3), (">&-", 3), ("<&- >&- 2>&-", 3), ("2>/dev/full", 3), (">/dev/full 2>&1", 128), ("| true", 3),
    ("2>&1 >/dev/null | true", 3),
])  # fmt: skip
def test_no_stream_ends_a_program(streams: str, code: int) -> None:
    """No file of ours has the number of a standard stream, and a full disk is told from a reader who has left."""
    script = f'set -o pipefail; "{sys.executable}" -c "$CODE" {streams}'
    done = subprocess.run(["bash", "-c", script], env={**os.environ, "CODE": CODE}, capture_output=True, check=False)
    assert done.returncode == code and b"rror" not in done.stderr
    assert len(done.stdout) == (100_100 if streams in ("", "2>/dev/full") else 0)


def test_a_slow_reader_of_a_pipe_that_does_not_block_gets_all() -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with subprocess.Popen([sys.executable, "-c", CODE], stdout=writer, stderr=subprocess.DEVNULL) as program:
        os.close(writer)
        with os.fdopen(reader, "rb") as stream:
            assert len(stream.read()) == 100_100
    assert program.returncode == 3


ELSEWHERE = """
import os, sys

GONE = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog"}


class Gone:
    def find_spec(self, name, path=None, target=None):
        if name in GONE:
            raise ImportError(f"no {name} here")


sys.meta_path.insert(0, Gone())
for name in GONE:
    sys.modules.pop(name, None)
for name in ("sched_getaffinity", "sched_setaffinity", "geteuid", "getuid", "setsid", "wait4", "fork", "pidfd_open"):
    delattr(os, name)
import scalograph
from scalograph.cli.main import _code

folder = sys.argv[1]
opened = scalograph.open(folder)
assert opened.verdict.sentence and opened.runs().height and opened._repr_html_()
for command in (["report"], ["analyze"], ["export", "--to", f"{folder}/x.csv"], ["export", "--to", f"{folder}/x.svg"]):
    assert _code([command[0], folder, *command[1:]]) == 0, command
assert _code(["compare", folder, folder]) in (0, 8)
assert _code(["gate", folder, "--against", folder]) in (0, 8)
sys.platform = "other"
assert _code(["run", "study.toml"]) == 3
"""


def test_results_are_read_on_any_system(tmp_path: Path) -> None:
    runs = [(configuration, recorded(0.5 + r / 100)) for configuration in CONFIGURATIONS for r in range(3)]
    write_journal(tmp_path / "journal.jsonl", runs)
    done = subprocess.run([sys.executable, "-c", ELSEWHERE, tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.html").exists() and (tmp_path / "x.svg").exists()
    assert "system: other, expected Linux" in done.stderr


@pytest.mark.parametrize("command", ["measure", "run", "study", "find", "load", "doctor", "profile", "reproduce"])
def test_what_runs_is_refused_elsewhere_in_one_line(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert _code([command, "x"]) == 3
    said = capsys.readouterr().err
    assert said.count("\n") == 2 and "expected Linux" in said and "report" in said


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


@pytest.mark.parametrize(("ended", "code"), [
    (session(), Exit.INTERRUPTED), (session(n_made=5, is_hurried=True), Exit.INTERRUPTED),
    (session(n_made=5, number=signal.SIGTERM), Exit.TERMINATED),
])  # fmt: skip
def test_nobody_waits_without_runs_or_in_haste(ended: Session, code: Exit, capsys: pytest.CaptureFixture[str]) -> None:
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


# Where a signal comes: while a module is imported (the first, one of a library), and with the scratch folder made.
EARLY = ("scalograph.run.caller_environment", "scalograph.cli.app", "pydantic", "scalograph.cli.pipeline", "mkdtemp")
_SENDER = """\
import os, signal, sys, tempfile
where, number = os.environ["WHERE"], int(os.environ["NUMBER"])
class Sender:
    def find_spec(self, name, *_):
        if name == where:
            signal.raise_signal(number)
def mkdtemp(*words, made=tempfile.mkdtemp, **more):
    folder = made(*words, **more)
    signal.raise_signal(number)
    return folder
sys.meta_path.insert(0, Sender())
tempfile.mkdtemp = mkdtemp if where == "mkdtemp" else tempfile.mkdtemp
signal.signal(signal.SIGINT, signal.default_int_handler)
from scalograph.cli.main import main
main()
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)])
@pytest.mark.parametrize("where", EARLY)
def test_a_signal_before_the_first_run_leaves_nothing(tmp_path: Path, where: str, number: int, code: int) -> None:
    (tmp_path / "scratch").mkdir()
    env = environment(TMPDIR=str(tmp_path / "scratch"), WHERE=where, NUMBER=str(int(number)))
    argv = [sys.executable, "-c", _SENDER, "measure", "--runs", "1", "--", "true"]
    done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    assert [*(tmp_path / "scratch").iterdir()] == []


@pytest.mark.parametrize("wrong", [SyntaxError("of an import"), RuntimeError("of a library")])
def test_what_a_library_makes_of_a_signal_is_a_signal(wrong: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(_arguments: list[str]) -> int:
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            raise wrong from None
        return 0

    monkeypatch.setattr(ending, "run_guarded", run)
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        assert _code([]) == Exit.TERMINATED
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)])
def test_a_signal_while_an_object_is_cleared_is_not_lost(tmp_path: Path, number: int, code: int) -> None:
    sender = f"""
import signal, time
from scalograph.cli import ending
from scalograph.cli.main import main

class Cleared:
    def __del__(self):
        signal.raise_signal({int(number)})

def run(_arguments):
    Cleared()
    time.sleep(60)

ending.run_guarded = run
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""
    argv = [sys.executable, "-c", sender]
    done = subprocess.run(
        argv, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=50, check=False
    )
    assert (done.returncode, done.stderr) == (code, "")


def test_sigterm_outside_of_a_command_is_no_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    def main(*_: object, **__: object) -> int:
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            return 130  # as typer does
        return 0

    monkeypatch.setattr(ending.app, "main", main)
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        assert _code(["import", "x"]) == Exit.TERMINATED
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@pytest.mark.parametrize(("wrong", "message"), [
    (MemoryError(), "memory: too little"), (OSError(errno.ENOMEM, "x"), "memory: too little"),
    (ImportError(f"x.so: {os.strerror(errno.ENOMEM)}"), "memory: too little"),
    (RuntimeError("can't start new thread"), "no more may start"),
    (BlockingIOError(errno.EAGAIN, "x"), "no more may start"),
])  # fmt: skip
def test_a_limit_of_the_machine_is_one_message(
    wrong: Exception, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> int:
        raise wrong

    monkeypatch.setattr(ending.app, "main", fail)
    assert ending.execute(["check"]) == Exit.HOST
    assert message in capsys.readouterr().err


def test_too_little_memory_is_said_before_anything_is_measured(tmp_path: Path) -> None:
    done = shell("ulimit -v 400000; exec scalograph measure --runs 1 -- true", cwd=tmp_path)
    assert (done.returncode, [*tmp_path.iterdir()]) == (Exit.HOST, []), done.stderr
    assert "memory: at most 390 MiB, expected 512 MiB" in " ".join(done.stderr.split())
