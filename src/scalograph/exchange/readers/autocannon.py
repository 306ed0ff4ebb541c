"""Results of autocannon (`-j`): a run is a fork, its score the right answers per second."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, TypeAdapter

from scalograph.exchange.benchmark import Benchmark
from scalograph.exchange.readers.foreign_file import ForeignFile, ForeignPart, ReadValue, Text
from scalograph.exchange.readers.load_summary import Count, right_rate


class _ServerLoad(ForeignPart):
    url: Text = ""
    title: Text | None = None
    connections: Count
    pipelining: Count = 1
    workers: Count = 0
    # Seconds.
    duration: ReadValue
    right: Annotated[Count, Field(alias="2xx")]
    redirected: Annotated[Count, Field(alias="3xx")] = 0
    non2xx: Count
    # Includes timeouts.
    errors: Count
    timeouts: Count
    mismatches: Count = 0
    resets: Count = 0


_DOCUMENT = TypeAdapter(_ServerLoad)


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the one run of a file; it failed where no answer was right."""
    yield from file.each([("", file.document(_DOCUMENT))], lambda _, result: _benchmark(result))


def _benchmark(result: _ServerLoad) -> Benchmark:
    params = {"connections": str(result.connections), "pipelining": str(result.pipelining)}
    facts = {"workers": str(result.workers)} if result.workers else {}
    name = f"autocannon {result.title or result.url}".strip()[:200]
    wrong = {
        "with a wrong status": result.non2xx - result.redirected,
        "with a wrong body": result.mismatches,
        "timeouts": result.timeouts,
        "other errors": result.errors - result.timeouts,
        "connections reset": result.resets,
    }
    right = result.right + result.redirected - result.mismatches
    return right_rate(Benchmark(name, "requests", params, "1/s", (), facts=facts), right, result.duration, wrong)
