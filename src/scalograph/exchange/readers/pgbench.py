"""Output of pgbench: each run is a fork, its score the transactions per second. Executes nothing."""

import re
from pathlib import Path

from scalograph.exchange.benchmark import Benchmark, failed_run, fork
from scalograph.exchange.readers.printed_runs import number, printed_runs

_KIND = "the output of pgbench"
_FIX = "write it anew with: pgbench ... > FILE"
_START = re.compile(r"^transaction type: ?(.*)$", re.MULTILINE)
# Without connection time; before release 14 both were printed.
_RATE = re.compile(
    r"^tps = ([0-9]+\.[0-9]+) \((?:without initial connection time|excluding connections establishing|"
    r"including reconnection times)\)$",
    re.MULTILINE,
)
# With -t: transactions done, and requested; an aborted client leaves the rest undone.
_DONE = re.compile(r"^number of transactions actually processed: ([0-9]{1,18})/([0-9]{1,18})$", re.MULTILINE)
_UNDONE = re.compile(r"^number of (?:failed transactions|transactions skipped): ([0-9]{1,18}) ", re.MULTILINE)
_PARAMS = {
    "clients": re.compile(r"^number of clients: ([0-9]{1,6})$", re.MULTILINE),
    "threads": re.compile(r"^number of threads: ([0-9]{1,6})$", re.MULTILINE),
    "scale": re.compile(r"^scaling factor: ([0-9]{1,9})$", re.MULTILINE),
}


def read(file: Path) -> list[Benchmark]:
    """Read the runs of a file that holds one output or several: transactions per second.

    A run without a transaction, or whose clients were aborted, failed.
    """
    return printed_runs(file, _KIND, _START, _run, _FIX)


def _run(output: str) -> Benchmark | None:
    rate = number(_RATE, output)
    if not rate:
        return None
    params = {name: value for name, pattern in _PARAMS.items() if (value := number(pattern, output))}
    kind = number(_START, output).strip()[:200]
    name, done = f"pgbench {kind}".strip(), _DONE.search(output)
    is_aborted = done and int(done[1]) + sum(map(int, _UNDONE.findall(output))) < int(done[2])
    if is_aborted or not float(rate):
        return failed_run(name, "transactions", params, "1/s")
    return Benchmark(name, "transactions", params, "1/s", (fork([float(rate)]),))
