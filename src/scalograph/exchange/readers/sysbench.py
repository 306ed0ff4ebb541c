"""Output of sysbench 1: each run is a fork, its score the events per second. Executes nothing."""

import re
from pathlib import Path

from scalograph.exchange.benchmark import Benchmark, failed_run, fork
from scalograph.exchange.readers.printed_runs import number, printed_runs

_KIND = "the output of sysbench 1"
_FIX = "write it anew with: sysbench ... run > FILE"
_START = re.compile(r"^sysbench [0-9]\S*.*$", re.MULTILINE)
_THREADS = re.compile(r"^Number of threads: ([0-9]{1,6})$", re.MULTILINE)
_SECONDS = re.compile(r"^ +total time: +([0-9]+\.[0-9]+)s$", re.MULTILINE)
_EVENTS = re.compile(r"^ +total number of events: +([0-9]{1,18})$", re.MULTILINE)
# sysbench does not print which test it ran, but some tests have a heading of their own.
_HEADINGS = {"CPU speed:": "cpu", "SQL statistics:": "sql", "File operations:": "fileio", "Total operations:": "memory"}


def read(file: Path) -> list[Benchmark]:
    """Read the runs of a file that holds one output or several: events per second, by threads.

    A run without an event failed.
    """
    return printed_runs(file, _KIND, _START, _run, _FIX)


def _run(output: str) -> Benchmark | None:
    seconds, events = number(_SECONDS, output), number(_EVENTS, output)
    if not seconds or not events or not float(seconds):
        return None
    test = next((name for heading, name in _HEADINGS.items() if f"\n{heading}" in output), "test")
    threads = number(_THREADS, output) or "1"
    if not int(events):
        return failed_run(f"sysbench {test}", "events", {"threads": threads}, "1/s")
    rate = int(events) / float(seconds)
    return Benchmark(f"sysbench {test}", "events", {"threads": threads}, "1/s", (fork([rate]),))
