"""Output of wrk 4: each run is a fork, its score the successful requests per second. Executes nothing."""

import re
from pathlib import Path

from scalograph.exchange.benchmark import Benchmark, failed_run, fork
from scalograph.exchange.readers.printed_runs import number, printed_runs

_KIND = "the output of wrk 4"
_FIX = "write it anew with: wrk ... URL > FILE"
_START = re.compile(r"^Running \S+ test @ (.*)$", re.MULTILINE)
_LOAD = re.compile(r"^ +([0-9]{1,6}) threads and ([0-9]{1,9}) connections$", re.MULTILINE)
_COUNT = re.compile(r"^ +([0-9]{1,18}) requests in ", re.MULTILINE)
_RATE = re.compile(r"^Requests/sec: +([0-9]+\.?[0-9]*)$", re.MULTILINE)
_STATUS = re.compile(r"^ +Non-2xx or 3xx responses: ([0-9]{1,18})$", re.MULTILINE)
_LATE = re.compile(r"^ +Socket errors: .*timeout ([0-9]{1,18})$", re.MULTILINE)


def read(file: Path) -> list[Benchmark]:
    """Read the runs of a file that holds one output or several: successful requests per second.

    A run without a successful request failed.
    """
    return printed_runs(file, _KIND, _START, _run, _FIX)


def _run(output: str) -> Benchmark | None:
    load, count, rate = _LOAD.search(output), number(_COUNT, output), number(_RATE, output)
    if not (load and rate and count):
        return None
    name, params = f"wrk {number(_START, output)[:200]}", {"connections": load[2], "threads": load[1]}
    wrong = int(number(_STATUS, output) or 0) + int(number(_LATE, output) or 0)
    if wrong >= int(count):
        return failed_run(name, "requests", params, "1/s")
    right = float(rate) * (1 - wrong / int(count))
    return Benchmark(name, "requests", params, "1/s", (fork([right]),))
