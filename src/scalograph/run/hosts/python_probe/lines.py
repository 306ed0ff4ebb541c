"""The lines of protocol/workload.md: parsed strictly, kept within limits."""

import math
import re
from dataclasses import dataclass, field

_MAX_LINE = 512
_MAX_NAMES = 256
_INT64 = 2**63 - 1  # beyond it, no reader of a record has a place for a number
_ITERATION = re.compile(rb"iteration ([0-9]{1,20}) ([0-9]{1,20}) ([0-9]{1,20}) ([0-9]{1,20})(?: ([0-9]{1,20}))?")
_PHASE = re.compile(rb"phase ([a-z][a-z0-9_]{0,63}) ([0-9]{1,20}) ([0-9]{1,20})")
_HISTOGRAM = re.compile(rb"histogram ([a-z][a-z0-9_]{0,63}) ([a-z][a-z0-9_]{0,63})((?: [0-9]{1,20}:[0-9]{1,20})+)")
_LAST_BUCKET = 7295
_VALUE = re.compile(rb"value ([a-z][a-z0-9_]{0,63}) ([-+]?[0-9][0-9.eE+-]*|[-+]?\.[0-9][0-9eE+-]*)")

_LIMITS = {
    "iterations": 1_000_000,
    "numbers": 100_000,
    "phases": 64,
    "histograms": 256,
    "pairs of a histogram": 1_000_000,
}

Iteration = tuple[int, int, int, int, int | None]


class BrokenLineError(Exception):
    """The reason for status `protocol`."""


@dataclass
class Limits:
    """What is left of the limits, over all copies of a run."""

    left: dict[str, int] = field(default_factory=lambda: dict(_LIMITS))
    names: set[str] = field(default_factory=set)

    def take(self, what: str, n: int = 1) -> None:
        """Take `n` of what is left."""
        self.left[what] -= n
        if self.left[what] < 0:
            raise BrokenLineError(f"more {what} than protocol/workload.md allows")

    def name(self, name: str) -> None:
        """Count a name once, however many copies use it."""
        self.names.add(name)
        if len(self.names) > _MAX_NAMES:
            raise BrokenLineError("more names than protocol/workload.md allows")


@dataclass
class Speech:
    """What one copy has said so far."""

    ready: bool = False
    spoke: bool = False
    iterations: list[Iteration] = field(default_factory=list)
    values: dict[str, list[int | float]] = field(default_factory=dict)
    phases: list[tuple[str, int, int]] = field(default_factory=list)
    histograms: dict[tuple[str, str], dict[int, int]] = field(default_factory=dict)  # counts by bucket
    _partial: bytes = b""

    def feed(self, data: bytes, limits: Limits) -> None:
        """Take bytes as they come."""
        *lines, self._partial = (self._partial + data).split(b"\n")
        for line in lines:
            self._line(_short(line), limits)
        _short(self._partial)

    def finish(self) -> None:
        """Check, at the end of a copy that was not killed, that nothing is left without its newline."""
        if self._partial:
            raise BrokenLineError(f"a line without its newline: {_quote(self._partial)}")

    def _line(self, line: bytes, limits: Limits) -> None:
        self.spoke = True
        if line == b"ready" and not self.ready:
            self.ready = True
        elif iteration := _iteration(line):
            limits.take("iterations")
            self.iterations.append(iteration)
        elif value := _value(line):
            limits.take("numbers")
            limits.name(value[0])
            self.values.setdefault(value[0], []).append(value[1])
        elif phase := _phase(line):
            limits.take("phases")
            self.phases.append(phase)
        elif found := _histogram(line):
            self._count(*found, limits)
        else:
            why = "ready written twice" if line == b"ready" else f"a line that follows no form: {_quote(line)}"
            raise BrokenLineError(why)

    def _count(self, of: tuple[str, str], pairs: list[tuple[int, int]], limits: Limits) -> None:
        if of not in self.histograms:
            limits.take("histograms")
        limits.take("pairs of a histogram", len(pairs))
        counts = self.histograms.setdefault(of, {})
        for index, count in pairs:
            counts[index] = counts.get(index, 0) + count
            if counts[index] > _INT64:
                raise BrokenLineError("more counts than protocol/workload.md allows")


def _short(line: bytes) -> bytes:
    if len(line) >= _MAX_LINE:
        raise BrokenLineError(f"a line longer than {_MAX_LINE} bytes: {_quote(line)}")
    return line


def _iteration(line: bytes) -> Iteration | None:
    if not (match := _ITERATION.fullmatch(line)):
        return None
    index, start, end, work = (int(group) for group in match.groups()[:4])
    cpu = None if match[5] is None else int(match[5])
    right = start <= end and max(index, start, end, work, cpu or 0) <= _INT64
    return (index, start, end, work, cpu) if right else None


def _phase(line: bytes) -> tuple[str, int, int] | None:
    if not (match := _PHASE.fullmatch(line)):
        return None
    start, end = int(match[2]), int(match[3])
    return (match[1].decode(), start, end) if start <= end <= _INT64 else None


def _histogram(line: bytes) -> tuple[tuple[str, str], list[tuple[int, int]]] | None:
    if not (match := _HISTOGRAM.fullmatch(line)):
        return None
    words = (word.split(b":") for word in match[3].split())
    pairs = [(int(index), int(count)) for index, count in words]
    right = all(index <= _LAST_BUCKET and count <= _INT64 for index, count in pairs)
    return ((match[1].decode(), match[2].decode()), pairs) if right else None


def _value(line: bytes) -> tuple[str, int | float] | None:
    if not (match := _VALUE.fullmatch(line)):
        return None
    name, word = match[1].decode(), match[2].decode()
    try:
        if word.lstrip("+-").isdecimal() and abs(int(word)) <= _INT64:
            return name, int(word)
        return (name, float(word)) if math.isfinite(float(word)) else None
    except ValueError:
        return None


def _quote(line: bytes) -> str:
    """Control characters must not reach a terminal through a reason."""
    return ascii(line[:120].decode(errors="replace"))
