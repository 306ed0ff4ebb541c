"""Standard streams that are closed, full, or without a reader: what is said there goes nowhere, and ends nothing.

A study goes on whoever listens; only at the end is it told that the answer could not be written.
"""

import errno
import io
import os
import select
import sys
from contextlib import suppress
from typing import TextIO

# A reader who has left (`| head`) and a terminal that was closed want nothing more: no failure.
LEFT = (errno.EPIPE, errno.EIO)


class Unfailing(io.FileIO):
    """A stream on which no write fails; `lost` is why what was written did not arrive."""

    lost: OSError | None = None

    def write(self, data: bytes) -> int:  # type: ignore[override]
        """Write what the stream takes, and wait for a reader who is slow."""
        if self.lost is None:
            try:
                while (n := super().write(data)) is None:  # another program has made it non-blocking
                    select.select([], [self], [])
                return n
            except OSError as error:
                self.lost = error
        return len(data)


def guard() -> Unfailing | None:
    """Take the place of the standard streams of this process, where nobody else has.

    Returns:
        That of the answer; None where somebody collects it.
    """
    _open_closed()
    guarded = [_guarded(name, fd) for name, fd in (("stdout", 1), ("stderr", 2))]
    return guarded[0]


def _open_closed() -> None:
    """A closed stream has a number that the next file would get, and with it what others write there."""
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def _guarded(name: str, fd: int) -> Unfailing | None:
    before: TextIO | None = getattr(sys, name)
    if before is not getattr(sys, f"__{name}__"):
        return None
    raw = Unfailing(fd if before is None else before.fileno(), "w", closefd=False)
    encoding, errors = (before.encoding, before.errors) if before else ("utf-8", "backslashreplace")
    lines = name == "stderr" or raw.isatty() or getattr(before, "write_through", False)
    setattr(sys, name, io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors, line_buffering=lines))
    return raw


def refusal(answer: Unfailing | None) -> OSError | None:
    """Return why the answer did not arrive, if somebody wanted it."""
    with suppress(ValueError):
        sys.stdout.flush()
    lost = answer.lost if answer else None
    return None if lost is None or lost.errno in LEFT else lost
