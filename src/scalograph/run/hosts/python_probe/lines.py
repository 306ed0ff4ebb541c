"""Parse the lines of protocol/workload.md, strictly and within limits."""

import math
import re
from dataclasses import dataclass, field

_MAX_LINE = 512
_MAX_NAMES = 256
_LAST_BUCKET = 7295
_INT64 = 2**63 - 1  # beyond it, no reader of a record has a place for a number
_PARTS = {"NAME": "[a-z][a-z0-9_]{0,63}", "INT": "[0-9]{1,20}", "REAL": r"[-+]?\.?[0-9][0-9.eE+-]*"}
_FORMS = r"iteration( INT){4,5}|phase NAME INT INT|histogram NAME NAME( INT:INT)+|value NAME REAL"
_FORM = re.compile(re.sub("[A-Z]{3,}", lambda part: _PARTS[part[0]], _FORMS))
_LIMITS = {"iterations": 1_000_000, "numbers": 100_000, "phases": 64, "histograms": 256}
_LIMITS["pairs of a histogram"] = 1_000_000


class BrokenLineError(Exception):
    """The reason for status `protocol`."""


@dataclass
class Limits:
    """What is left of the limits, over all copies of a run."""

    left: dict[str, int] = field(default_factory=lambda: dict(_LIMITS))
    names: set[str] = field(default_factory=set)

    def take(self, what: str, n: int = 1) -> None:
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
    """What one copy has written so far."""

    ready: bool = False
    spoke: bool = False
    iterations: list[tuple[int, int, int, int, int | None]] = field(default_factory=list)
    values: dict[str, list[int | float]] = field(default_factory=dict)
    phases: list[tuple[str, int, int]] = field(default_factory=list)
    histograms: dict[tuple[str, str], dict[int, int]] = field(default_factory=dict)  # counts by bucket
    _partial: bytes = b""

    def feed(self, data: bytes, limits: Limits) -> None:
        """Take bytes as they come."""
        *lines, self._partial = (self._partial + data).split(b"\n")
        for line in [*lines, self._partial]:
            if len(line) >= _MAX_LINE:
                raise BrokenLineError(f"a line longer than {_MAX_LINE} bytes: {_quote(line)}")
        for line in lines:
            self._parse(line, limits)

    def finish(self) -> None:
        """Check, at the end of a copy that was not killed, that nothing is left without its newline."""
        if self._partial:
            raise BrokenLineError(f"a line without its newline: {_quote(self._partial)}")

    def _parse(self, line: bytes, limits: Limits) -> None:
        self.spoke = True
        text = line.decode("latin-1")
        if text == "ready":
            if self.ready:
                raise BrokenLineError("ready written twice")
            self.ready = True
            return
        try:
            if not _FORM.fullmatch(text):
                raise ValueError
            form, *words = text.split(" ")
            getattr(self, f"_add_{form}")(words, limits)
        except ValueError:
            raise BrokenLineError(f"a line that follows no form: {_quote(line)}") from None

    def _add_iteration(self, words: list[str], limits: Limits) -> None:
        index, start, end, work, *cpu = map(_count, words)
        if start > end:
            raise ValueError
        limits.take("iterations")
        self.iterations.append((index, start, end, work, cpu[0] if cpu else None))

    def _add_value(self, words: list[str], limits: Limits) -> None:
        name, word = words
        number = int(word) if word.lstrip("+-").isdecimal() and abs(int(word)) <= _INT64 else float(word)
        if not math.isfinite(number):
            raise ValueError
        limits.take("numbers")
        limits.name(name)
        self.values.setdefault(name, []).append(number)

    def _add_phase(self, words: list[str], limits: Limits) -> None:
        start, end = _count(words[1]), _count(words[2])
        if start > end:
            raise ValueError
        limits.take("phases")
        self.phases.append((words[0], start, end))

    def _add_histogram(self, words: list[str], limits: Limits) -> None:
        phase, operation, *pairs = words
        counts = [(int(index), _count(count)) for index, count in (pair.split(":") for pair in pairs)]
        if max(index for index, _ in counts) > _LAST_BUCKET:
            raise ValueError
        if (phase, operation) not in self.histograms:
            limits.take("histograms")
        limits.take("pairs of a histogram", len(counts))
        histogram = self.histograms.setdefault((phase, operation), {})
        for index, count in counts:
            histogram[index] = histogram.get(index, 0) + count
            if histogram[index] > _INT64:
                raise BrokenLineError("more counts than protocol/workload.md allows")


def _count(word: str) -> int:
    if (number := int(word)) > _INT64:
        raise ValueError
    return number


def _quote(line: bytes) -> str:
    """Control characters must not reach a terminal through a reason."""
    return ascii(line[:120].decode(errors="replace"))
