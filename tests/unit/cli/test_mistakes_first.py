"""Mistakes: each has its code and words (refusals.toml), and waits for no machine; a failed command is quoted."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from socket import AF_UNIX, socket

import pytest

from scalograph.control.store import CHANGES, Store
from scalograph.study.reader_names import READERS
from scalograph.system.lock import try_lock
from scalograph.system.private_dir import PrivateDir
from tests.kit import ROOT
from tests.kit.command import degraded, in_process, study
from tests.kit.refusals import Refusal, check, rows
from tests.unit.cli.test_compare import journal

LOAD = ("load", "--serve", "./no-such", "--get", "http://127.0.0.1:{port}/")
SEARCH = ("find", "effective-cpus", "--", "./no-such")


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[Store]:
    """A machine that another session holds."""
    store = Store(tmp_path / "state", None)
    with PrivateDir(tmp_path / "state") as folder:
        lock = try_lock(folder)
        assert lock is not None
        yield store
        os.close(lock)


@pytest.mark.parametrize(("line", "message"), [
    (("measure", "--", "./no-such"), "error: command: ./no-such is not an executable file\n"),
    (("measure", "--", "no-such-program"), 'error: command: no program "no-such-program" on PATH\n'),
    (("measure", "--prepare", "no-such", "--", "true"), 'error: --prepare: no program "no-such" on PATH\n'),
    (("measure", "--cpus", "1:4096", "--", "true"), "error: --cpus 1:4096 needs 4096 CPUs; this host has "),
    (
        ("ab", "--a", "./old", "--b", "./new", "--", "{version}"),
        "error: command: ./old is not an executable file\n",
    ),
    (SEARCH, "error: command: ./no-such is not an executable file\n"),
    (LOAD, "error: --serve: ./no-such is not an executable file\n"),
    (("run", "study.toml"), 'error: workload: no program "no-such" on PATH\n'),
])  # fmt: skip
def test_a_mistake_is_not_waited_for(tmp_path: Path, busy: Store, line: tuple[str, ...], message: str) -> None:
    study(tmp_path, '["no-such", "{n}"]')
    n = 2 if line[0] == "find" else 1
    done = in_process(*line[:n], "--wait-lock", "10min", *line[n:], cwd=tmp_path, store=busy)
    assert message in done.stderr and "waiting for" not in done.stderr
    assert done.returncode in (2, 3) and not (tmp_path / "scalograph-results").exists()


def test_without_a_mistake_or_where_it_was_changed_the_machine_is_waited_for(tmp_path: Path, busy: Store) -> None:
    done = in_process("measure", "--wait-lock", "0.1s", "--", "true", cwd=tmp_path, store=busy)
    assert done.returncode == 3 and f"process {os.getpid()} measures on this machine" in done.stderr
    (tmp_path / "state" / CHANGES).write_text("{}")
    done = in_process("measure", "--wait-lock", "0.1s", "--cpus", "4096", "--", "true", cwd=tmp_path, store=busy)
    assert done.returncode == 3 and "measures on this machine" in done.stderr and "4096" not in done.stderr


@pytest.mark.parametrize("line", [
    ("measure", "--runs", "1", "--", "sh", "-c", "echo first >&2; echo boom >&2; exit 1"),
    ("measure", "--runs", "1", "--threads", "1,2", "--", "sh", "-c", "echo boom {threads} >&2; exit 1"),
    ("ab", "--a", "x", "--b", "y", "--pairs", "9", "--", "sh", "-c", "echo boom {version} >&2; exit 1"),
    ("find", "effective-cpus", "--max-runs", "6", "--", "sh", "-c", "echo boom >&2; exit 1"),
])  # fmt: skip
def test_a_command_that_fails_is_quoted(tmp_path: Path, line: tuple[str, ...]) -> None:
    done = in_process(*line, cwd=tmp_path, env=degraded(tmp_path))
    assert done.returncode == 4, done.stderr
    assert "exited with 1" in done.stdout and "boom" in done.stdout


@pytest.mark.parametrize("refusal", rows(ROOT / "tests/unit/cli/refusals.toml"))
def test_it_is_refused(tmp_path: Path, refusal: Refusal) -> None:
    if "odd.json" in refusal.files:
        journal(tmp_path, "a")
    check(refusal, tmp_path)


# P is a pipe without a writer, and "held" a folder in which each file of a study and of its results is one.
NEVER_READ = [
    *(f"import {name} P" for name in READERS if name != "criterion"), "import hyperfine x.json --beside P",
    "fit P", "fit --law complexity P", "fit socket", "fit /dev/zero", "compare P x.json", "compare hyperfine:P x.json",
    "gate P --against x.json", "gate x.json --against csv:P", "gate x.json --against x.json --summary P",
    "analyze P", "analyze P.jsonl", "analyze P.jsonl.gz", "analyze held", "report held", "export held --to x.csv",
    "compare held held", "profile held --study P", "history held", "check P", "check held", "run P", "run held",
    "run held --resume -o held", "plan P --no-host", "plan held --no-host", "reproduce --catalogue P --list",
    "measure --input P --runs 1 -- cat",
]  # fmt: skip
HELD = ("study.toml", "journal.jsonl", "findings.json", "reproduction.json", "profile.json")


@pytest.mark.parametrize("line", NEVER_READ)
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, line: str) -> None:
    (tmp_path / "held").mkdir()
    for name in ("P", "P.jsonl", "P.jsonl.gz", *(f"held/{name}" for name in HELD)):
        os.mkfifo(tmp_path / name)
    (tmp_path / "x.json").write_text('{"results": [{"command": "x", "times": [1.0, 1.1, 1.2, 1.0, 1.1]}]}')
    with socket(AF_UNIX) as listening, pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)  # a longer path has no room
        listening.bind("socket")
        previous = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("it waits for a writer"))
        signal.alarm(60)  # for a fault that would keep the test for ever
        try:
            done = in_process(*line.split(), cwd=tmp_path, env=degraded(tmp_path))
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, previous)
    assert done.returncode in (2, 3, 6) and done.stderr.startswith("error: ") and "hint: " in done.stderr, done.stderr
