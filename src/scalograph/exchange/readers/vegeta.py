"""Reports of vegeta (`-type=json` or text): an attack is a fork, its score the right answers per second.

An attack sends at a rate that was asked for, so its rate is a param.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isclose
from typing import Any

from pydantic import Field, TypeAdapter

from scalograph.exchange.benchmark import Benchmark
from scalograph.exchange.readers.foreign_file import ForeignFile, ForeignPart, PartError, ReadValue
from scalograph.exchange.readers.load_summary import Answers, Count, Counts, http_rate

_START = re.compile(r"^Requests +\[total, rate.*\] +(.*)$", re.MULTILINE)
_TIME = re.compile(r"^Duration +\[.*\] +([0-9a-zµ.]{1,40})", re.MULTILINE)
_CODES = re.compile(r"^Status Codes +\[code:count\] +(.*)$", re.MULTILINE)
_CODE = re.compile(r"\b([0-9]{1,3}):([0-9]{1,15})\b")
_ERROR = re.compile(r"^Error Set:\n(.{1,200})", re.MULTILINE)
_PIECE = re.compile(r"([0-9]+(?:\.[0-9]+)?)(h|ms|m|s|us|µs|ns)")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
# Below this share of the rate that was sent, the target or vegeta did not keep up.
_KEPT_UP = 0.95


class _AttackReport(ForeignPart):
    requests: Count
    rate: ReadValue
    # Nanoseconds of the attack, and until the last answer.
    duration: ReadValue
    wait: ReadValue
    statuses: Counts = Field(alias="status_codes")
    errors: list[Any] | None = None


_DOCUMENT = TypeAdapter(_AttackReport)


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the attacks of a file; one without a right answer failed."""
    if not file.head.lstrip().startswith("{"):
        return file.runs(_START, _read_text)
    report = file.document(_DOCUMENT)
    seconds = (report.duration + report.wait) * 1e-9
    parts = [("", Answers(seconds, report.statuses, {}))]
    return file.each(parts, lambda _, answers: _attack(report.requests, answers, report.errors or [], report.rate))


def _read_text(output: str) -> Benchmark:
    total, time, codes = (pattern.search(output) for pattern in (_START, _TIME, _CODES))
    counts = [part.strip() for part in total[1].split(",")] if total else []
    if not time or not codes or len(counts) < 2 or not counts[0].isdecimal():
        raise PartError("a report without its counts")
    seconds = sum(float(value) * _SECONDS[unit] for value, unit in _PIECE.findall(time[1]))
    statuses = {code: int(n) for code, n in _CODE.findall(codes[1])}
    try:
        return _attack(int(counts[0]), Answers(seconds, statuses, {}), _ERROR.findall(output), float(counts[1]))
    except ValueError as error:
        raise PartError(f'rate "{counts[1][:40]}" is no number') from error


def _attack(n: int, answers: Answers, errors: Sequence[object], rate: float) -> Benchmark:
    params = {"rate": f"{_target_rate(n, rate):.15g}"}
    run = http_rate(Benchmark("vegeta", "requests", params, "1/s", ()), answers)
    warnings = [*run.warnings]
    if warnings and errors:
        warnings[0] += f" ({str(errors[0])[:120]})"
    if run.forks and run.forks[0].values[0] < _KEPT_UP * rate and not isclose(rate, 0.0):
        warnings.append(f"{rate:.4g} requests/s were sent")
    return replace(run, warnings=tuple(warnings))


def _target_rate(n: int, rate: float) -> float:
    """Return the rate that was asked for: the roundest number within 1% of that between the first and last request.

    >>> _target_rate(200, 100.08), _target_rate(5, 6.29), _target_rate(2500, 1250.5)
    (100.0, 5.0, 1250.0)
    """
    sent = rate * (n - 1) / n if n > 1 else rate
    rounded = (float(f"{sent:.{digits}g}") for digits in range(1, 16))
    return next((value for value in rounded if isclose(value, sent, rel_tol=0.01)), sent)
