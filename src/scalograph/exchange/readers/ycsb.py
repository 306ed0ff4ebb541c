"""Output of YCSB: each run is a fork, its score the operations per second that returned OK."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from scalograph.exchange.benchmark import Benchmark, join_same
from scalograph.exchange.readers.foreign_file import MAX_BENCHMARKS, ForeignFile, PartError, find_fields, first_group
from scalograph.exchange.readers.load_summary import right_rate

_START = re.compile(r"^(?:Command line: .*|\[OVERALL\], RunTime\(ms\), .*)$", re.MULTILINE)
_RATE = re.compile(r"^\[OVERALL\], Throughput\(ops/sec\), ([0-9.]{1,30}(?:E-?[0-9]{1,2})?)$", re.MULTILINE)
_TIME = re.compile(r"^\[OVERALL\], RunTime\(ms\), ([0-9]{1,15})(?:\.[0-9]{1,9})?$", re.MULTILINE)
# By its name, or by its number in old releases: 0 was right.
_RETURN = re.compile(r"^\[([A-Z-]{1,60})\], Return=(-?\w{1,60}), ([0-9]{1,15})$", re.MULTILINE)
_RIGHT = {"OK", "BATCHED_OK", "0"}
_COMMAND = {
    "threads": re.compile(r"^Command line: .*-threads ([0-9]{1,9})\b", re.MULTILINE),
    "target": re.compile(r"^Command line: .*-target ([0-9]{1,12})\b", re.MULTILINE),
    "workload": re.compile(r"^Command line: .*-P \S*?([\w.-]{1,100})(?: |$)", re.MULTILINE),
    "database": re.compile(r"^Command line: .*-db (\S{1,200})", re.MULTILINE),
}

_LOAD = re.compile(r"^Command line: (?:.* )?-load(?: |$)", re.MULTILINE)


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the runs of a file that holds one output or several; a run in which no operation was right failed."""
    yield from join_same(file.each(_runs(file), lambda _, output: _run(output)))


def _runs(file: ForeignFile) -> Iterator[tuple[str, str]]:
    """Yield each run, with its command line where it stands before the run."""
    command = ""
    for where, output in file.outputs(_START):
        if output.startswith("Command line: "):
            command = output.partition("\n")[0]
        else:
            yield where, f"{command}\n{output}"
            command = ""


def _run(output: str) -> Benchmark:
    rate, returned = first_group(_RATE, output), Counter[str]()
    for match in islice(_RETURN.finditer(output), MAX_BENCHMARKS):
        if match[1] != "CLEANUP":
            returned[f"{match[1]} returned {match[2]}"] += int(match[3])
    wrong = {name: n for name, n in returned.items() if name.split()[-1] not in _RIGHT}
    right, n_all = returned.total() - sum(wrong.values()), returned.total()
    try:
        seconds = n_all / float(rate) if float(rate) else 0.0
    except ValueError as error:
        raise PartError("an output without its rate") from error
    # Where a run was cut, some of what went wrong may be missing.
    if n_all < (n_run := round(float(rate) * int(first_group(_TIME, output) or 0) / 1000)):
        raise PartError(f"an output without the results of {n_run - n_all:,} of {n_run:,} operations")
    settings = find_fields(_COMMAND, output)
    params = {name: text for name, text in settings.items() if name in ("threads", "target")}
    params |= {"phase": "load"} if _LOAD.search(output) else {}
    facts = {name: text for name, text in settings.items() if name not in params}
    return right_rate(Benchmark("ycsb", "operations", params, "1/s", (), facts=facts), right, seconds, wrong)
