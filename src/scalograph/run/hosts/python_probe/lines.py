"""The lines of protocol/workload.md: parsed strictly, kept within limits."""

import math
import re
from dataclasses import dataclass, field

MAX_LINE = 512
MAX_ITERATIONS = 1_000_000
MAX_NAMES = 256
MAX_NUMBERS = 100_000
_INT64 = 2**63 - 1  # beyond it, no reader of a record has a place for a number

_ITERATION = re.compile(rb"iteration ([0-9]{1,20}) ([0-9]{1,20}) ([0-9]{1,20}) ([0-9]{1,20})(?: ([0-9]{1,20}))?")
_VALUE = re.compile(rb"value ([a-z][a-z0-9_]{0,63}) ([-+]?[0-9][0-9.eE+-]*|[-+]?\.[0-9][0-9eE+-]*)")

Iteration = tuple[int, int, int, int, int | None]


class BrokenLineError(Exception):
    """The reason for status `protocol`."""


@dataclass
class Budget:
    """What is left of the limits, over all copies of a run."""

    left: dict[str, int] = field(default_factory=lambda: {"iterations": MAX_ITERATIONS, "numbers": MAX_NUMBERS})
    names: set[str] = field(default_factory=set)

    def take(self, what: str) -> None:
        """One less is left."""
        self.left[what] -= 1
        if self.left[what] < 0:
            raise BrokenLineError(f"more {what} than protocol/workload.md allows")

    def name(self, name: str) -> None:
        """A name counts once, however many copies use it."""
        self.names.add(name)
        if len(self.names) > MAX_NAMES:
            raise BrokenLineError("more names than protocol/workload.md allows")


@dataclass
class Speech:
    """What one copy has said so far."""

    ready: bool = False
    spoke: bool = False
    iterations: list[Iteration] = field(default_factory=list)
    values: dict[str, list[int | float]] = field(default_factory=dict)
    _partial: bytes = b""

    def feed(self, data: bytes, budget: Budget) -> None:
        """Takes bytes as they come."""
        *lines, self._partial = (self._partial + data).split(b"\n")
        for line in lines:
            self._line(line, budget)
        self._short_enough(self._partial)

    def finish(self) -> None:
        """At the end of a copy that was not killed, nothing may be left without its newline."""
        if self._partial:
            raise BrokenLineError(f"a line without its newline: {_quote(self._partial)}")

    def _short_enough(self, line: bytes) -> None:
        if len(line) >= MAX_LINE:
            raise BrokenLineError(f"a line longer than {MAX_LINE} bytes: {_quote(line)}")

    def _line(self, line: bytes, budget: Budget) -> None:
        self._short_enough(line)
        self.spoke = True
        if line == b"ready" and not self.ready:
            self.ready = True
        elif iteration := _iteration(line):
            budget.take("iterations")
            self.iterations.append(iteration)
        elif value := _value(line):
            name, number = value
            budget.take("numbers")
            budget.name(name)
            self.values.setdefault(name, []).append(number)
        else:
            raise BrokenLineError(
                "ready written twice" if line == b"ready" else f"a line that follows no form: {_quote(line)}"
            )


def _iteration(line: bytes) -> Iteration | None:
    match = _ITERATION.fullmatch(line)
    if not match:
        return None
    index, start, end, work = (int(group) for group in match.groups()[:4])
    cpu = None if match[5] is None else int(match[5])
    right = start <= end and max(index, start, end, work, cpu or 0) <= _INT64
    return (index, start, end, work, cpu) if right else None


def _value(line: bytes) -> tuple[str, int | float] | None:
    match = _VALUE.fullmatch(line)
    if not match:
        return None
    name, word = match[1].decode(), match[2].decode()
    try:
        number = int(word)
        return name, number if -(2**63) < number < 2**63 else float(word)
    except ValueError:
        pass
    try:
        figure = float(word)
    except ValueError:
        return None
    return (name, figure) if math.isfinite(figure) else None


def _quote(line: bytes) -> str:
    """Control characters must not reach a terminal through a reason."""
    return ascii(line[:120].decode(errors="replace"))
