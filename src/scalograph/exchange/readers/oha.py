"""Results of oha 1 (`--output-format json`): one run, so one fork; requests per second. Executes nothing."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark, failed_run, fork
from scalograph.exchange.readers.foreign_file import ForeignPart, Text, document, limit_entries

_KIND = "a result of oha 1 (--output-format json)"
_FIX = "write it anew with: oha --no-tui --output-format json URL > FILE"
_WRONG = 400  # statuses from here on are no right answers

_Count = Annotated[int, Field(ge=0, le=1 << 53)]


class _Times(ForeignPart):
    total: Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _Summary(ForeignPart):
    summary: _Times
    statuses: Annotated[dict[Text, _Count], limit_entries(1000)] = Field(alias="statusCodeDistribution")


_DOCUMENT = TypeAdapter(_Summary)


def read(file: Path) -> list[Benchmark]:
    """Read the one run of a file: its rate of statuses below 400; it failed where there are none."""
    summary = document(file, _DOCUMENT, _KIND, _FIX)
    if strange := [status for status in summary.statuses if not (status.isascii() and status.isdecimal())]:
        raise StudyError.one(
            f"{file.name}: statusCodeDistribution", f'"{strange[0][:40]}"', "a status such as 200", _FIX
        )
    right = sum(n for status, n in summary.statuses.items() if int(status) < _WRONG)
    if not right:
        return [failed_run("oha", "requests", {}, "1/s")]
    return [Benchmark("oha", "requests", {}, "1/s", (fork([right / summary.summary.total]),))]
