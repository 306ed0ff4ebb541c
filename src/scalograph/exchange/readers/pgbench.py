"""Output of pgbench: each run is a fork, its score the transactions per second."""

import re
from collections.abc import Iterator
from dataclasses import replace

from scalograph.exchange.benchmark import Benchmark, fail, fork
from scalograph.exchange.readers.foreign_file import ForeignFile, PartError, find_fields, first_group

_START = re.compile(r"^transaction type: ?(.*)$", re.MULTILINE)
# Without connection time; before release 14 both were printed.
_RATE = re.compile(
    r"^tps = ([0-9]+\.[0-9]+) \((?:without initial connection time|excluding connections establishing|"
    r"including reconnection times)\)$",
    re.MULTILINE,
)
# With -t: transactions done, and requested; an aborted client leaves the rest undone.
_DONE = re.compile(r"^number of transactions actually processed: ([0-9]{1,18})(?:/([0-9]{1,18}))?$", re.MULTILINE)
_FAILED = re.compile(r"^number of failed transactions: ([0-9]{1,18}) ", re.MULTILINE)
_SKIPPED = re.compile(r"^number of transactions skipped: ([0-9]{1,18}) ", re.MULTILINE)
_ABORTED = "Run was aborted"
_PARAMS = {
    "clients": re.compile(r"^number of clients: ([0-9]{1,6})$", re.MULTILINE),
    "threads": re.compile(r"^number of threads: ([0-9]{1,6})$", re.MULTILINE),
    "scale": re.compile(r"^scaling factor: ([0-9]{1,9})$", re.MULTILINE),
}
_FACTS = {
    "query mode": re.compile(r"^query mode: (\w{1,40})$", re.MULTILINE),
    "tries": re.compile(r"^maximum number of tries: ([0-9]{1,9})$", re.MULTILINE),
    "latency limit": re.compile(r"^number of transactions above the (.{1,40}) latency limit: ", re.MULTILINE),
}
# With --rate, whose value is not printed.
_GIVEN_RATE, _GIVEN = "\nrate limit schedule lag: ", "at a rate that was given (--rate)"
_SCRIPT = re.compile(r"^SQL script [0-9]{1,3}: (.{1,200})\n(?: - weight: ([0-9]{1,9}))?", re.MULTILINE)
_LATE = re.compile(r"^number of transactions above the .{1,40} latency limit: ([0-9]{1,18})\b", re.MULTILINE)


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the runs of a file that holds one output or several.

    A run without a transaction, or whose clients were aborted, failed.
    """
    return file.runs(_START, _run)


def _run(output: str) -> Benchmark:
    params, facts = find_fields(_PARAMS, output), find_fields(_FACTS, output)
    # One script has its name at the top.
    if len(scripts := _SCRIPT.findall(output)) > 1:
        facts["scripts"] = ", ".join(f"{weight}x {script}" if weight else script for script, weight in scripts)[:400]
    name = f"pgbench {first_group(_START, output).strip()[:200]}".strip()
    run, rate = Benchmark(name, "transactions", params, "1/s", (), facts=facts), first_group(_RATE, output)
    done, n_failed = _DONE.search(output), int(first_group(_FAILED, output) or 0)
    n_skipped = int(first_group(_SKIPPED, output) or 0)
    n_done, n_asked = (int(done[1]), int(done[2] or 0)) if done else (0, 0)
    failed = f"{n_failed:,} transactions failed" if n_failed else ""
    if _ABORTED in output or n_done + n_failed + n_skipped < n_asked:
        of = f"aborted at {n_done:,} of {n_asked:,} transactions" if n_asked else f"aborted at {n_done:,} transactions"
        return fail(run, "; ".join(filter(None, (of, failed))))
    if not n_done and done:
        return fail(run, failed or "no transaction")
    if not rate:
        raise PartError("an output without its rate")
    if not float(rate):
        return fail(run, failed or "no transaction")
    n_late = int(first_group(_LATE, output) or 0)
    late = f"{n_late:,} transactions late" if n_late else ""
    skipped = f"{n_skipped:,} transactions skipped" if n_skipped else ""
    problems = ", ".join(filter(None, (failed, skipped, late)))
    warnings = [f"{problems} beside {n_done:,}"] if problems else []
    warnings += [_GIVEN] if _GIVEN_RATE in output else []
    return replace(run, forks=(fork([float(rate)]),), warnings=tuple(warnings))
