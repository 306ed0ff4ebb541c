"""Events of a recording, counted: samples by stack and method, waits by what was waited for. Executes nothing."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain
from typing import Any

from scalograph.errors import ProtocolError
from scalograph.profile.values import (
    MAX_FRAMES,
    MAX_METHODS,
    MAX_OBJECTS,
    MAX_STACKS,
    Method,
    RecordedTasks,
    Stack,
    Waited,
    Waits,
)

SAMPLES = ("jdk.ExecutionSample", "jdk.NativeMethodSample")
# Event -> the field of `RecordedTasks`, and the field of the event that names what was waited for.
WAITS: Mapping[str, tuple[str, str]] = {
    "jdk.ThreadPark": ("parks", "parkedClass"),
    "jdk.JavaMonitorEnter": ("blocked", "monitorClass"),
    "jdk.JavaMonitorWait": ("waits", "monitorClass"),
    "jdk.ThreadSleep": ("sleeps", ""),
}
MAX_EVENT_CHARS = 1 << 20
MAX_CLASSES = 10_000
_NAME_CHARS = 256
_CHUNK = 1 << 18
_DURATION = re.compile(r"PT(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?")
# A class that was made on the fly has a number that the next run gives to another one.
_NUMBERED = re.compile(r"(\$\$Lambda).*|[/+.]0x[0-9a-f]+.*")

Event = Mapping[str, Any]
Within = Callable[[float], bool]


def events(read: Callable[[int], str]) -> Iterator[Event]:
    """The events that `jfr print --json` wrote, one at a time: all together they may be larger than the memory.

    Args:
        read: gives so many characters at most, "" at the end.

    Raises:
        ProtocolError: not what `jfr print --json` writes, or an event larger than 1 MiB.
    """
    decoder, text, at = json.JSONDecoder(), "", None
    for chunk in chain(iter(lambda: read(_CHUNK), ""), [""]):
        text += chunk
        at = _first(text) if at is None else at
        while at is not None:
            at = _next(text, at)
            if at < len(text) and text[at] == "]":
                return
            try:
                event, end = decoder.raw_decode(text, at)
            except (ValueError, RecursionError):
                break
            yield event if isinstance(event, dict) else {}
            at = end
        text, at = (text, None) if at is None else (text[at:], 0)
        if not chunk or len(text) > MAX_EVENT_CHARS + _CHUNK:
            raise ProtocolError("jfr print", ascii(text[:60]), "events as JSON", "try `jfr print --json` by hand")


def _first(text: str) -> int | None:
    """Where the first event would begin; None where that has not been read yet."""
    found = re.search(r'"events"\s*:\s*\[', text)
    return found.end() if found else None


def _next(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n,":
        at += 1
    return at


class Counting:
    """Takes events; counts those that began `within` the time that is looked at (seconds since 1970)."""

    def __init__(self, within: Within) -> None:
        self._within = within
        self._stacks: Counter[tuple[str, ...]] = Counter()
        self._n_native = 0
        self._waits: dict[str, dict[str, tuple[int, float]]] = {field: {} for field, _ in WAITS.values()}

    def take(self, every: Iterable[Event]) -> int:
        """How many were taken, those outside the time included.

        Raises:
            ProtocolError: an event lacks its time.
        """
        n = 0
        for event in every:
            n += 1
            values = _part(event, "values")
            if self._within(instant(values.get("startTime"))):
                self._count(str(event.get("type")), values)
        return n

    def add(self, at_s: float, frames: tuple[str, ...]) -> None:
        """Count a sample of another recorder, at a time in seconds since 1970."""
        if self._within(at_s):
            self._stacks[frames] += 1

    def _count(self, kind: str, values: Event) -> None:
        if kind in WAITS:
            field, key = WAITS[kind]
            on, kinds = _class(values.get(key)), self._waits[field]
            on = on if on in kinds or len(kinds) < MAX_CLASSES else "other"
            n, total = kinds.get(on, (0, 0.0))
            kinds[on] = n + 1, total + duration(values.get("duration"))
        elif kind in SAMPLES and (frames := stack(values.get("stackTrace"))):
            self._stacks[frames] += 1
            self._n_native += kind == SAMPLES[1]

    def seen(self, n_lost: int = 0) -> RecordedTasks:
        """What was counted; `n_lost` events were not read."""
        n, methods = self._stacks.total(), Counter[str]()
        for frames, times in self._stacks.items():
            methods[frames[0]] += times
        return RecordedTasks(
            n_samples=n, n_native=self._n_native, n_lost=n_lost,
            stacks=tuple(Stack(frames=f, n=k, share=k / n) for f, k in self._stacks.most_common(MAX_STACKS)),
            methods=tuple(Method(name=m, n=k, share=k / n) for m, k in methods.most_common(MAX_METHODS)),
            **{field: _waits(kinds) for field, kinds in self._waits.items()},
        )  # fmt: skip


def _waits(kinds: Mapping[str, tuple[int, float]]) -> Waits:
    n, total = sum(times for times, _ in kinds.values()), sum(part for _, part in kinds.values())
    most = sorted(kinds.items(), key=lambda item: -item[1][0])[:MAX_OBJECTS]
    on = tuple(Waited(on=name, n=times, mean_s=part / times) for name, (times, part) in most)
    return Waits(n=n, mean_s=total / n if n else None, on=on)


def stack(trace: Any) -> tuple[str, ...]:
    """The top frames of a stack, innermost first, each `package.Class.method`; without lines, which a task varies.

    >>> frame = {"method": {"type": {"name": "java/lang/Thread"}, "name": "run"}}
    >>> stack({"frames": [frame]})
    ('java.lang.Thread.run',)
    """
    frames = trace.get("frames") if isinstance(trace, dict) else None
    methods = (_part(frame, "method") for frame in (frames if isinstance(frames, list) else [])[:MAX_FRAMES])
    return tuple(_method(_class(method.get("type")), str(method.get("name"))) for method in methods)


def _method(owner: str, name: str) -> str:
    return f"{owner or '?'}.{name}"[:_NAME_CHARS]


def _class(of: Any) -> str:
    """The name of a class as one writes it; "" where there is none."""
    name = of.get("name") if isinstance(of, dict) else None
    return _NUMBERED.sub(r"\1", name).replace("/", ".")[:_NAME_CHARS] if isinstance(name, str) else ""


def _part(of: Any, key: str) -> Event:
    part = of.get(key) if isinstance(of, dict) else None
    return part if isinstance(part, dict) else {}


def duration(text: Any) -> float:
    """Seconds of an ISO 8601 duration as Java writes it; 0 where it is none that a thread can wait.

    >>> duration("PT0.02117803S"), duration("PT1M2.5S"), duration("PT-2562047788015215H-30M-8S")
    (0.02117803, 62.5, 0.0)
    """
    found = _DURATION.fullmatch(text) if isinstance(text, str) else None
    hours, minutes, seconds = (float(part or 0) for part in found.groups()) if found else (0.0, 0.0, 0.0)
    return 3600 * hours + 60 * minutes + seconds


def instant(text: Any) -> float:
    """Seconds since 1970 of a time with its zone.

    Raises:
        ProtocolError: it is none.
    """
    try:
        return datetime.fromisoformat(text).timestamp()
    except (TypeError, ValueError, OverflowError) as error:
        raise ProtocolError("jfr print", f"startTime {text!r:.60}", "a time of day", "report this") from error
