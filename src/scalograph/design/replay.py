"""What a journal says of the runs that are done: told to a planner again, and how long they took."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from scalograph.design.planner import Planner, Run
from scalograph.errors import ProtocolError
from scalograph.protocol.journal import understood
from scalograph.protocol.record import Record
from scalograph.study.scalars import refuse
from scalograph.verdict.judge import Judging, judge

Finished = tuple[Run, Record, str]


def replay(planner: Planner, events: Iterable[Mapping[str, Any]], judging: Judging = judge) -> int:
    """Tell a planner what the journal already holds, and that another start goes on.

    Returns:
        How many finished runs there were.

    Raises:
        ProtocolError: an event does not follow protocol/journal.md, or a name stands for two runs.
        StudyError: a run is another one in the planner's design.
    """
    told = 0
    for done in _finished(events, judging):
        if done is None:
            planner.resume()
            continue
        planner.tell(*done)
        told += 1
    planner.resume()
    return told


def _finished(events: Iterable[Mapping[str, Any]], judging: Judging) -> Iterator[Finished | None]:
    """Runs, records and verdicts in order, and None where another start went on. Raises ProtocolError.

    A run that was killed between `run` and `verdict` has a verdict too: it is a function of the record.
    """
    names: set[str] = set()
    last: Finished | None = None
    for number, event in enumerate(events, 1):
        with understood(event, number):
            if event["event"] == "verdict" and last and event["run"] == last[0].run:
                last = (last[0], last[1], str(event["verdict"]))
            if event["event"] == "resume":
                if last:
                    yield last
                last = None
                yield None
            if event["event"] != "run":
                continue
            record = Record.model_validate(event["record"])
            done, last = last, (as_run(event), record, judging(record).verdict)
        _refuse_twice(last[0].run, names, number)
        if done:
            yield done
    if last:
        yield last


def _refuse_twice(name: str, names: set[str], number: int) -> None:
    if name in names:
        raise ProtocolError(f"journal: event {number}", f'a second run "{name}"', "each name once", "take a whole copy")
    names.add(name)


def as_run(event: Mapping[str, Any]) -> Run:
    """The run that an `ask` or `run` event is about.

    Raises:
        KeyError, TypeError, ValueError: the event does not follow protocol/journal.md.
    """
    run = Run(event["run"], event["block"], event["treatment"], event["replicate"], event["warmup"])
    types = (str, int, dict, int, bool)
    fields = (run.run, run.block, run.treatment, run.replicate, run.warmup)
    for value, wanted in zip(fields, types, strict=True):
        if not isinstance(value, wanted):
            raise TypeError(f"{value!r:.80}, expected {wanted.__name__}")
    if wrong := next(filter(None, map(refuse, (*run.treatment.values(), run.block, run.replicate))), None):
        raise ValueError(wrong)
    return run


def timed_runs(events: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Run, float]]:
    """Seconds of each finished run, start-up and think time included, from the hours of its `ask` and `run` events.

    Raises:
        ProtocolError: an event does not follow protocol/journal.md.
    """
    asked: dict[str, datetime] = {}
    for number, event in enumerate(events, 1):
        if event["event"] not in ("ask", "run"):
            continue
        with understood(event, number):
            run, at = as_run(event), datetime.fromisoformat(event["at"])
            if event["event"] == "ask":
                asked[run.run] = at
                continue
            seconds = (at - asked.pop(run.run, at)).total_seconds()
        yield run, max(0.0, seconds)  # the clock of the day may be set back


def seconds_per_block(events: Iterable[Mapping[str, Any]]) -> dict[int, float]:
    """Time that the finished runs of each block took. Raises ProtocolError."""
    spent: dict[int, float] = {}
    for run, seconds in timed_runs(events):
        spent[run.block] = spent.get(run.block, 0.0) + seconds
    return spent
