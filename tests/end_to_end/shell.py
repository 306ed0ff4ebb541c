"""The command as a user has it: a process, its exit code, what it printed."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

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


def degraded(folder: Path) -> dict[str, str]:
    """An environment in which the degraded probe measures: always there, and quick to start."""
    program = folder / "degraded-probe"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m scalograph.run.hosts.python_probe "$@"\n')
    program.chmod(0o755)
    return {"SCALOGRAPH_PROBE": str(program)}
