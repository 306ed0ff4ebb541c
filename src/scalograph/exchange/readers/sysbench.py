"""Output of sysbench 0.4 to 1: each run is a fork, its score the events per second."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from scalograph.exchange.benchmark import Benchmark, fail, fork
from scalograph.exchange.readers.foreign_file import ForeignFile, PartError, first_group

_START = re.compile(r"^sysbench [0-9]\S*.*$", re.MULTILINE)
_THREADS = re.compile(r"^Number of threads: ([0-9]{1,6})$", re.MULTILINE)
_SECONDS = re.compile(r"^ +(?:total time|time elapsed): +([0-9]+\.[0-9]+)s$", re.MULTILINE)
# A line that ends: of a number that was cut only a part is there.
_EVENTS = re.compile(r"^ +total number of events: +([0-9]{1,18})\n", re.MULTILINE)
# Before release 1.0 deadlocks were the only errors that were ignored.
_IGNORED = re.compile(r"^ +(?:ignored errors|deadlocks): +([0-9]{1,18}) ", re.MULTILINE)
_FATAL = re.compile(r"^FATAL: (.{1,200})$", re.MULTILINE)
# Before the threads start, sysbench prints what the test was given, such as "Prime numbers limit: 10000".
_SETTING = re.compile(r"^ *([A-Za-z][\w ()/-]{0,60}): (.{1,200})$", re.MULTILINE)
# Before release 0.5 it stands after the test.
_PRIMES = re.compile(r"^Maximum prime number checked in CPU test: ([0-9]{1,18})$", re.MULTILINE)
_BEGIN = re.compile(r"^(?:Initializing worker threads|Threads started|CPU speed:|Total operations:)", re.MULTILINE)
_MOST_SETTINGS = 20
# sysbench does not print which test it ran, but some tests have a heading of their own.
_HEADINGS = {
    "CPU speed:": "cpu", "SQL statistics:": "sql", "File operations:": "fileio", "Total operations:": "memory",
    "Maximum prime number checked in CPU test:": "cpu", "Primer numbers limit:": "cpu", "OLTP test statistics:": "sql",
    "Memory operations type:": "memory", "Memory transfer size:": "memory", "Extra file open flags:": "fileio",
}  # fmt: skip


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the runs of a file that holds one output or several, by threads; a run without an event failed."""
    return file.runs(_START, _run)


def _run(output: str) -> Benchmark:
    seconds, events, fatal = (first_group(pattern, output) for pattern in (_SECONDS, _EVENTS, _FATAL))
    test = next((name for heading, name in _HEADINGS.items() if f"\n{heading}" in output), "test")
    params = {"threads": first_group(_THREADS, output) or "1"}
    run = Benchmark(f"sysbench {test}", "events", params, "1/s", (), facts=_settings(output))
    if not seconds or not events or not float(seconds):
        if fatal:
            return fail(run, fatal)
        raise PartError("an output without its events and time")
    if not int(events):
        return fail(run, fatal or "no event")
    ignored = int(first_group(_IGNORED, output) or 0)
    warnings = (f"{ignored:,} errors ignored beside {int(events):,} events",) if ignored else ()
    return replace(run, forks=(fork([int(events) / float(seconds)]),), warnings=warnings)


def _settings(output: str) -> dict[str, str]:
    begin = _BEGIN.search(output)
    head = output[: begin.start()] if begin else ""
    settings = islice(_SETTING.finditer(head), _MOST_SETTINGS)
    primes = {"Prime numbers limit": limit} if (limit := first_group(_PRIMES, output)) else {}
    return {match[1].strip(): match[2].strip() for match in settings if match[1] != "Number of threads"} | primes
