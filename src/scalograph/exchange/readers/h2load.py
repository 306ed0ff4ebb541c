"""Output of h2load: each run is a fork, its score the right answers per second."""

import re
from collections.abc import Iterator
from itertools import islice

from scalograph.exchange.benchmark import Benchmark
from scalograph.exchange.readers.foreign_file import MAX_BENCHMARKS, ForeignFile, PartError, first_group
from scalograph.exchange.readers.load_summary import right_rate

_START = re.compile(r"^starting benchmark\.\.\.$", re.MULTILINE)
_THREAD = re.compile(r"^spawning thread #[0-9]{1,6}: ([0-9]{1,9}) total client\(s\)", re.MULTILINE)
_RATE = re.compile(r"^finished in \S+, ([0-9]{1,18}\.[0-9]{1,9}) req/s", re.MULTILINE)
_COUNTS = re.compile(r"^requests: [0-9]+ total.*$", re.MULTILINE)
_COUNT = re.compile(r"([0-9]{1,15}) (\w+)")
_PROTOCOL = re.compile(r"^Application protocol: (\S{1,40})$", re.MULTILINE)


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the runs of a file that holds one output or several; a run without a right answer failed."""
    return file.runs(_START, _run)


def _run(output: str) -> Benchmark:
    rate, counted = first_group(_RATE, output), _COUNTS.search(output)
    counts = {name: int(n) for n, name in _COUNT.findall(counted[0])} if counted else {}
    if not rate or not {"succeeded", "failed", "errored", "timeout"} <= counts.keys():
        raise PartError("an output without its rate")
    clients = [int(match[1]) for match in islice(_THREAD.finditer(output), MAX_BENCHMARKS)]
    params = {"clients": str(sum(clients)), "threads": str(len(clients))} if clients else {}
    protocol = first_group(_PROTOCOL, output)
    run = Benchmark("h2load", "requests", params, "1/s", (), facts={"protocol": protocol} if protocol else {})
    # Those that failed are the errors too; its rate is of all that were answered.
    right, answered = counts["succeeded"], counts["succeeded"] + max(0, counts["failed"] - counts["errored"])
    wrong = {"with a wrong status": answered - right, "errors": counts["errored"], "timeouts": counts["timeout"]}
    return right_rate(run, right, answered / float(rate) if float(rate) else 0.0, wrong)
