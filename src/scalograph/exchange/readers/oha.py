"""Results of oha 1 (`--output-format json`): one run, so one fork; requests per second."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, TypeAdapter

from scalograph.exchange.benchmark import Benchmark, fail, fork
from scalograph.exchange.readers.foreign_file import ForeignFile, ForeignPart, Text, limit_entries

_WRONG = 400  # statuses from here on are no right answers
_MOST_NAMED = 3

_Count = Annotated[int, Field(ge=0, le=1 << 53)]
_Counts = Annotated[dict[Text, _Count], limit_entries(1000)]


class _Times(ForeignPart):
    total: Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _Summary(ForeignPart):
    summary: _Times
    statuses: _Counts = Field(alias="statusCodeDistribution")
    errors: _Counts = Field(default={}, alias="errorDistribution")


_DOCUMENT = TypeAdapter(_Summary)


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the one run of a file: its rate of statuses below 400; it failed where there are none."""
    summary = file.document(_DOCUMENT)
    if strange := [status for status in summary.statuses if not (status.isascii() and status.isdecimal())]:
        raise file.refusal("statusCodeDistribution", f'"{strange[0][:40]}" is no status such as 200')
    right = sum(n for status, n in summary.statuses.items() if int(status) < _WRONG)
    wrong = [f"{n:,} with status {status}" for status, n in summary.statuses.items() if int(status) >= _WRONG and n]
    wrong += [f"{n:,} {error[:60]}" for error, n in summary.errors.items() if n]
    warning = f"{right:,} right answers; {', '.join(wrong[:_MOST_NAMED])}" if wrong else ""
    rate = right / summary.summary.total
    run = Benchmark("oha", "requests", {}, "1/s", (fork([rate]),), warnings=(warning,) if warning else ())
    yield run if right else fail(run, warning or "no answer")
