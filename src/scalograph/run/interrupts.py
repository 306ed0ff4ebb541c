"""Handle Ctrl-C, SIGTERM and SIGHUP in order: between runs they take effect at the next step, so no line is torn."""

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self

from scalograph.errors import HostError, Terminated, handled_signals
from scalograph.system.stale_processes import owner_variables


def normalize_signal(number: int) -> int:
    """Map SIGHUP (closed terminal, dropped connection) to SIGTERM: same end, same exit code."""
    return signal.SIGTERM if number == signal.SIGHUP else number


class Interrupts:
    """Holds signals back while it is entered; ignored ones stay ignored.

    Attributes:
        number: the first signal that came, normalized; None before.
        n_signals: how many came: who sends a second one does not want to wait.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self.n_signals = 0
        self._previous: dict[int, object] = {}

    def __enter__(self) -> Self:
        _entered.append(self)
        if threading.current_thread() is threading.main_thread():
            self._previous = {
                number: signal.signal(number, lambda n, _: self.record(n)) for number in handled_signals()
            }
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        _entered.remove(self)

    def record(self, number: int) -> None:
        """Count a signal, and remember it if it is the first."""
        self.n_signals += 1
        if self.number is None:
            self.number = normalize_signal(number)


# Handlers belong to the process, and so does who has set them.
_entered: list[Interrupts] = []


def pending_signal() -> int | None:
    """Return the signal that is held back now; None if there is none. Long work need not begin then."""
    return _entered[-1].number if _entered else None


def record_signal(number: int) -> None:
    """Remember a signal that somebody else has handled while `Interrupts` is entered."""
    if _entered:
        _entered[-1].record(number)


def make_interrupt(number: int | None) -> KeyboardInterrupt:
    """Return the exception for a signal: Terminated for SIGTERM, else KeyboardInterrupt."""
    return Terminated() if number == signal.SIGTERM else KeyboardInterrupt()


# What finds a compiler and what it fetches; nothing that changes what it makes without changing its version.
_PASSED_ON = (
    *("PATH", "HOME", "TMPDIR", "http_proxy", "https_proxy", "no_proxy"),
    *("CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"),
)


def tool_environment() -> dict[str, str]:
    """Return the variables of a program that makes something: the result depends on nothing else of the caller's."""
    return {name: os.environ[name] for name in _PASSED_ON if name in os.environ} | {"LC_ALL": "C.UTF-8"}


# What was killed has gone by then, unless the kernel holds it.
_DEATH_S = 5.0


def run_contained(
    argv: Sequence[str], environ: Mapping[str, str], limit_s: float, folder: Path | None = None, text: str = ""
) -> "subprocess.CompletedProcess[str]":
    """Run a program to its end in a process group of its own, and return its result with output.

    The group ends with it, with a signal to us, and at the limit; if we are killed, the next session finds its mark,
    which is added to the environment. The working folder is ours if None; `text` is what the program reads.

    Raises TimeoutExpired: it took longer; OSError: it cannot be started.
    """
    with ExitStack() as stack:
        with Interrupts() as signals:  # one that came in between would leave what nobody knows of
            program = stack.enter_context(
                subprocess.Popen(
                    argv, env={**environ, **owner_variables()}, cwd=folder, stderr=subprocess.PIPE,
                    stdin=subprocess.PIPE if text else subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                    encoding="utf-8", errors="replace", start_new_session=True,
                )
            )  # fmt: skip
            stack.callback(_kill_group, program)
        if signals.number is not None:
            raise make_interrupt(signals.number)
        out, err = program.communicate(text or None, timeout=limit_s)
    return subprocess.CompletedProcess(argv, program.returncode, out, err)


def run_or_refuse(
    argv: Sequence[str], environ: Mapping[str, str], limit_s: float, folder: Path | None,
    late: tuple[str, str, str, str], absent: tuple[str, str, str, str], text: str = "",
) -> "subprocess.CompletedProcess[str]":  # fmt: skip
    """Run a program as `run_contained` does, with its failures for people: where, problem, what is expected, the fix.

    Raises HostError: it took longer (`late`), or cannot be started (`absent`, with the kernel's reason).
    """
    try:
        return run_contained(argv, environ, limit_s, folder, text)
    except subprocess.TimeoutExpired as error:
        raise HostError(*late) from error
    except OSError as error:
        where, problem, expected, fix = absent
        raise HostError(where, f"{problem}: {error.strerror}", expected, fix) from error


def _kill_group(program: "subprocess.Popen[str]") -> None:
    """Kill the group: its leader may have ended before what it started."""
    with suppress(OSError):
        os.killpg(program.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        program.wait(_DEATH_S)
