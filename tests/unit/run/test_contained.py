"""What a compiler or a preparing program started does not outlive it; what ends us in order, and what was ignored."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from scalograph.errors import SIGNALS, HostError, Terminated, raise_on_signals
from scalograph.run.build import build
from scalograph.run.interrupts import Interrupts, run_contained
from scalograph.system.stale_processes import MARK, owner_variables
from tests.kit.processes import wait_for_end, write_program
from tests.kit.refusals import refuses
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


def test_a_signal_ends_a_compiler_and_one_that_is_none_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hangs = f"sleep 60 & echo $! > {tmp_path}/pid; kill -INT {os.getpid()}; wait"
    write_program(tmp_path / "bin/cc", f'#!/bin/sh\nif [ "$1" = --version ]; then echo fake; exit; fi\n{hangs}\n')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    write_program(tmp_path / "source/main.c", "one")
    with pytest.raises(KeyboardInterrupt):
        build(tmp_path / "source", workload(), (), tmp_path / "builds")
    wait_for_end(int((tmp_path / "pid").read_text()))
    assert not [path for path in (tmp_path / "builds").rglob("*") if path.name == "main"]
    write_program(tmp_path / "bin/cc", "\0")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    write_program(tmp_path / "source/main.c", "one")
    refuses(HostError, "cc: cannot be started", build, tmp_path / "source", workload(), (), tmp_path / "builds")


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:  # whatever the shell left
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_would_kill_us_lets_us_put_settings_back(number: signal.Signals) -> None:
    raise_on_signals()
    with pytest.raises(Terminated):
        signal.raise_signal(number)


def test_a_second_sighup_breaks_nothing_off_and_under_nohup_we_go_on() -> None:
    raise_on_signals()
    with pytest.raises(Terminated):
        signal.raise_signal(signal.SIGHUP)
    signal.raise_signal(signal.SIGHUP)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    raise_on_signals()
    signal.raise_signal(signal.SIGHUP)
    with Interrupts() as interrupts:
        signal.raise_signal(signal.SIGHUP)
    assert interrupts.number is None and signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
