"""What a caller's surroundings lack: a home, descriptors, text; streams that are closed, full or left by a reader."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scalograph.cli.answer_output import short_path
from scalograph.cli.ending import execute
from scalograph.errors import HostError
from scalograph.system.private_dir import cache_folder
from tests.kit.command import environment, machine, shell, study
from tests.kit.results import complete, events_in

ONCE: dict[str, Any] = {"command": '["true", "{n}"]', "runs": 1, "more": "max_reruns = 0\n"}


@pytest.fixture
def nameless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user whom no list names, with nothing in the environment."""

    def unknown(*_: object) -> None:
        raise KeyError

    monkeypatch.setattr("pwd.getpwuid", unknown)
    for name in ("HOME", "USER", "LOGNAME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("nameless")
def test_a_user_without_name_and_home_can_measure_and_is_told_what_to_set_for_a_cache(tmp_path: Path) -> None:
    complete("run", study(tmp_path, **ONCE), "-o", "results", cwd=tmp_path)
    with pytest.raises(HostError, match=r"HOME: not set, .*; set HOME or XDG_CACHE_HOME"):
        cache_folder({})
    assert short_path(tmp_path) == str(tmp_path)


def test_a_removed_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert execute(["study", "--list"]) == 3
    problem = "error: the current folder: was removed, expected one that exists\nhint: cd to another one\n"
    assert capsys.readouterr().err == problem
    monkeypatch.chdir(tmp_path)


def test_arguments_that_are_no_text_or_long_are_shown_escaped_and_cut(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["measure", "--", "echo", "caf\udce9"]) == 2
    said = "error: argument 4: 'caf\\udce9', bytes that are no UTF-8, expected text\nhint: give it another name\n"
    assert capsys.readouterr().err == said
    for arguments in (["x" * 100_000], ["check", "x" * 100_000], ["measure", "--", "x" * 100_000]):
        assert execute(arguments) in (2, 3)
        assert len(capsys.readouterr().err) < 5000


@pytest.mark.parametrize(("name", "code"), [("HOME", 3), ("PATH", 3), ("TMPDIR", 3), ("EDITOR", 0)])
def test_an_environment_that_is_no_text(tmp_path: Path, name: str, code: int) -> None:
    more = {name: os.environ.get(name, str(tmp_path)) + ":/caf\udce9"}
    file = study(tmp_path, **ONCE)
    done = complete("run", file, "-o", "results", cwd=tmp_path, env=more, codes=(code, 5) if code == 0 else (code,))
    assert (f"environment: {name}: " in done.stderr) is (code != 0)


def test_a_script_may_be_an_argument(tmp_path: Path) -> None:
    script = f"true {{threads}} # {'x' * 60_000}"
    done = complete("measure", "--threads", 1, "--runs", 1, "--max-reruns", 0, "--", "sh", "-c", script, cwd=tmp_path)
    assert len(done.stdout + done.stderr) < 5000
    (again,) = [line for line in done.stdout.splitlines() if line.startswith("again")]
    assert again.startswith("again   scalograph run ") and again.endswith("study.toml")


ALONE = """
import sys
from pathlib import Path
from scalograph.cli.main import main
from scalograph.control.store import Store
here = Path.cwd()
Store.locate = classmethod(lambda _: Store(here / "state", None, shared=here / "lock"))
main()
"""
FEW_FILES = "error: open files: at most {}, expected room for 26 at least\nhint: raise the limit: ulimit -n 1024\n"


@pytest.mark.parametrize(("limit", "code"), [(26, {0, 5}), (25, {3}), (7, {3})])
def test_few_descriptors_are_enough_or_told_in_one_message(tmp_path: Path, limit: int, code: set[int]) -> None:
    file = study(tmp_path, **ONCE)
    done = shell(f'ulimit -n {limit}; exec "$@"', sys.executable, "-c", ALONE, "run", file, cwd=tmp_path)
    assert done.returncode in code, done.stderr
    assert "Traceback" not in done.stderr
    assert code != {3} or done.stderr == FEW_FILES.format(limit)


def test_ctrl_c_during_an_import_ends_in_order(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text(f"import os\nos.kill(os.getpid(), {int(signal.SIGINT)})\nimport time\n")
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    argv = [sys.executable, "-m", "scalograph", "--help"]
    done = subprocess.run(argv, env=environment(PYTHONPATH=path), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_many_copies_may_write_much_to_stderr(tmp_path: Path) -> None:
    """A megabyte of nothing, which takes six bytes for each in a journal."""
    file = study(tmp_path, '["sh", "-c", "head -c 76000 /dev/zero >&2", "{n}"]\ncopies = 70', runs=1)
    complete("run", file, "-o", "results", cwd=tmp_path)


def unheard(folder: Path, *arguments: str | Path, stderr: bool = False) -> subprocess.CompletedProcess[str]:
    """A command whose stdout, or stderr, nobody reads; the other one is told."""
    reader, writer = os.pipe()
    os.close(reader)
    streams = {"stdout": subprocess.PIPE, "stderr": writer} if stderr else {"stdout": writer, "stderr": subprocess.PIPE}
    argv = ["scalograph", *map(str, arguments)]
    try:
        return subprocess.run(argv, cwd=folder, env=environment(), text=True, check=False, **streams)  # type: ignore[call-overload, no-any-return]
    finally:
        os.close(writer)


@machine
def test_a_study_whose_streams_nobody_reads_or_are_closed_and_full_is_whole(tmp_path: Path) -> None:
    study(tmp_path, '["true", "{n}"]')
    assert unheard(tmp_path, "run", "study.toml", "-o", "unread", stderr=True).returncode in (0, 5)
    closed = shell("exec scalograph run study.toml -o closed <&- >/dev/full 2>&-", cwd=tmp_path)
    assert closed.returncode in (3, 5)
    for results in (tmp_path / "unread", tmp_path / "closed"):
        found = events_in(results)
        assert found[0]["event"] == "study" and found[-1]["reason"] == "complete"
        assert (results / "findings.json").exists()


@pytest.mark.parametrize("arguments", [("doctor", "--json"), ("doctor",), ("study", "thread-scaling", "--show")])
def test_unread_results_are_no_error_and_a_complaint_keeps_its_code(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = unheard(tmp_path, *arguments)
    assert done.returncode == 0, done.stderr
    assert "rror" not in done.stderr
    assert unheard(tmp_path, "check", "nothing.toml", stderr=True).returncode == 2


# A command whose streams are closed or full, its exit code, and what its error says, where it has one.
STREAMS = [
    ("--version >/dev/full", 3, ""),
    ("study --list >/dev/full", 3, "No space left"),
    ("--help >&-", 0, None),
    ("chek 2>&-", 2, None),
]


@pytest.mark.parametrize(("line", "code", "told"), STREAMS)
def test_closed_or_full_streams_leave_the_code_as_it_is(tmp_path: Path, line: str, code: int, told: str | None) -> None:
    done = shell(f"exec scalograph {line}", cwd=tmp_path)
    n_lines = 0 if told is None else 2
    assert (done.returncode, done.stderr.count("\n"), "Traceback" in done.stderr) == (code, n_lines, False)
    assert (told or "") in done.stderr
