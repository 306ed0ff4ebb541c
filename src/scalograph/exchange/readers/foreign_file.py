"""The file of another tool: bounded, unpacked, decoded, and parsed once; parts that cannot be read are left out."""

import csv
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError, from_json

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import MAX_PARAMS, Benchmark, LeftOut, join_same
from scalograph.protocol.bounded import parse_csv, read_whole
from scalograph.study.reader_names import Reader

T = TypeVar("T")
V = TypeVar("V")
MAX_BYTES = 64 << 20
MAX_BENCHMARKS = 10_000
# Of all files that are read together: 64 MiB of "[],[]," would parse into gigabytes.
MAX_TOGETHER, MAX_PARTS = 256 << 20, 4_000_000
_GZIP = b"\x1f\x8b"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_ESCAPE = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
# Lines are matched one by one: a list of all could be many times as large as the file.
_LINE = re.compile(r".*\n?")
_MAX_LINE, _MAX_ROW = 1000, 16_000
# Below the header of a drawn table.
_RULE = re.compile(r"^ *\|[ :|]*-[ :|-]*$", re.MULTILINE)
MEAN_ONLY = "a mean without its samples: no interval"
# Tools that print JSON may print errors to the same file, line by line.
_DOCUMENT = re.compile(r"^(?:\{|\[(?=\s{0,100}[\[{]))", re.MULTILINE)
_SHARED = ("_data", "text", "_json_text", "json")

ReadValue = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Text = Annotated[str, StringConstraints(max_length=1000)]
Amount = Annotated[int, Field(ge=1, le=1 << 53)]


def limit_entries(most: int) -> BeforeValidator:
    """Refuse a table with too many entries before any is checked: errors of each would be kept."""

    def check(value: Any) -> Any:
        if isinstance(value, dict) and len(value) > most:
            raise PydanticCustomError("too_long", "Table should have at most {most} entries", {"most": most})
        return value

    return BeforeValidator(check)


Params = Annotated[dict[Text, Text], limit_entries(MAX_PARAMS)]


class ForeignPart(BaseModel):
    """A part of a foreign document; unread keys may hold anything."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class TooMuchError(StudyError):
    """Files that are too large together: none of them can be left out in place of the others."""


class PartError(ValueError):
    """A part of a file that cannot be read: the reason, and where in the part that is."""

    def __init__(self, reason: str, at: str = "") -> None:
        super().__init__(reason)
        self.at = at


@dataclass
class _Left:
    """The budget left of the files that are read together."""

    n_bytes: int
    n_parts: int


_LEFT: ContextVar[_Left | None] = ContextVar("left", default=None)


@contextmanager
def shared_limits() -> Iterator[None]:
    """Limit the files read within to MAX_TOGETHER bytes and MAX_PARTS values in all."""
    before = _LEFT.set(_Left(MAX_TOGETHER, MAX_PARTS))
    try:
        yield
    finally:
        _LEFT.reset(before)


@contextmanager
def trial() -> Iterator[None]:
    """Give back the values that a refused reading was charged for: it holds none."""
    left = _LEFT.get()
    n_parts = left.n_parts if left else 0
    try:
        yield
    except StudyError:
        if left:
            left.n_parts = n_parts
        raise


@dataclass
class ForeignFile:
    """The file of a tool, for its reader.

    Attributes:
        path: of the file, or of the folder that some tools write.
        reader: the row of its format.
        left_out: parts without a benchmark, at most MAX_BENCHMARKS.
    """

    path: Path
    reader: Reader
    left_out: list[LeftOut] = field(default_factory=list)

    def leave_out(self, where: str, reason: str) -> None:
        """Record that a part has no benchmark, and why."""
        if len(self.left_out) < MAX_BENCHMARKS:
            self.left_out.append(LeftOut(f"{self.path.name}: {where[:200]}" if where else self.path.name, reason[:300]))

    def refusal(self, where: str, observed: str, expected: str = "", fix: str = "") -> StudyError:
        """Return the error of a file of which nothing can be read."""
        at = f"{self.path.name}: {where}" if where else str(self.path)
        kind = expected or f"a file of {self.reader.instrument}"
        return StudyError.one(at, observed, kind, fix or (f"write it with: {self.reader.how}" * bool(self.reader.how)))

    def open_below(self, path: Path) -> "ForeignFile":
        """Return a file of the folder; what it leaves out counts as left out of the folder."""
        return ForeignFile(path, self.reader, self.left_out)

    def copy_for(self, reader: Reader) -> "ForeignFile":
        """Return the same file for another reader: what was unpacked and parsed is shared."""
        other = ForeignFile(self.path, reader)
        other.__dict__ |= {name: self.__dict__[name] for name in _SHARED if name in self.__dict__}
        return other

    @cached_property
    def text(self) -> str:
        """The decoded text, with plain line ends and without colors. Raises StudyError: it is missing or too large."""
        text = _decode(self._charge((b"\n",)))
        text = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
        return _ESCAPE.sub("", text) if "\x1b" in text else text

    @property
    def head(self) -> str:
        """The first characters, some thousand."""
        return _decode(self._data[:4096])

    def may_hold(self, signs: Sequence[str]) -> bool:
        """Return whether one of the texts is there, or may be. Raises StudyError: the file is missing or too large."""
        is_hidden = self._data[:2] in _UTF_16 or b"\0" in self._data[:2] or b"\x1b" in self._data
        return not signs or is_hidden or any(sign.encode() in self._data for sign in signs)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the numbered lines of at most 1000 characters, without the blanks at their ends."""
        for number, line in enumerate(_LINE.finditer(self.text), 1):
            if len(text := line[0].rstrip()) <= _MAX_LINE:
                yield number, text

    @cached_property
    def json(self) -> Any:
        """The parsed JSON document, without lines printed before it. Raises StudyError: missing, too large, or none."""
        text = self._json_text
        if text[:1] not in ("{", "[") and (start := _DOCUMENT.search(text)):
            text = text[start.start() : max(text.rfind("}"), text.rfind("]")) + 1]
        return self._parse(text, "")

    @cached_property
    def _json_text(self) -> str:
        return _decode(self._charge((b",", b"[", b"{"))).removeprefix("\ufeff")

    def documents(self) -> Iterator[tuple[str, Any]]:
        """Yield place and document: the file, or each line of JSON lines, of which one of the first two is an object.

        Raises StudyError: it is missing, too large, or no JSON.
        """
        filled = (line[0] for line in _LINE.finditer(self._json_text) if line[0].strip())
        try:
            yield "", self.json
        except StudyError:
            if not any(map(_is_object, islice(filled, 2))):
                raise
            yield from self.json_lines()

    def json_lines(self) -> Iterator[tuple[str, Any]]:
        """Yield place and document of each line that is none other; a line that is no JSON is left out."""
        self._charge((b"\n",))
        lines = enumerate(_LINE.finditer(self._json_text), 1)
        filled = ((f"line {number}", line[0]) for number, line in lines if line[0].strip())
        return self.each(filled, lambda where, line: (where, self._parse(line, where)))

    def pick(self, *keys: str) -> Any:
        """Return what lies below the keys of the JSON document; None where nothing does. Raises StudyError: no JSON."""
        value = self.json
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def document(self, adapter: TypeAdapter[T]) -> T:
        """Return the whole document, checked. Raises StudyError: it is none of this kind."""
        try:
            return check_part(self.json, adapter)
        except PartError as error:
            raise self.refusal(error.at, str(error)) from error

    def entries(self, adapter: TypeAdapter[T], *keys: str, most: int = MAX_BENCHMARKS) -> Iterator[tuple[str, T]]:
        """Yield place and checked document of each entry of the list below `keys`; others are left out.

        Raises StudyError: there is no such list, or it is longer than `most`.
        """
        listed, at = self.pick(*keys), ".".join(keys)
        if not isinstance(listed, list):
            raise self.refusal(at, "Input should be a valid array")
        if not 0 < len(listed) <= most:
            bound = f"at most {most} items" if listed else "at least 1 item"
            raise self.refusal(at, f"List should have {bound}, not {len(listed)}")
        places = ((f"{at}[{i}]", entry) for i, entry in enumerate(listed))
        return self.each(places, lambda where, entry: (where, check_part(entry, adapter)))

    def outputs(self, start: re.Pattern[str]) -> Iterator[tuple[str, str]]:
        """Yield line and text of each printed output, of which a file may hold several; `start` is its first line.

        Raises StudyError: there is none, or more than MAX_BENCHMARKS.
        """
        starts = [match.start() for match in islice(start.finditer(self.text), MAX_BENCHMARKS + 1)]
        if not starts:
            raise self.refusal("", "no such output")
        if len(starts) > MAX_BENCHMARKS:
            raise self.refusal("", f"more than {MAX_BENCHMARKS} outputs", fix="import them in several files")
        for begin, end in zip(starts, [*starts[1:], len(self.text)], strict=True):
            line = self.text.count("\n", 0, begin) + 1
            yield f"line {line}", self.text[begin:end]

    def runs(self, start: re.Pattern[str], read_one: Callable[[str], Benchmark]) -> Iterator[Benchmark]:
        """Yield the benchmark of each printed output, equal ones merged. Raises as `outputs`."""
        yield from join_same(self.each(self.outputs(start), lambda _, output: read_one(output)))

    def limit(self, parts: Iterable[T], what: str) -> Iterator[T]:
        """Yield the parts of a file. Raises StudyError at the first of more than MAX_BENCHMARKS."""
        for n, part in enumerate(parts):
            if n == MAX_BENCHMARKS:
                raise self.refusal("", f"more than {MAX_BENCHMARKS} {what}", fix="import it in several files")
            yield part

    def table_rows(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield place and cells by column of each row: of tables drawn with `|` where there are some, else of CSV.

        A row with more or fewer cells than its header, as where it was cut, is left out.

        Raises StudyError: it is no table, or has more than MAX_BENCHMARKS rows.
        """
        rows = self._drawn_rows() if _RULE.search(self.text) else self._csv_rows()
        return self.limit(self.each(rows, lambda where, row: (where, _cells(*row))), "rows")

    def _drawn_rows(self) -> Iterator[tuple[str, tuple[list[str], list[str]]]]:
        header, before = list[str](), list[str]()
        for number, match in enumerate(_LINE.finditer(self.text), 1):
            line = match[0].strip()
            is_short = len(line) <= _MAX_ROW
            cells = [cell.strip() for cell in line[1:].split("|")[:-1]] if is_short else []
            if not line.startswith("|"):
                header = []
            elif is_short and _RULE.fullmatch(line):
                header = before
            elif header:
                yield f"line {number}", (header, cells)
            before = cells

    def _csv_rows(self) -> Iterator[tuple[str, tuple[list[str], list[str]]]]:
        try:
            reader = parse_csv(self.text, ",;\t")
            header = [name.strip() for name in reader.fieldnames or ()]
            for cells in reader.reader:
                if cells:
                    yield f"line {reader.reader.line_num}", (header, cells)
        except csv.Error as error:
            raise self.refusal("", f"cannot be read: {error}") from error

    def each(self, parts: Iterable[tuple[str, T]], read_one: Callable[[str, T], V | None]) -> Iterator[V]:
        """Yield what `read_one` makes of each part and its place; a part that raises PartError is left out."""
        for where, part in parts:
            try:
                value = read_one(where, part)
            except PartError as error:
                self.leave_out(f"{where}.{error.at}" if error.at else where, str(error))
            else:
                if value is not None:
                    yield value

    def _parse(self, text: str, where: str) -> Any:
        try:
            return from_json(text)
        except ValueError as error:
            if where:
                raise PartError(f"Invalid JSON: {error}") from error
            raise self.refusal("", f"Invalid JSON: {str(error)[:200]}") from error

    @cached_property
    def _data(self) -> bytes:
        """The unpacked bytes, charged to the shared limits."""
        left = _LEFT.get()
        try:
            data = read_whole(self.path, MAX_BYTES)
        except OSError as error:
            raise self.refusal("", f"cannot be read: {error.strerror}") from error
        data = self._unpack(data) if data.startswith(_GZIP) else data
        if left:
            left.n_bytes -= len(data)
            if left.n_bytes < 0:
                size = f"with the files before it larger than {MAX_TOGETHER >> 20} MiB"
                raise TooMuchError(self.refusal("", size, fix="read fewer files at once").problems)
        return data

    def _charge(self, signs: tuple[bytes, ...]) -> bytes:
        """Return the bytes; each value in them has one of the `signs`, and is charged to the shared limits."""
        left = _LEFT.get() or _Left(MAX_TOGETHER, MAX_PARTS)
        n_parts = sum(map(self._data.count, signs))
        if n_parts > left.n_parts:
            values = f"more than {MAX_PARTS} values"
            raise TooMuchError(self.refusal("", values, fix="read fewer benchmarks at once").problems)
        left.n_parts -= n_parts
        return self._data

    def _unpack(self, data: bytes) -> bytes:
        """Unpack gzip, of one member or several, up to the same limit."""
        unpacked = bytearray()
        try:
            while data:
                stream = zlib.decompressobj(zlib.MAX_WBITS | 16)
                unpacked += stream.decompress(data, MAX_BYTES + 1 - len(unpacked))
                if len(unpacked) > MAX_BYTES:
                    raise self.refusal("", f"larger than {MAX_BYTES >> 20} MiB, unpacked")
                if not stream.eof:
                    raise self.refusal("", "gzip that was cut")
                data = stream.unused_data
        except zlib.error as error:
            raise self.refusal("", f"damaged gzip: {error}") from error
        return bytes(unpacked)


def _is_object(line: str) -> bool:
    try:
        return isinstance(from_json(line), dict)
    except ValueError:
        return False


def check_part(part: Any, adapter: TypeAdapter[T]) -> T:
    """Return a part of a document, checked. Raises PartError: it is none of this kind."""
    try:
        return adapter.validate_python(part)
    except ValidationError as error:
        first: Any = error.errors(include_url=False, include_context=False, include_input=False)[0]
        steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"])
        raise PartError(first["msg"][:200], steps[:200].lstrip(".")) from error


def pick_facts(source: Any, names: Mapping[str, str]) -> dict[str, str]:
    """Return what a document tells of its keys, each by the name that readers share; empty where it is no table."""
    given = source if isinstance(source, dict) else {}
    return {fact: str(given[key])[:200] for key, fact in names.items() if given.get(key) not in (None, "", [], {})}


def _cells(header: list[str], cells: list[str]) -> dict[str, str]:
    if len(header) != len(cells):
        raise PartError(f"{len(cells)} cells, expected {len(header)}")
    return dict(zip(header, (cell.strip() for cell in cells), strict=True))


def _decode(data: bytes) -> str:
    """Decode UTF-8, or UTF-16 as some shells write it; other bytes are kept as \\xNN, so that names stay distinct."""
    if data[:2] in _UTF_16:
        return data.decode("utf-16", "backslashreplace")
    if b"\0" in data[:2]:
        return data.decode("utf-16-le" if data[1:2] == b"\0" else "utf-16-be", "backslashreplace")
    return data.decode("utf-8-sig", "backslashreplace")


def first_group(pattern: re.Pattern[str], output: str) -> str:
    """Return the first capture of a pattern in an output; empty where there is none."""
    return match[1] if (match := pattern.search(output)) else ""


def find_fields(patterns: Mapping[str, re.Pattern[str]], output: str) -> dict[str, str]:
    """Return the first capture of each pattern that an output has, by name, without blanks at its ends."""
    return {name: text for name, pattern in patterns.items() if (text := first_group(pattern, output).strip())}
