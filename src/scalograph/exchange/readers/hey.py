"""Output of hey, printed or by `-o csv`: each run is a fork, its score the right answers per second."""

import re
from collections import Counter
from collections.abc import Iterator

from scalograph.exchange.benchmark import Benchmark
from scalograph.exchange.readers.foreign_file import ForeignFile
from scalograph.exchange.readers.load_summary import Answers, http_rate, printed_answers

# oha prints the rate of success first, ghz the count.
_START = re.compile(r"^Summary:\n(?=  Total:\t[0-9.]+ secs$)", re.MULTILINE)
_COLUMNS = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset"
_ROW = re.compile(r"([0-9.]{1,30}),(?:[^,]{0,30},){5}([0-9]{1,3}),([0-9.]{1,30})")
_RUN = Benchmark("hey", "requests", {}, "1/s", ())


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the runs of a file that holds one output or several; a run without a right answer failed."""
    if file.head.lstrip().startswith(_COLUMNS):
        yield http_rate(_RUN, _listed_answers(file))
    else:
        yield from file.runs(_START, lambda output: http_rate(_RUN, printed_answers(output)))


def _listed_answers(file: ForeignFile) -> Answers:
    """Return the counts of a table of answers, which lasts until the last one; errors have no row."""
    statuses, end = Counter[str](), 0.0
    for number, line in file.lines():
        if match := _ROW.fullmatch(line):
            try:
                end = max(end, float(match[1]) + float(match[3]))
            except ValueError:
                file.leave_out(f"line {number}", "no number of seconds")
                continue
            statuses[match[2]] += 1
        elif line and line != _COLUMNS:
            file.leave_out(f"line {number}", "no row of an answer")
    if statuses and not end:
        raise file.refusal("", "answers in no time")
    return Answers(end, statuses, {})
