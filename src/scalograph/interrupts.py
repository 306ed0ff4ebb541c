"""Ctrl-C and SIGTERM between two runs: noticed at the next step, so that no line of a journal is torn."""

import signal
import threading
from types import FrameType
from typing import Self

from scalograph.errors import Terminated

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """While it is entered, a signal is kept rather than raised; one that was ignored stays ignored.

    `number` is the first that came, None before.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self._previous: dict[int, object] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            heard = [number for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
            self._previous = {number: signal.signal(number, self._keep) for number in heard}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def _keep(self, number: int, _frame: FrameType | None) -> None:
        if self.number is None:
            self.number = number


def interruption(host: object) -> KeyboardInterrupt:
    """What ended a run that a host was carrying out: SIGTERM, or Ctrl-C."""
    return Terminated() if getattr(host, "signal", None) == signal.SIGTERM else KeyboardInterrupt()
