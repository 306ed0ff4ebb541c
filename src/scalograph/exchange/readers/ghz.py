"""Results of ghz: JSON (`-O json`, `-O pretty`) or its printed summary; a run is a fork, right is the status OK."""

import re
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from scalograph.exchange.benchmark import Benchmark
from scalograph.exchange.readers.foreign_file import ForeignFile, ForeignPart, ReadValue, Text
from scalograph.exchange.readers.load_summary import Answers, Counts, Errors, named_rate, printed_answers

_START = re.compile(r"^Summary:\n(?=(?:  Name:.*\n)?  Count:)", re.MULTILINE)
_PARAMS = ("concurrency", "connections", "rps")
_FACTS = {"host": "host", "async": "async", "CPUs": "client CPUs", "load-schedule": "load schedule"}


class _CallReport(ForeignPart):
    name: Text = ""
    end: Text = Field(default="", alias="endReason")
    options: dict[Text, Any] = Field(default={})
    # Nanoseconds.
    total: ReadValue
    rps: ReadValue
    statuses: Annotated[Counts | None, Field(alias="statusCodeDistribution")]
    errors: Annotated[Errors | None, Field(alias="errorDistribution")] = None


_DOCUMENT = TypeAdapter(_CallReport)


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the runs of a file; a run without a right answer failed."""
    if file.head.lstrip().startswith("Summary:"):
        run = Benchmark("ghz", "calls", {}, "1/s", ())
        return file.runs(_START, lambda output: named_rate(run, printed_answers(output), "OK"))
    return file.each([("", file.document(_DOCUMENT))], lambda _, report: _benchmark(report))


def _benchmark(report: _CallReport) -> Benchmark:
    options = report.options
    params = {name: str(options[name])[:200] for name in _PARAMS if options.get(name)}
    facts = {name: str(options[key])[:200] for key, name in _FACTS.items() if options.get(key)}
    warnings = (f"it ended by {report.end[:80]}",) if report.end not in ("", "normal") else ()
    name = f"ghz {report.name or options.get('call') or ''}".strip()[:200]
    run = Benchmark(name, "calls", params, "1/s", (), facts=facts, warnings=warnings)
    return named_rate(run, Answers(report.total * 1e-9, report.statuses or {}, report.errors or {}), "OK")
