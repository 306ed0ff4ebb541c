"""A program that makes something before the first run, a compiler say: nothing of it outlives our wait for it."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from scalograph.control.orphans import mark
from scalograph.run.interrupts import Interrupts, interruption

# What was killed has gone by then, unless the kernel holds it.
_DEATH_S = 5.0


def contained(
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
                    argv, env={**environ, **mark()}, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
                )
            )  # fmt: skip
            stack.callback(_end, program)
        if signals.number is not None:
            raise interruption(signals.number)
        out, err = program.communicate(timeout=limit_s)
    return subprocess.CompletedProcess(argv, program.returncode, out, err)


def _end(program: "subprocess.Popen[str]") -> None:
    """Kill the group: its leader may have ended before what it started."""
    with suppress(OSError):
        os.killpg(program.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        program.wait(_DEATH_S)
