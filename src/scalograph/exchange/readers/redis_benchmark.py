"""Output of redis-benchmark, printed, `-q`, or `--csv`: each test is a fork, its score the requests per second.

It stops at the first error, and gives the test that met it no figure.
"""

import re
from collections.abc import Iterator
from math import isfinite

from scalograph.exchange.benchmark import Benchmark, fail
from scalograph.exchange.readers.foreign_file import ForeignFile, PartError, find_fields, first_group
from scalograph.exchange.readers.load_summary import right_rate

# A test of the long form, of -q, of --csv, and one that an error ended after its line of progress.
_START = re.compile(
    r"^ ?(?:====== (?P<long>.{1,200}?) ======"
    r"|(?P<quiet>\S.{0,200}?): (?P<rate>[0-9.]{1,30}) requests per second\b.*"
    r'|"(?P<row>[^"\n]{1,200})","(?P<column>-?(?:[0-9.]{1,30}|nan|inf))"(?:,"[^"\n]*")*'
    r"|(?P<ended>\S.{0,200}?): rps=.*\n\s*(?P<error>Error.{1,200}))\s*$",
    re.MULTILINE,
)
_RATE = re.compile(r"^ *(?:throughput summary: )?([0-9.]{1,30}) requests per second$", re.MULTILINE)
_PARAMS = {
    "clients": re.compile(r"^ +([0-9]{1,9}) parallel clients$", re.MULTILINE),
    "payload": re.compile(r"^ +([0-9]{1,12}) bytes payload$", re.MULTILINE),
    "threads": re.compile(r"^ +threads: ([0-9]{1,6})$", re.MULTILINE),
}
_FACTS = {
    "keep alive": re.compile(r"^ +keep alive: ([0-9])$", re.MULTILINE),
    "save": re.compile(r'^ +host configuration "save": (.{1,80})$', re.MULTILINE),
    "appendonly": re.compile(r'^ +host configuration "appendonly": (.{1,20})$', re.MULTILINE),
}


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the tests of a file; one that an error ended failed."""
    return file.runs(_START, _test)


def _test(output: str) -> Benchmark:
    start = _START.match(output)
    if not start:
        raise PartError("no test")
    params, facts = find_fields(_PARAMS, output), find_fields(_FACTS, output)
    test = start["long"] or start["quiet"] or start["row"] or start["ended"]
    run = Benchmark(f"redis-benchmark {test}", "requests", params, "1/s", (), facts=facts)
    if start["error"]:
        return fail(run, start["error"].strip())
    text = start["rate"] or start["column"] or first_group(_RATE, output)
    try:
        rate = float(text)
    except ValueError as error:
        raise PartError(f"{test[:80]}: an output without its rate") from error
    if not isfinite(rate):
        raise PartError(f"{test[:80]}: a rate of {text}")
    return right_rate(run, rate, None, {})
