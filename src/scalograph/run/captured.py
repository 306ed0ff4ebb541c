"""Figures that a program prints: read from the captured output of each copy, kept among the run's values."""

import json
import math
import re
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from scalograph.protocol.record import CopyEvent, Record, Values
from scalograph.run.hosts.base import MAX_OUTPUT_BYTES
from scalograph.study.model import Response, Study
from scalograph.study.output_patterns import engine, printed_name

# The figure of a harness, from its output, the name of its reader, which benchmark, and the unit; else ValueError.
Score = Callable[[str, str, str | None, str], float]
_SHOWN = 60
_LONGEST = 200  # of a pattern, as it was written


class NoValueError(ValueError):
    """The output does not hold the figure, in words: found, expected."""


class PrintedResponses:
    """The printed responses of a study.

    The output itself is not kept: a journal of thousands of runs would be all output.
    """

    def __init__(self, study: Study, score: Score | None = None) -> None:
        """Take what reads a harness's output, without which no response of the study may have a reader."""
        self.responses = {name: r for name, r in study.responses.items() if r.is_printed}
        self._engines = {name: engine(r.pattern) for name, r in self.responses.items() if r.pattern is not None}
        if score is None and any(r.reader for r in self.responses.values()):
            raise ValueError("a response has a reader, and nothing to read it with was passed")
        self._score = score

    def read(self, record: Record, prints: Callable[[CopyEvent], bool] = lambda copy: True) -> Record:
        """The record with its figures; a run of which a copy that `prints` did not print one has failed."""
        if not self.responses:
            return record
        values, wrong = list(record.values), list[str]()
        for copy in filter(prints, record.copies) if record.run.status == "ok" else ():
            try:
                if copy.stdout_truncated:
                    raise NoValueError(f"found more than {MAX_OUTPUT_BYTES >> 20} MiB of output, expected less")
                printed = {printed_name(name): [self._read_value(name, copy.stdout or "")] for name in self.responses}
                values.append(Values(copy_index=copy.copy_index, values=printed))
            except NoValueError as error:
                wrong.append(str(error))
        copies = [replace(copy, stdout=None) for copy in record.copies]
        read = replace(record, copies=copies, values=values)
        return read.failed(wrong[0]) if wrong else read

    def _read_value(self, name: str, text: str) -> float:
        try:
            response = self.responses[name]
            if self._score is not None and response.reader:
                return _read_score(self._score, response, text)
            return read_value(response, self._engines.get(name), text)
        except NoValueError as error:
            raise NoValueError(f"response {name}: {error}") from None


def read_value(response: Response, compiled: "re.Pattern[str] | None", text: str) -> float:
    """The figure in an output.

    Raises:
        NoFigureError: none, more than one, or no number.
    """
    if compiled is not None:
        return _parse_number(_match_pattern(compiled, text, str(response.pattern)), "the figure")
    return _parse_number(_resolve_pointer(str(response.pointer), text), "a number")


def _read_score(score: Score, response: Response, text: str) -> float:
    try:
        return _parse_number(score(text, str(response.reader), response.benchmark, response.unit), "a figure")
    except ValueError as error:
        raise NoValueError(str(error)) from error


def _match_pattern(compiled: "re.Pattern[str]", text: str, pattern: str) -> Any:
    matches = [match.group(1) for match, _ in zip(compiled.finditer(text), range(2), strict=False)]
    if not matches:
        raise NoValueError(f"found no match in {_quote_end(text)}, expected one of '{pattern[:_LONGEST]}'")
    if len(matches) > 1:
        raise NoValueError(f"found two matches, {matches[0]!r:.40} and {matches[1]!r:.40}, expected one")
    return matches[0]


def _resolve_pointer(pointer: str, text: str) -> Any:
    try:
        node: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise NoValueError(f"found {_quote_end(text)}, expected one JSON document") from None
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        try:
            node = node[int(key)] if isinstance(node, list) and key.isdecimal() else node[key]
        except (KeyError, IndexError, TypeError):
            raise NoValueError(f'found nothing at "{pointer}" (no "{key[:_SHOWN]}"), expected a number') from None
    if isinstance(node, str):
        raise NoValueError(f"found text {node[:_SHOWN]!r}, expected a number")
    return node


def _parse_number(content: Any, expected: str) -> float:
    try:
        if isinstance(content, bool):
            raise ValueError
        value = float(content)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise NoValueError(f"found {str(content)[:_SHOWN]!r}, expected {expected} as a finite number")
    return value


def _quote_end(text: str) -> str:
    return ascii(text[-_SHOWN:]) if text else "no output"
