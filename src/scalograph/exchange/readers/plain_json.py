"""Any JSON document, or lines of documents: a layout says where benchmarks, their values and settings are.

A place is a JSON pointer (RFC 6901) such as `/results/0/mean`; `*` stands for each entry of a list or an object.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from sys import float_info
from typing import Any, NamedTuple

from scalograph.exchange.benchmark import Benchmark, fork, join_same
from scalograph.exchange.readers.foreign_file import MAX_BENCHMARKS, ForeignFile, PartError
from scalograph.protocol.plain import is_number
from scalograph.text.units import unit_of

_FIX = "add --value POINTER and --unit UNIT, and where there are any --at, --name, --param and --fact"
_MOST_TEXT = 1000
# Of an index: a longer one is none, and slow to read.
_MOST_DIGITS = 9
_KINDS: Mapping[type, str] = {list: "a list", dict: "an object", bool: "true or false"}

_Keys = tuple[str | int, ...]


@dataclass(frozen=True, kw_only=True)
class JsonLayout:
    """Where a document holds its benchmarks; other readers may declare one.

    Attributes:
        at: of the entries; empty for the document, which each line of JSON lines is.
        value: of a number, or of numbers, which are iterations of one process; from the entry.
        unit: of the values, such as "ms" or "1/s", or the place of such a text.
        name: of the benchmark; empty for the key of the entry.
        params, facts: names and places. These, name and unit are sought from the entry, then from the document.
        mode: what a value is of.
    """

    value: str
    unit: str
    at: str = ""
    name: str = ""
    params: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    mode: str = "value"


class _Part(NamedTuple):
    """An entry with its key, and its document."""

    key: str
    entry: Any
    document: Any


def read(file: ForeignFile, layout: JsonLayout | None = None) -> Iterator[Benchmark]:
    """Read the entries of a file by a layout; entries that differ in nothing are processes of one benchmark.

    Raises StudyError: there is no layout, without which no file is recognized; or no entry, or too many.
    """
    if layout is None:
        raise file.refusal("", "a JSON document of unknown layout", "the places of its values", _FIX)
    yield from join_same(file.each(_entries(file, layout.at), lambda _, part: _benchmark(part, layout)))


def _entries(file: ForeignFile, at: str) -> Iterator[tuple[str, _Part]]:
    n, steps = 0, _steps(at)
    for line, document in file.documents():
        n_before = n
        for keys, entry in _find(document, steps):
            n += 1
            if n > MAX_BENCHMARKS:
                raise file.refusal(line, f"more than {MAX_BENCHMARKS} entries", fix="import it in several files")
            yield f"{line} {_place(keys)}".strip(), _Part(str(keys[-1]) if keys else "", entry, document)
        if n == n_before:
            file.leave_out(line, f"nothing at {at}")


def _benchmark(part: _Part, layout: JsonLayout) -> Benchmark:
    text = _text(part, layout.unit) if layout.unit.startswith("/") else layout.unit
    kind = unit_of(text)
    if kind is None:
        raise PartError(f"unit {text[:40]!r} is neither a time nor a rate, such as ms or 1/s")
    values = [*_values(part.entry, layout.value)]
    if not values:
        raise PartError(f"nothing at {layout.value}")
    params, facts = (
        {name: _text(part, pointer) for name, pointer in each.items()} for each in (layout.params, layout.facts)
    )
    name = _text(part, layout.name) if layout.name else part.key or "value"
    return Benchmark(name, layout.mode, params, kind[0], (fork(values, kind[1]),), facts=facts)


def _values(entry: Any, pointer: str) -> Iterator[float]:
    """Yield the numbers at a place, those of a list one by one. Raises PartError: something else is there."""
    for keys, value in _find(entry, _steps(pointer)):
        for each in value if isinstance(value, list) else [value]:
            if not is_number(each) or not 0 <= each <= float_info.max:
                plain = "null" if each is None else _KINDS.get(type(each)) or repr(str(each)[:40])
                raise PartError(f"{plain} is no number, 0 or more", _place(keys))
            yield float(each)


def _text(part: _Part, pointer: str) -> str:
    """Return the text or number at a place. Raises PartError: there is none."""
    for start in (part.entry, part.document):
        for _, value in _find(start, _steps(pointer)):
            if not isinstance(value, str | int | float):
                raise PartError(f"neither a text nor a number at {pointer}")
            return str(value).lower() if isinstance(value, bool) else str(value)[:_MOST_TEXT]
    raise PartError(f"nothing at {pointer}")


def _steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _place(keys: _Keys) -> str:
    """Return keys as they are told of other documents: results[2].mean."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key[:80]}" for key in keys).lstrip(".")


def _find(node: Any, steps: Sequence[str], above: _Keys = ()) -> Iterator[tuple[_Keys, Any]]:
    """Yield keys and value of what a pointer leads to.

    >>> list(_find({"a": [{"b": 1}, {"b": 2}, 3]}, ["a", "*", "b"]))
    [(('a', 0, 'b'), 1), (('a', 1, 'b'), 2)]
    """
    if not steps:
        yield above, node
        return
    step, rest = steps[0], steps[1:]
    keys: Sequence[Any] = ()
    if isinstance(node, dict):
        keys = [*node] if step == "*" else [step] if step in node else ()
    elif isinstance(node, list):
        is_index = step.isascii() and step.isdecimal() and len(step) <= _MOST_DIGITS and int(step) < len(node)
        keys = range(len(node)) if step == "*" else [int(step)] if is_index else ()
    for key in keys:
        yield from _find(node[key], rest, (*above, key))
