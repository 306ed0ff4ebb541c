"""Ctrl-C, SIGTERM and SIGHUP: an end in order. Between two runs they are noticed at the next step: no line is torn."""

import signal
import threading
from types import FrameType
from typing import NoReturn, Self

from scalograph.errors import Terminated

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def heard() -> list[int]:
    """The signals that end us: one that was ignored, as SIGHUP is under nohup, stays ignored."""
    return [number for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN]


def meaning(number: int) -> int:
    """A closed terminal or a dropped connection (SIGHUP) ends us as SIGTERM does, and with its exit code."""
    return signal.SIGTERM if number == signal.SIGHUP else number


def end_in_order() -> None:
    """From here on SIGTERM and SIGHUP raise Terminated, as Ctrl-C raises KeyboardInterrupt: settings are put back."""
    for number in heard():
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
            self._previous = {number: signal.signal(number, self._heard) for number in heard()}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        _entered.remove(self)

    def _heard(self, number: int, _frame: FrameType | None) -> None:
        self.keep(number)

    def keep(self, number: int) -> None:
        """Remember a signal, if it is the first."""
        if self.number is None:
            self.number = meaning(number)


# Handlers belong to the process, and so does who has set them.
_entered: list[Interrupts] = []


def kept() -> int | None:
    """What the signal means that is kept now: whatever takes long need not begin. None where there is none."""
    return _entered[-1].number if _entered else None


def note(number: int) -> None:
    """Remember a signal that somebody else has heard and acted on while `Interrupts` is entered."""
    if _entered:
        _entered[-1].keep(number)


def interruption(number: int | None) -> KeyboardInterrupt:
    """What is to be raised for a signal: SIGTERM, or Ctrl-C."""
    return Terminated() if number == signal.SIGTERM else KeyboardInterrupt()
