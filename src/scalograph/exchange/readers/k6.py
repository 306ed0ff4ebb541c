"""Summaries of k6: one run, so one fork; successful requests per second. Executes nothing.

Three forms: `--summary-export`, the object that handleSummary gets, and the one that it gets since k6 1.5.
"""

from pathlib import Path
from sys import float_info
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark, failed_run, fork
from scalograph.exchange.readers.foreign_file import ForeignPart, ReadValue, Text, document, limit_entries
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
    ms: ReadValue = Field(default=0.0, alias="testRunDurationMs")


class _Config(ForeignPart):
    duration: ReadValue | None = None


class _Written(ForeignPart):
    """`metrics` by name, perhaps with their values one step deeper, or `results` with a list of them."""

    metrics: Annotated[dict[Text, dict[Text, Any]], limit_entries(10_000)] = Field(default={})
    results: _Results | None = None
    state: _State = _State()
    config: _Config = _Config()


_DOCUMENT = TypeAdapter(_Written)


def read(file: Path) -> list[Benchmark]:
    """Read the one run of a file: its rate of successful requests; it failed where there are none."""
    summary = document(file, _DOCUMENT, _KIND, _FIX)
    asked, failed = _values(summary, "http_reqs"), _values(summary, "http_req_failed")
    count, seconds = _number(asked.get("count")), summary.config.duration or summary.state.ms / 1000
    # --summary-export has no duration, but the rate over it.
    rate = count / seconds if seconds else _number(asked.get("rate"))
    share = _number(failed.get("rate", failed.get("value", 0.0)))
    if not count or not rate or not 0 <= share <= 1:
        raise StudyError.one(f"{file.name}: http_reqs", "no count and rate of answers", _KIND, _FIX)
    if share == 1:
        return [failed_run("k6", "requests", {}, "1/s")]
    return [Benchmark("k6", "requests", {}, "1/s", (fork([rate * (1 - share)]),))]


def _values(summary: _Written, name: str) -> _Values:
    if summary.results:
        return next((metric.values for metric in summary.results.metrics if metric.name == name), {})
    metric = summary.metrics.get(name, {})
    values = metric.get("values", metric)
    return values if isinstance(values, dict) else {}


def _number(value: Any) -> float:
    """Return a number of a summary; 0 for anything else."""
    return float(value) if is_number(value) and 0 <= value <= float_info.max else 0.0
