"""Ctrl-C, SIGTERM and SIGHUP: an end in order. Between two runs they are noticed at the next step: no line is torn."""

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn, Self

from scalograph.errors import Terminated
from scalograph.system.stale_processes import owner_variables

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def handled_signals() -> list[int]:
    """The signals that end us: one that was ignored, as SIGHUP is under nohup, stays ignored."""
    return [number for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN]


def normalize_signal(number: int) -> int:
    """A closed terminal or a dropped connection (SIGHUP) ends us as SIGTERM does, and with its exit code."""
    return signal.SIGTERM if number == signal.SIGHUP else number


def raise_on_signals() -> None:
    """From here on SIGTERM and SIGHUP raise Terminated, as Ctrl-C raises KeyboardInterrupt: settings are put back."""
    for number in handled_signals():
        if number != signal.SIGINT:
            signal.signal(number, _terminate)


def _terminate(number: int, _frame: FrameType | None) -> NoReturn:
    if number == signal.SIGHUP:
        # The kernel and the shell may both send it: the second one would break off the putting back.
        signal.signal(number, signal.SIG_IGN)
    raise Terminated


class Interrupts:
    """While it is entered, a signal is kept rather than raised; one that was ignored stays ignored.

    `number` is what the first that came means, None before.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self._previous: dict[int, object] = {}

    def __enter__(self) -> Self:
        _entered.append(self)
        if threading.current_thread() is threading.main_thread():
            self._previous = {number: signal.signal(number, self._handle) for number in handled_signals()}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        _entered.remove(self)

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        self.record(number)

    def record(self, number: int) -> None:
        """Remember a signal, if it is the first."""
        if self.number is None:
            self.number = normalize_signal(number)


# Handlers belong to the process, and so does who has set them.
_entered: list[Interrupts] = []


def pending_signal() -> int | None:
    """What the signal means that is kept now: whatever takes long need not begin. None where there is none."""
    return _entered[-1].number if _entered else None


def record_signal(number: int) -> None:
    """Remember a signal that somebody else has heard and acted on while `Interrupts` is entered."""
    if _entered:
        _entered[-1].record(number)


def make_interrupt(number: int | None) -> KeyboardInterrupt:
    """What is to be raised for a signal: SIGTERM, or Ctrl-C."""
    return Terminated() if number == signal.SIGTERM else KeyboardInterrupt()


# What was killed has gone by then, unless the kernel holds it.
_DEATH_S = 5.0


def run_contained(
    argv: Sequence[str], environ: Mapping[str, str], limit_s: float, folder: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    """Carry out a program, and return what it came to and said.

    It has a group of its own, which ends with it, with a signal to us, and with the limit of time; if we are killed,
    the next start finds by their mark what is left.

    Args:
        argv: program and arguments.
        environ: all of its environment, to which the mark is added.
        limit_s: how long it may take.
        folder: where it works; ours if None.

    Raises:
        TimeoutExpired: it took longer.
        OSError: it cannot be started.
    """
    with ExitStack() as stack:
        with Interrupts() as signals:  # one that came in between would leave what nobody knows of
            program = stack.enter_context(
                subprocess.Popen(
                    argv, env={**environ, **owner_variables()}, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
                )
            )  # fmt: skip
            stack.callback(_kill_group, program)
        if signals.number is not None:
            raise make_interrupt(signals.number)
        out, err = program.communicate(timeout=limit_s)
    return subprocess.CompletedProcess(argv, program.returncode, out, err)


def _kill_group(program: "subprocess.Popen[str]") -> None:
    """Kill the group: its leader may have ended before what it started."""
    with suppress(OSError):
        os.killpg(program.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        program.wait(_DEATH_S)
