"""Summaries that k6 wrote: one run, so one fork; right answers per second. Executes nothing.

Three forms: `--summary-export`, the object that handleSummary gets, and the one that it gets since k6 1.5.
"""

from pathlib import Path
from sys import float_info
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark, failed_run, fork
from scalograph.exchange.readers.foreign_file import ForeignPart, ReadFigure, Text, document, few
from scalograph.protocol.plain import is_number

_KIND = "a summary of k6"
_FIX = "write it anew with: k6 run --summary-export FILE script.js"

_Values = dict[Text, Any]


class _Listed(ForeignPart):
    name: Text
    values: _Values


class _Results(ForeignPart):
    metrics: Annotated[list[_Listed], Field(max_length=10_000)]


class _State(ForeignPart):
    ms: ReadFigure = Field(default=0.0, alias="testRunDurationMs")


class _Config(ForeignPart):
    duration: ReadFigure | None = None


class _Written(ForeignPart):
    """`metrics` by name, or `results` with a list of them; a metric by name may hold its values one step deeper."""

    metrics: Annotated[dict[Text, dict[Text, Any]], few(10_000)] = Field(default={})
    results: _Results | None = None
    state: _State = _State()
    config: _Config = _Config()


_DOCUMENT = TypeAdapter(_Written)


def read(file: Path) -> list[Benchmark]:
    """Read the one run of a file: its rate of requests that did not fail; it failed where all of them did.

    Raises:
        StudyError: the file is missing, too large, no such summary, or tells of no request.
    """
    found = document(file, _DOCUMENT, _KIND, _FIX)
    asked, failed = _values(found, "http_reqs"), _values(found, "http_req_failed")
    count, seconds = _number(asked.get("count")), found.config.duration or found.state.ms / 1000
    # --summary-export has no duration, but the rate over it.
    rate = count / seconds if seconds else _number(asked.get("rate"))
    share = _number(failed.get("rate", failed.get("value", 0.0)))
    if not count or not rate or not 0 <= share <= 1:
        raise StudyError.one(f"{file.name}: http_reqs", "no count and rate of answers", _KIND, _FIX)
    if share == 1:
        return [failed_run("k6", "requests", {}, "1/s")]
    return [Benchmark("k6", "requests", {}, "1/s", (fork([rate * (1 - share)]),))]


def _values(found: _Written, name: str) -> _Values:
    if found.results:
        return next((one.values for one in found.results.metrics if one.name == name), {})
    metric = found.metrics.get(name, {})
    values = metric.get("values", metric)
    return values if isinstance(values, dict) else {}


def _number(value: Any) -> float:
    """Return a number of a summary; 0 for anything else."""
    return float(value) if is_number(value) and 0 <= value <= float_info.max else 0.0
