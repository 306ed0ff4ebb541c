"""Metrics of stress-ng (`--metrics-brief`, `--metrics`, `--yaml`): a stressor is a fork, by bogo ops of real time."""

import re
from collections.abc import Iterator, Mapping
from itertools import chain, islice

from scalograph.exchange.benchmark import Benchmark, fail, join_same
from scalograph.exchange.readers.foreign_file import MAX_BENCHMARKS, ForeignFile, PartError, find_fields, first_group
from scalograph.exchange.readers.load_summary import right_rate

_START = re.compile(r"^stress-ng: .*dispatching hogs: (.*)$", re.MULTILINE)
_INSTANCES = re.compile(r"([0-9]{1,9}) ([a-z][\w-]{0,60})")
_HEAD = r"^stress-ng: \w+: +\[[0-9]+\] +"
# Bogo ops, seconds of real, user and system time, then bogo ops per second of real time.
_METRIC = re.compile(
    _HEAD + r"([a-z][\w-]{0,60}) +([0-9]{1,18}) +([0-9.]{1,30})(?: +[0-9.]{1,30}){2} +([0-9.]{1,30}) ", re.MULTILINE
)
_FAILED = re.compile(r"^stress-ng: (?:fail|error): +\[[0-9]+\] +(?:stress-ng-)?([a-z][\w-]{0,60}): (.{1,200})", re.M)
# "failed: 1: vm (1)": how many, and which.
_ENDED = re.compile(_HEAD + r"(failed|metrics untrustworthy|skipped): [0-9]+: (.{1,500})$", re.MULTILINE)
_NAME = re.compile(r"([a-z][\w-]{0,60}) \([0-9]+\)")
_ENTRY = re.compile(r"^ +- stressor: ([a-z][\w-]{0,60})\n((?: +[\w-]+: .*\n?)+)", re.MULTILINE)
_RATE = re.compile(r"^ +bogo-ops-per-second-real-time: ([0-9.]{1,30})$", re.MULTILINE)
_FACTS = {
    "stress-ng": re.compile(r"^ +stress-ng-version: (\S{1,40})$", re.MULTILINE),
    "host": re.compile(r"^ +hostname: (\S{1,80})$", re.MULTILINE),
    "kernel": re.compile(r"^ +release: (\S{1,80})$", re.MULTILINE),
    "compiler": re.compile(r"^ +compiler: '?([^'\n]{1,80})'?$", re.MULTILINE),
    "CPUs": re.compile(r"^ +cpus-online: ([0-9]{1,6})$", re.MULTILINE),
}


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the stressors of a file; one that failed, or whose metrics stress-ng does not trust, has no figure."""
    if file.head.startswith("---\nsystem-info:"):
        head, entries = file.text[:10_000], islice(_ENTRY.finditer(file.text), MAX_BENCHMARKS)
        facts = find_fields(_FACTS, head)
        every = [(match[1], first_group(_RATE, match[2])) for match in entries]
        yield from file.each(every, lambda name, rate: _add_rate(_stressor(name, {}, facts), rate))
        return
    runs = (_read_output(file, *output) for output in file.outputs(_START))
    yield from join_same(chain.from_iterable(runs))


def _read_output(file: ForeignFile, where: str, output: str) -> Iterator[Benchmark]:
    """Yield the stressors of a run, those without metrics too if they failed."""
    instances = {name: n for n, name in _INSTANCES.findall(first_group(_START, output))}
    reasons = dict[str, str]()
    for match in islice(_FAILED.finditer(output), MAX_BENCHMARKS):
        reasons.setdefault(match[1], match[2])
    for state, names in _ENDED.findall(output):
        if state == "skipped":
            file.leave_out(f"{where}: stressors {names}", "skipped")
        else:
            reasons = dict.fromkeys(_NAME.findall(names), state) | reasons
    rates = {match[1]: match[4] for match in islice(_METRIC.finditer(output), MAX_BENCHMARKS)}
    if not rates:
        file.leave_out(where, "a run without metrics: give --metrics-brief")

    def read_one(name: str, rate: str) -> Benchmark:
        run = _stressor(name, {"instances": instances[name]} if name in instances else {}, {})
        return fail(run, reasons[name]) if name in reasons else _add_rate(run, rate)

    names = dict.fromkeys([*rates, *(name for name in reasons if name in instances)])
    return file.each([(name, rates.get(name, "")) for name in names], read_one)


def _stressor(name: str, params: Mapping[str, str], facts: Mapping[str, str]) -> Benchmark:
    return Benchmark(f"stress-ng {name}", "bogo ops", params, "1/s", (), facts=facts)


def _add_rate(run: Benchmark, rate: str) -> Benchmark:
    try:
        return right_rate(run, float(rate), None, {})
    except ValueError as error:
        raise PartError("no bogo ops per second") from error
