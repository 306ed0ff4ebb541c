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


class NoFigureError(ValueError):
    """The output does not hold the figure, in words: found, expected."""


class Printed:
    """The printed responses of a study.

    The output itself is not kept: a journal of thousands of runs would be all output.
    """

    def __init__(self, study: Study, score: Score | None = None) -> None:
        """Take what reads a harness's output, without which no response of the study may have a reader."""
        self.responses = {name: r for name, r in study.responses.items() if r.printed}
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
                    raise NoFigureError(f"found more than {MAX_OUTPUT_BYTES >> 20} MiB of output, expected less")
                found = {printed_name(name): [self._figure(name, copy.stdout or "")] for name in self.responses}
                values.append(Values(copy_index=copy.copy_index, values=found))
            except NoFigureError as error:
                wrong.append(str(error))
        copies = [replace(copy, stdout=None) for copy in record.copies]
        read = replace(record, copies=copies, values=values)
        return read.failed(wrong[0]) if wrong else read

    def _figure(self, name: str, text: str) -> float:
        try:
            response = self.responses[name]
            if self._score is not None and response.reader:
                return _scored(self._score, response, text)
            return figure(response, self._engines.get(name), text)
        except NoFigureError as error:
            raise NoFigureError(f"response {name}: {error}") from None


def figure(response: Response, compiled: "re.Pattern[str] | None", text: str) -> float:
    """The figure in an output.

    Raises:
        NoFigureError: none, more than one, or no number.
    """
    if compiled is not None:
        return _number(_matched(compiled, text, str(response.pattern)), "the figure")
    return _number(_pointed(str(response.pointer), text), "a number")


def _scored(score: Score, response: Response, text: str) -> float:
    try:
        return _number(score(text, str(response.reader), response.benchmark, response.unit), "a figure")
    except ValueError as error:
        raise NoFigureError(str(error)) from error


def _matched(compiled: "re.Pattern[str]", text: str, pattern: str) -> Any:
    found = [match.group(1) for match, _ in zip(compiled.finditer(text), range(2), strict=False)]
    if not found:
        raise NoFigureError(f"found no match in {_shown(text)}, expected one of '{pattern[:_LONGEST]}'")
    if len(found) > 1:
        raise NoFigureError(f"found two matches, {found[0]!r:.40} and {found[1]!r:.40}, expected one")
    return found[0]


def _pointed(pointer: str, text: str) -> Any:
    try:
        node: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise NoFigureError(f"found {_shown(text)}, expected one JSON document") from None
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        try:
            node = node[int(key)] if isinstance(node, list) and key.isdecimal() else node[key]
        except (KeyError, IndexError, TypeError):
            raise NoFigureError(f'found nothing at "{pointer}" (no "{key[:_SHOWN]}"), expected a number') from None
    if isinstance(node, str):
        raise NoFigureError(f"found text {node[:_SHOWN]!r}, expected a number")
    return node


def _number(found: Any, expected: str) -> float:
    try:
        if isinstance(found, bool):
            raise ValueError
        value = float(found)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise NoFigureError(f"found {str(found)[:_SHOWN]!r}, expected {expected} as a finite number")
    return value


def _shown(text: str) -> str:
    return ascii(text[-_SHOWN:]) if text else "no output"
