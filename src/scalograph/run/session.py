"""Stop 3 as the commands call it: the runs of a plan to a journal, on the disk or in memory, by the one loop."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from scalograph.design.grid import GridPlanner
from scalograph.design.planner import Planner
from scalograph.design.replay import replay, seconds_per_block
from scalograph.errors import StudyError
from scalograph.protocol import journal
from scalograph.protocol.record import Record
from scalograph.protocol.results import Results
from scalograph.run.interrupts import make_interrupt
from scalograph.run.launches import sharing_note
from scalograph.run.loop import (
    Budget,
    Gate,
    Instrument,
    NullProgress,
    Progress,
    RunContext,
    ServiceEnds,
    no_service_ends,
    run_study,
    write_note,
)
from scalograph.run.plan import Plan
from scalograph.study import identity
from scalograph.study.levels import Run, read_run
from scalograph.verdict.judge import judge, requirements

# Makes a context manager and `Progress` from the count of finished runs, the seconds that they took, and the planner.
ProgressFactory = Callable[[int, float, Planner], AbstractContextManager[Progress]]


@dataclass(frozen=True)
class Session:
    """One start of a study, and what it came to; `signal` ended it, if one did.

    Runs that earlier starts had finished are `n_before`; `n_made` were made by this one.
    """

    results: Results
    reason: str
    n_before: int
    signal: int | None = None
    n_made: int = 0


def run_session(
    planned: Plan, results: Results, instrument: Instrument, probe: str, progress: ProgressFactory, accepted: Sequence[str] | None,
    gate: Gate | None = None, machine: Mapping[str, Mapping[str, Any]] | None = None,
    notes: Sequence[tuple[str, str]] = (), service_ends: ServiceEnds = no_service_ends,
) -> Session:  # fmt: skip
    """Run a study, or go on with it, and keep every finished run.

    Args:
        planned: what to run.
        results: where.
        instrument: what measures.
        probe: name of the probe, for the journal.
        progress: who is told.
        accepted: None starts anew; a list resumes, and names the differences that are accepted.
        gate: what each block has to pass before it begins.
        machine: what was learned of the machine before the first run: events of the journal (`noise`, `ceiling`).
        notes: what a person should know later, each with what it is about.
        service_ends: tells how services ended that stayed up over runs.

    Raises:
        StudyError: the study or the machine differs from the journal's.
        HostError: the host refuses.
    """
    planner, event = planned.runs.planner(), planned.first_event(probe)
    judging = partial(judge, asked=requirements(planned.design.study))
    first, n_before, spent = ("study", event), 0, dict[int, float]()
    if accepted is not None:
        began = journal.first_event(results.journal)
        first = (
            "resume",
            _resume_event(event, began, _find_differences(planned, planner, began, event, accepted), accepted),
        )
        notes = [*notes, *_boot_note(began["machine"], event["machine"])]
        # Read twice rather than held: a journal may be larger than the memory.
        n_before = replay(planner, journal.read(results.journal), judging)
        spent = seconds_per_block(journal.read(results.journal))
    protocol = planned.design.study.protocol
    budget = Budget(protocol.budget_s, spent, protocol.budget_runs, n_before, planned.runs.block_size)
    with closing(journal.Journal(results.journal)) as book:
        _write_first(book, *first)
        for name, fields in (machine or {}).items():
            book.append(name, **fields)
        with progress(n_before, sum(spent.values()), planner) as shown:
            loop = RunContext(instrument, book, shown, judging, service_ends)
            for text, about in (*notes, (sharing_note(planned) if accepted is None else None, "driver")):
                write_note(text, loop, about)
            ended = run_study(planner, loop, budget, gate, stop_if_busy=protocol.when_busy == "stop")
    return Session(results, ended.reason, n_before, ended.signal, ended.n_made)


class FinishedRun(NamedTuple):
    """A run that is done, with its record and verdict."""

    run: Run
    record: Record
    verdict: str


def run_in_memory(planned: Plan, instrument: Instrument, progress: Progress | None = None) -> list[FinishedRun]:
    """Run a plan by the same loop, and keep nothing on the disk.

    Raises:
        HostError: the host refuses.
        KeyboardInterrupt: a signal came meanwhile.
    """
    book, planner = _MemoryJournal(), planned.runs.planner()
    judging = partial(judge, asked=requirements(planned.design.study))
    ended = run_study(planner, RunContext(instrument, book, progress or NullProgress(), judging), Budget(None))
    if ended.reason == "interrupted":
        raise make_interrupt(ended.signal)
    return [*book.list_finished()]


@dataclass
class _MemoryJournal:
    """Events in order, for as long as somebody holds them."""

    events: list[dict[str, Any]] = field(default_factory=list)

    def append(self, event: str, **fields: Any) -> None:
        self.events.append({"event": event, **fields})

    append_deferred = append

    def list_finished(self) -> Iterator[FinishedRun]:
        verdicts = {event["run"]: event["verdict"] for event in self.events if event["event"] == "verdict"}
        for event in self.events:
            if event["event"] == "run":
                yield FinishedRun(read_run(event), event["record"], verdicts[event["run"]])


def _boot_note(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The note on a machine that was booted anew since the study began; the kernel names each boot."""
    if None not in (was := before.get("boot_id"), is_ := now.get("boot_id")) and was != is_:
        yield "the machine was booted anew since the study began: its runs are of more than one boot", "boot"


def _write_first(book: journal.Journal, name: str, fields: Mapping[str, Any]) -> None:
    """The `study` or `resume` event. Raises StudyError where it holds more configurations than a line can."""
    try:
        book.append(name, **fields)
    except journal.EventTooLargeError as error:
        n = len(fields["design"]["configurations"])
        raise StudyError.one(
            "factors", f"{n} configurations, {error}", "a design that one line of the journal holds"
        ) from error


def _find_differences(
    planned: Plan, planner: Planner, before: Mapping[str, Any], event: Mapping[str, Any], accepted: Sequence[str]
) -> list[identity.Difference]:
    """What differs from the first event; if further runs were asked for, blocks that follow those of a grid do not."""
    differences = identity.differences(before, event)
    runs = (
        planned.differs_in_runs(before) if identity.MORE_RUNS in accepted and isinstance(planner, GridPlanner) else None
    )
    return (
        [difference for difference in differences if difference.name != "study_hash"]
        if runs and runs.now > runs.before
        else differences
    )


def _resume_event(
    event: Mapping[str, Any], before: Mapping[str, Any], differences: list[identity.Difference], accepted: Sequence[str]
) -> dict[str, Any]:
    """The `resume` event: the machine and the design as they are now, and what was accepted. Raises StudyError."""
    if any(d.name not in accepted for d in differences) and (fix := identity.other_form(before, event)):
        raise StudyError.one("resume", "one is the study in full, the other its quick form", "the same form", fix)
    identity.refuse_differences(differences, list(accepted))
    return {
        "study": event["study"],
        "machine": event["machine"],
        "design": event["design"],
        "accepted": sorted({difference.name for difference in differences}),
        "differences": [{"key": d.key, "before": d.before, "now": d.now} for d in differences],
    }
