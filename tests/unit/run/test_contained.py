"""What a compiler, or a preparing program, started does not outlive it."""

import os
import subprocess
from pathlib import Path

import pytest

from scalograph.errors import HostError
from scalograph.run.build import build
from scalograph.run.interrupts import run_contained
from scalograph.system.stale_processes import MARK, owner_variables
from tests.kit.processes import wait_for_end, write_program
from tests.unit.run.test_build import workload

pytestmark = pytest.mark.guarantee

ENVIRON = {"PATH": "/usr/bin:/bin"}


def test_what_it_left_in_its_group_ends_with_it_or_at_its_limit(tmp_path: Path) -> None:
    done = run_contained(["sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!"], ENVIRON, 10)
    assert done.returncode == 0
    wait_for_end(int(done.stdout))
    with pytest.raises(subprocess.TimeoutExpired):
        run_contained(["sh", "-c", "sleep 60 & echo $! > pid; wait"], ENVIRON, 0.5, tmp_path)
    wait_for_end(int((tmp_path / "pid").read_text()))
    assert run_contained(["sh", "-c", f"echo ${MARK}"], ENVIRON, 10).stdout.strip() == owner_variables()[MARK]


def test_a_signal_ends_a_compiler_and_leaves_no_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hangs = f"sleep 60 & echo $! > {tmp_path}/pid; kill -INT {os.getpid()}; wait"
    write_program(tmp_path / "bin/cc", f'#!/bin/sh\nif [ "$1" = --version ]; then echo fake; exit; fi\n{hangs}\n')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    write_program(tmp_path / "source/main.c", "one")
    with pytest.raises(KeyboardInterrupt):
        build(tmp_path / "source", workload(), (), tmp_path / "builds")
    wait_for_end(int((tmp_path / "pid").read_text()))
    assert not [path for path in (tmp_path / "builds").rglob("*") if path.name == "main"]


def test_a_compiler_that_is_none_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_program(tmp_path / "bin/cc", "\0")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    write_program(tmp_path / "source/main.c", "one")
    with pytest.raises(HostError, match="cc: cannot be started"):
        build(tmp_path / "source", workload(), (), tmp_path / "builds")
