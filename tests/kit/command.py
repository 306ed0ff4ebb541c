"""The command as a user has it: its exit code and what it printed, of a process or in this one."""

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from scalograph.cli.main import main
from scalograph.control.store import Store

# One worker takes all that holds the machine's lock, changes its settings, or asserts what was measured on it.
machine = pytest.mark.xdist_group("machine")
# For whoever measures here meanwhile.
LONG_S = 300.0
UNLOCKED = Store(None, None)
STUDY = """\
version = 1
name = "small"
title = "A small study"
work = "total"
seed = 1

[workload]
command = {command}

[factors.n]
levels = "1,2"

[baseline]
n = 1

[protocol]
runs = {runs}
timeout = "{timeout}"
"""


def study(folder: Path, command: str, runs: int = 2, timeout: str = "10s", more: str = "") -> Path:
    """A study file with this command (a TOML list)."""
    file = folder / "study.toml"
    file.write_text(STUDY.format(command=command, runs=runs, timeout=timeout) + more)
    return file


def environment(**more: str) -> dict[str, str]:
    """The caller's, with the interpreter's programs first on PATH."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **more}


def scalograph(
    *arguments: object, cwd: Path, env: Mapping[str, str] | None = None, timeout: float = 120
) -> subprocess.CompletedProcess[str]:
    """Run `scalograph ARGUMENTS`."""
    return subprocess.run(
        ["scalograph", *map(str, arguments)], cwd=cwd, env=environment(**(env or {})), capture_output=True, text=True,
        timeout=timeout, check=False,
    )  # fmt: skip


def shell(
    script: str, *words: object, cwd: Path, env: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a script of bash, in which `scalograph` is a command, with words as its arguments."""
    argv = ["bash", "-c", script, "bash", *map(str, words)]
    return subprocess.run(
        argv, cwd=cwd, env=environment(**(env or {})), capture_output=True, text=True, timeout=120, check=False
    )


def in_process(
    *arguments: object, cwd: Path, env: Mapping[str, str] | None = None, store: Store = UNLOCKED
) -> subprocess.CompletedProcess[str]:
    """Run `scalograph ARGUMENTS` here: it answers the same, without the second in which a process starts.

    It neither holds the machine nor looks for long whether it is quiet: not for tests of what is measured on it.
    """
    out, err = io.StringIO(), io.StringIO()
    argv = ["scalograph", *map(str, arguments)]
    with pytest.MonkeyPatch.context() as patch, _handlers(), redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", argv)
        patch.setattr(Store, "locate", lambda: store)
        patch.setattr("scalograph.system.quiet.SAMPLE_S", 0.01)
        patch.setattr("scalograph.system.quiet.FIRST_SAMPLE_S", 0.01)
        patch.chdir(cwd)
        for name, value in environment(**(env or {})).items():
            patch.setenv(name, value)
        with pytest.raises(SystemExit) as ended:
            main()
    return subprocess.CompletedProcess(argv, int(ended.value.code or 0), out.getvalue(), err.getvalue())


@contextmanager
def _handlers() -> Iterator[None]:
    """A command that ends by signals sets handlers; ours come back."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def degraded(folder: Path) -> dict[str, str]:
    """An environment in which the degraded probe measures: it sees no disturbance, so that all runs count.

    Each of its runs takes ten times the CPU time of the native one's.
    """
    return _probe(folder / "degraded-probe", "-m scalograph.run.hosts.python_probe")


def simulated(folder: Path, walls: Mapping[str, float], noise_percent: float = 1) -> dict[str, str]:
    """An environment in which no time passes: of each command line, the seconds that it would take are given."""
    table = {command: {"wall_ns": seconds * 1e9} for command, seconds in walls.items()}
    model = folder / "model.json"
    model.write_text(json.dumps({"seed": 1, "noise_percent": noise_percent, "table": table}))
    return _probe(folder / "simulated-probe", f"-P '{Path(__file__).with_name('simulated_probe.py')}' '{model}'")


def _probe(program: Path, started: str) -> dict[str, str]:
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {started} "$@"\n')
    program.chmod(0o755)
    return {"SCALOGRAPH_PROBE": str(program)}
