"""Output of wrk 1 to 4: each run is a fork, its score the right answers per second."""

import re
from collections.abc import Iterator
from dataclasses import replace

from scalograph.exchange.benchmark import Benchmark, fail, fork
from scalograph.exchange.readers.foreign_file import ForeignFile, PartError, first_group

_START = re.compile(r"^(?:Running \S+ test @ |Making [0-9]+ requests to )(.*)$", re.MULTILINE)
_LOAD = re.compile(r"^ +([0-9]{1,6}) threads and ([0-9]{1,9}) connections$", re.MULTILINE)
_COUNT = re.compile(r"^ +([0-9]{1,18}) requests in ([0-9.]{1,30})([a-z]{1,2}), ", re.MULTILINE)
# A line that ends: of a number that was cut only a part is there.
_RATE = re.compile(r"^Requests/sec: +([0-9]+\.?[0-9]*)\n", re.MULTILINE)
_STATUS = re.compile(r"^ +Non-2xx or 3xx responses: ([0-9]{1,18})$", re.MULTILINE)
_SOCKET = re.compile(r"^ +Socket errors: (.*)$", re.MULTILINE)
_KIND = re.compile(r"(connect|read|write|timeout) ([0-9]{1,18})")
# Of wrk2, which does not print the rate.
_GIVEN_RATE, _GIVEN = "Thread calibration: ", "at a rate that was given (-R)"
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
# A year: what is longer is a clock that went backward.
_MOST_SECONDS = 3e7


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the runs of a file that holds one output or several; a run without a right answer failed."""
    return file.runs(_START, _run)


def _run(output: str) -> Benchmark:
    load, count, rate = _LOAD.search(output), _COUNT.search(output), first_group(_RATE, output)
    if not (load and count and rate):
        raise PartError("an output without its rate")
    params = {"connections": load[2], "threads": load[1]}
    run = Benchmark(f"wrk {first_group(_START, output)[:200]}", "requests", params, "1/s", ())
    n, seconds = int(count[1]), float(count[2]) * _SECONDS.get(count[3], 1.0)
    errors = {kind: int(number) for kind, number in _KIND.findall(first_group(_SOCKET, output))}
    wrong = int(first_group(_STATUS, output) or 0) + errors.get("timeout", 0)
    lost = [f"{number:,} {kind} errors" for kind, number in errors.items() if number and kind != "timeout"]
    late = [f"{errors['timeout']:,} late answers"] if errors.get("timeout") else []
    late += [f"{wrong - errors.get('timeout', 0):,} wrong answers"] if wrong > errors.get("timeout", 0) else []
    problems = ", ".join([*lost, *late])
    if n and seconds > _MOST_SECONDS:
        return fail(run, f"{n:,} requests in an impossible time, {count[2]}{count[3]}")
    if wrong >= n:
        return fail(
            run, f"all {n:,} answers late or wrong" if n else f"no answer, {problems}" if problems else "no answer"
        )
    warnings = [f"{problems} beside {n:,} answers"] if problems else []
    warnings += [_GIVEN] if _GIVEN_RATE in output else []
    return replace(run, forks=(fork([float(rate) * (1 - wrong / n)]),), warnings=tuple(warnings))
