"""What load generators tell alike: right and wrong answers, counted in JSON or printed in the form that hey began."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from typing import Annotated, NamedTuple

from pydantic import Field

from scalograph.exchange.benchmark import Benchmark, fail, fork
from scalograph.exchange.readers.foreign_file import PartError, Text, limit_entries

_MOST_NAMED = 3
_MOST_COUNTS = 1000
_HTTP = re.compile(r"[1-5][0-9]{2}")
_TOTAL = re.compile(r"^ *Total:\s+([0-9.]{1,30}) ?(secs?|[mun]?s|µs|min)$", re.MULTILINE)
_STATUS = re.compile(r"^ +\[(\w{1,40})\]\s+([0-9]{1,15}) responses?\s*$", re.MULTILINE)
_ERROR = re.compile(r"^ +\[([0-9]{1,15})\]\s+(\S.{0,200}).*$", re.MULTILINE)
_PORT = re.compile(r":[0-9]{1,5}->")
_SECONDS = {"min": 60.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
# At its deadline oha drops requests that are under way: these are no errors.
_UNDER_WAY = "aborted due to deadline"

Count = Annotated[int, Field(ge=0, le=1 << 53)]
Counts = Annotated[dict[Text, Count], limit_entries(_MOST_COUNTS)]
# Errors name their ports, so that there may be many.
Errors = Annotated[dict[str, Count], limit_entries(10 * _MOST_COUNTS)]


class Answers(NamedTuple):
    """The counts of one run: seconds that it took, answers by status, and errors by what they say."""

    seconds: float
    statuses: Mapping[str, int]
    errors: Mapping[str, int]


def right_rate(run: Benchmark, right: float, seconds: float | None, wrong: Mapping[str, float]) -> Benchmark:
    """Return a run with its right answers per second; it failed where there are none.

    `right` counts them, or is their rate where `seconds` is None. `wrong` counts what went wrong, by kind; the warning
    names the first. Raises PartError: it took no time.
    """
    kinds = [f"{n:,.0f} {kind[:80]}" for kind, n in wrong.items() if n > 0]
    named = ", ".join([*kinds[:_MOST_NAMED], *(["..."] if len(kinds) > _MOST_NAMED else [])])
    if right <= 0:
        return fail(run, f"no right answer: {named}" if named else "no answer")
    if seconds is None:
        warning, rate = f"{named} beside {right:,.0f}/s", right
    elif seconds > 0:
        warning, rate = f"{right:,.0f} right answers; {named}", right / seconds
    else:
        raise PartError(f"{right:,.0f} answers in no time")
    return replace(run, forks=(fork([rate]),), warnings=(*run.warnings, warning) if named else run.warnings)


def http_rate(run: Benchmark, answers: Answers) -> Benchmark:
    """Return a run with its rate of statuses from 200 to 399. Raises PartError: one is no status."""
    for status in answers.statuses:
        if not (_HTTP.fullmatch(status) or status == "0"):
            raise PartError(f'"{status[:40]}" is no status such as 200')
    right = sum(n for status, n in answers.statuses.items() if 200 <= int(status) < 400)
    wrong = {f"with status {code}": n for code, n in answers.statuses.items() if not 200 <= int(code) < 400}
    wrong = {kind.replace("with status 0", "without an answer"): n for kind, n in wrong.items()}
    return right_rate(run, right, answers.seconds, {**wrong, **_lost(answers)})


def named_rate(run: Benchmark, answers: Answers, right: str) -> Benchmark:
    """Return a run with its rate of the one right status, for protocols whose statuses are names."""
    wrong = {f"with status {status}": n for status, n in answers.statuses.items() if status != right}
    return right_rate(run, answers.statuses.get(right, 0), answers.seconds, wrong or _lost(answers))


def _lost(answers: Answers) -> dict[str, int]:
    """Return errors by what they say, whatever port a connection came from."""
    lost = Counter[str]()
    for error, n in answers.errors.items():
        lost[_PORT.sub("->", error[:_MOST_COUNTS])] += n if error != _UNDER_WAY else 0
    return lost


def printed_answers(output: str) -> Answers:
    """Return the counts of a printed summary. Raises PartError: it has no total time."""
    total = _TOTAL.search(output)
    if not total or not re.search("(code|Error) distribution:", output):  # without an answer there are errors alone
        raise PartError("a summary without its total time and status codes")
    counts, _, errors = output.partition("Error distribution:")
    statuses = {match[1]: int(match[2]) for match in islice(_STATUS.finditer(counts), _MOST_COUNTS)}
    listed = {match[2].strip(): int(match[1]) for match in islice(_ERROR.finditer(errors), 10 * _MOST_COUNTS)}
    try:
        return Answers(float(total[1]) * _SECONDS.get(total[2], 1.0), statuses, listed)
    except ValueError as error:
        raise PartError(f'total time "{total[1]}" is no number') from error
