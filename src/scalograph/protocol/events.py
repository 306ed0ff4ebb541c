"""Parse the event lines of a probe, and group those of one run into a record."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from scalograph.errors import ProtocolError
from scalograph.protocol.record import (
    MAX_LINE_BYTES,
    Capabilities,
    CopyEvent,
    ErrorEvent,
    Header,
    Iterations,
    Output,
    Record,
    RunFigures,
    Timeline,
    Values,
)
from scalograph.protocol.record_processes import Awaits, HistogramEvent, Phases, ProcessEvent, RecordPart

FIX = "install scalograph anew: it brings a scalograph-probe of its own release"
Checked = TypeVar("Checked")
# What `msgspec.json.decode` raises where there is no JSON: bad syntax, invalid UTF-8, endless nesting.
UNREADABLE = (ValueError, RecursionError)
# Format of a msgspec message: `Expected `int`, got `str` - at `$.run.wall_ns``.
_MESSAGE = re.compile(r"(?P<text>.*?)(?: - at (?:`key` in )?`\$(?P<path>.*)`)?", re.DOTALL)
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")


def convert_document(document: Any, kind: type[Checked], where: str) -> Checked:
    """Convert decoded JSON to a value of the protocol.

    Raises ProtocolError: a field violates protocol/probe.md or journal.md; `where` begins the message.
    """
    try:
        return msgspec.convert(document, kind)
    except msgspec.ValidationError as error:
        raise explain_error(error, document, where) from None


def explain_error(error: msgspec.ValidationError, document: Any, where: str) -> ProtocolError:
    """Convert a msgspec error to a protocol error that names the field."""
    match = _MESSAGE.fullmatch(str(error))
    text, path = (match["text"], match["path"] or "") if match else (str(error), "")
    if missing := re.fullmatch(r"Object missing required field `(\w+)`", text):
        return ProtocolError(f"{where}{path}.{missing[1]}", "nothing", "this field", FIX)
    expected = "a word of the protocol" if text.startswith("Invalid enum value") else text.removeprefix("Expected ")
    for name, index in _STEP.findall(path.partition("[...]")[0]):
        document = document[name] if name else document[int(index)]
    return ProtocolError(where + path, f"{document!r:.80}", expected.partition(", got ")[0], FIX)


EVENTS: Mapping[str, type[RecordPart]] = {
    "header": Header, "awaits": Awaits, "copy": CopyEvent, "output": Output, "iterations": Iterations,
    "values": Values, "phases": Phases, "histogram": HistogramEvent, "process": ProcessEvent, "timeline": Timeline,
    "run": RunFigures, "error": ErrorEvent, "capabilities": Capabilities,
}  # fmt: skip
_OF_A_COPY = (Iterations, Values, Output, Phases, HistogramEvent)


def parse_event(line: str | bytes, where: str = "probe") -> tuple[str | None, RecordPart]:
    """Parse an event line of at most 4 MiB; `where` begins the message of an error.

    Returns the run's name (None where the event has none) and the part without it.

    Raises ProtocolError: over-long line, not JSON, unknown event or protocol, wrong field.
    """
    if len(line) > MAX_LINE_BYTES:
        raise ProtocolError(where, f"a line of {len(line)} bytes", f"at most {MAX_LINE_BYTES}", FIX)
    try:
        fields = msgspec.json.decode(line)
    except UNREADABLE as error:
        raise ProtocolError(where, f"{_excerpt(line)} ({error})", "one JSON object", FIX) from None
    if not isinstance(fields, dict):
        raise ProtocolError(where, _excerpt(line), "one JSON object", FIX)
    name, run = fields.pop("event", None), fields.pop("run", None)
    model = EVENTS.get(name) if isinstance(name, str) else None
    if model is None:
        raise ProtocolError(f"{where}: event", f"{name!r:.80}", "one of " + ", ".join(EVENTS), FIX)
    if run is not None and not isinstance(run, str):
        raise ProtocolError(f"{where}: {name}.run", f"{run!r:.80}", "a text", FIX)
    return run, convert_document(fields, model, f"{where}: {name}")


def parse_events(lines: Iterable[str | bytes], run: str | None = None) -> Record:
    """Group the event lines of one run, in order of writing, into a record; `run` None takes the name of the header.

    Raises ProtocolError: a broken line, an event out of order, another run's name, no `run` event.
    """
    grouping = _Grouping(run)
    for number, line in enumerate(lines, 1):
        grouping.add(f"probe line {number}", line)
    return grouping.record()


class _Grouping:
    """Group events into a record, and check their order."""

    def __init__(self, run: str | None) -> None:
        self.name = run
        self.header: Header | None = None
        self.run: RunFigures | None = None
        self.timeline: Timeline | None = None
        self.copies: list[CopyEvent] = []
        self.iterations: list[Iterations] = []
        self.values: list[Values] = []
        self.phases: list[Phases] = []
        self.histograms: list[HistogramEvent] = []
        self.processes: list[ProcessEvent] = []
        self.lists: dict[type[RecordPart], list[Any]] = {
            CopyEvent: self.copies, Values: self.values, Phases: self.phases, HistogramEvent: self.histograms,
            ProcessEvent: self.processes,
        }  # fmt: skip
        self.output: dict[int, list[str]] = {}

    def add(self, where: str, line: str | bytes) -> None:
        if self.run is not None:
            raise ProtocolError(where, _excerpt(line), "nothing after the run event", FIX)
        name, part = parse_event(line, where)
        if isinstance(part, ErrorEvent):
            raise part.make_error()
        self._check_run_name(where, name)
        self._check_order(where, part)
        self._keep(where, part)

    def _check_run_name(self, where: str, name: str | None) -> None:
        if name is None or name != (self.name if self.name is not None else name):
            expected = "a name" if self.name is None else f"{self.name!r}"
            raise ProtocolError(f"{where}: run", f"{name!r:.160}", expected, FIX)
        self.name = name

    def _check_order(self, where: str, part: RecordPart) -> None:
        if (self.header is None) != isinstance(part, Header):
            expected = "one header, and it first"
            raise ProtocolError(where, f"{type(part).__name__} event", expected, FIX)
        if isinstance(part, CopyEvent) and part.copy_index != len(self.copies):
            expected = f"{len(self.copies)}: copies in order, each once"
            raise ProtocolError(f"{where}: copy", str(part.copy_index), expected, FIX)
        if isinstance(part, ProcessEvent) and part.command != len(self.processes):
            expected = f"{len(self.processes)}: commands in order, each once"
            raise ProtocolError(f"{where}: command", str(part.command), expected, FIX)
        if isinstance(part, _OF_A_COPY) and part.copy_index >= len(self.copies):
            expected = "the copy event of that copy before it"
            raise ProtocolError(f"{where}: copy", str(part.copy_index), expected, FIX)

    def _keep(self, where: str, part: RecordPart) -> None:
        match part:
            case Header():
                self.header = part
            case Output():
                self.output.setdefault(part.copy_index, []).append(part.stdout)
            case Iterations():
                self._join(part)
            case CopyEvent() | Values() | Phases() | HistogramEvent() | ProcessEvent():
                self.lists[type(part)].append(part)
            case Timeline() if self.timeline is None:
                self.timeline = part
            case RunFigures():
                self.run = part
            case _:
                raise ProtocolError(where, f"{type(part).__name__} event", "no such event here", FIX)

    def _join(self, part: Iterations) -> None:
        """Join the pieces of a copy's iterations: a long list comes in several (protocol/probe.md)."""
        earlier = next((piece for piece in self.iterations if piece.copy_index == part.copy_index), None)
        if earlier is None:
            self.iterations.append(part)
            return
        for name in Iterations.__struct_fields__[1:]:
            numbers, more = getattr(earlier, name), getattr(part, name)
            if (numbers is None) != (more is None):
                raise ProtocolError(f"iterations.{name}", "in some pieces", "all pieces to have it, or none", FIX)
            if more is not None:
                numbers.extend(more)

    def record(self) -> Record:
        if self.header is None or self.run is None:
            observed = "no event" if self.header is None else "no run event: the probe ended early"
            raise ProtocolError("probe", observed, "events from header to run", "look at its standard error")
        for index, texts in self.output.items():
            whole = (self.copies[index].stdout or "") + "".join(texts)
            self.copies[index] = msgspec.structs.replace(self.copies[index], stdout=whole)
        try:
            return Record(
                header=self.header, copies=self.copies, iterations=self.iterations, values=self.values,
                phases=self.phases, histograms=self.histograms, processes=self.processes, timeline=self.timeline,
                run=self.run,
            )  # fmt: skip
        except ValueError as error:
            raise ProtocolError("probe", "more", str(error), FIX) from None


def _excerpt(line: str | bytes) -> str:
    """Return the begin of a line for a message, escaped: it could steer a terminal."""
    return ascii(line[:80])
