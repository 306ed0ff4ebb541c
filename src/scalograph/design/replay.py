"""Replay of a journal's finished runs to a planner, and the seconds that they took."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from scalograph.design.planner import Planner
from scalograph.errors import ProtocolError
from scalograph.protocol.journal import wrap_event_errors
from scalograph.protocol.record import Record
from scalograph.study.levels import Run, read_run
from scalograph.verdict.judge import Judging, judge

Finished = tuple[Run, Record, str]


def replay(planner: Planner, events: Iterable[Mapping[str, Any]], judging: Judging = judge) -> int:
    """Tell a planner the finished runs of a journal and resume it; return the number of runs.

    Raises ProtocolError: an event does not follow protocol/journal.md, or two runs have the same name; StudyError: a
    run differs from that of the same name in the planner's design.
    """
    n_told = 0
    for done in _finished_runs(events, judging):
        if done is None:
            planner.resume()
            continue
        planner.tell(*done)
        n_told += 1
    planner.resume()
    return n_told


def _finished_runs(events: Iterable[Mapping[str, Any]], judging: Judging) -> Iterator[Finished | None]:
    """Yield runs, records and verdicts in order, and None at each further session. Raises ProtocolError.

    A run that was killed between `run` and `verdict` has a verdict too: it is a function of the record.
    """
    names: set[str] = set()
    last: Finished | None = None
    for number, event in enumerate(events, 1):
        with wrap_event_errors(event, number):
            if event["event"] == "verdict" and last and event["run"] == last[0].run:
                last = (last[0], last[1], str(event["verdict"]))
            if event["event"] == "resume":
                if last:
                    yield last
                last = None
                yield None
            if event["event"] != "run":
                continue
            record = event["record"]
            done, last = last, (read_run(event), record, judging(record).verdict)
        _refuse_twice(last[0].run, names, number)
        if done:
            yield done
    if last:
        yield last


def _refuse_twice(name: str, names: set[str], number: int) -> None:
    if name in names:
        raise ProtocolError(f"journal: event {number}", f'a second run "{name}"', "each name once", "take a whole copy")
    names.add(name)


def timed_runs(events: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Run, float]]:
    """Yield the seconds of each finished run, start-up and think time included, from the times of its `ask` and `run`.

    Raises ProtocolError: an event does not follow protocol/journal.md.
    """
    asked: dict[str, datetime] = {}
    for number, event in enumerate(events, 1):
        if event["event"] not in ("ask", "run"):
            continue
        with wrap_event_errors(event, number):
            run, at = read_run(event), datetime.fromisoformat(event["at"])
            if event["event"] == "ask":
                asked[run.run] = at
                continue
            # The clock of the day may be set meanwhile, forward or back.
            seconds = (at - asked.pop(run.run, at)).total_seconds() - (event["record"].run.clock_step_ns or 0) / 1e9
        yield run, max(0.0, seconds)


def seconds_per_block(events: Iterable[Mapping[str, Any]]) -> dict[int, float]:
    """Return the seconds that the finished runs of each block took. Raises ProtocolError."""
    spent: dict[int, float] = {}
    for run, seconds in timed_runs(events):
        spent[run.block] = spent.get(run.block, 0.0) + seconds
    return spent
