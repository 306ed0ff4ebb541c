"""Results of oha: JSON (`--output-format json`, in older releases `--json`) or its printed summary; a run is a fork."""

import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, TypeAdapter

from scalograph.exchange.benchmark import Benchmark
from scalograph.exchange.readers.foreign_file import ForeignFile, ForeignPart
from scalograph.exchange.readers.load_summary import Answers, Counts, Errors, http_rate, printed_answers

_START = re.compile(r"^Summary:\n(?=  Success rate:)", re.MULTILINE)
_RUN = Benchmark("oha", "requests", {}, "1/s", ())


class _Times(ForeignPart):
    total: Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _Summary(ForeignPart):
    summary: _Times
    statuses: Counts = Field(alias="statusCodeDistribution")
    errors: Errors = Field(default={}, alias="errorDistribution")


_DOCUMENT = TypeAdapter(_Summary)


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the runs of a file: rates of right answers; a run failed where there are none."""
    if file.head.startswith("Summary:"):
        yield from file.runs(_START, lambda output: http_rate(_RUN, printed_answers(output)))
    else:
        summary = file.document(_DOCUMENT)
        yield http_rate(_RUN, Answers(summary.summary.total, summary.statuses, summary.errors))
