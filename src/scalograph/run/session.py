"""Run a plan: its runs go to a journal, on disk or in memory, by the one loop."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from scalograph.design.grid import GridPlanner
from scalograph.design.ladder import reference_s
from scalograph.design.planner import Planner
from scalograph.design.replay import replay, seconds_per_block
from scalograph.errors import HostError, StudyError
from scalograph.protocol import journal, results
from scalograph.protocol.bounded import read_whole
from scalograph.protocol.record import Record
from scalograph.protocol.results import Results
from scalograph.run.interrupts import make_interrupt
from scalograph.run.launches import sharing_note
from scalograph.run.loop import (
    Budget,
    Gate,
    Instrument,
    NodeTime,
    NullProgress,
    Progress,
    RunContext,
    ServiceEnds,
    no_service_ends,
    run_study,
    write_note,
)
from scalograph.run.plan import Plan, write_design
from scalograph.study import identity
from scalograph.study.check_published import MAX_BYTES
from scalograph.study.declare import Declared
from scalograph.study.levels import Run, read_run
from scalograph.study.model import Study
from scalograph.study.shipped import inside, shipped_studies, shipped_study
from scalograph.verdict.judge import judge, requirements

# Makes the progress display from the count of finished runs, the seconds that they took, and the planner.
ProgressFactory = Callable[[int, float, Planner], AbstractContextManager[Progress]]


@dataclass(frozen=True)
class Session:
    """One session of a study and its outcome; `signal` is what ended it, if one did.

    Earlier sessions had finished `n_before` runs; this one made `n_made`. `is_hurried`: a second signal came.
    """

    results: Results
    reason: str
    n_before: int
    signal: int | None = None
    n_made: int = 0
    is_hurried: bool = False


def run_session(
    planned: Plan, results: Results, instrument: Instrument, probe: str, progress: ProgressFactory,
    accepted: Sequence[str] | None, gate: Gate | None = None, machine: Mapping[str, Mapping[str, Any]] | None = None,
    notes: Sequence[tuple[str, str]] = (), service_ends: ServiceEnds = no_service_ends,
    output_note: Callable[[], str] = str, last_note: Callable[[], str] = str,
) -> Session:  # fmt: skip
    """Start or resume a study, and keep every finished run.

    Args:
        planned: what to run.
        results: its folder.
        instrument: what measures.
        probe: its name, for the journal.
        progress: makes what is shown.
        accepted: None starts anew; a list resumes, and names the accepted differences.
        gate: what each block has to pass.
        machine: events of the journal before the first run (`noise`, `ceiling`).
        notes: texts for people, each with its subject.
        service_ends: returns how services ended that stayed up over runs.
        output_note: returns, once, what the output of a program does to its work; else an empty text.
        last_note: returns, when all runs are made, what the program believes to have; else an empty text.

    Raises StudyError or HostError: study or machine differ from the journal's, or the host refuses.
    """
    planner, first, study = planned.runs.planner(), ("study", event := planned.first_event(probe)), planned.design.study
    judging, n_before, spent = partial(judge, asked=requirements(study)), 0, dict[int, float]()
    if accepted is not None:
        began = journal.first_event(results.journal)
        differences = _find_differences(planned, planner, began, event, accepted)
        first = ("resume", _resume_event(event, began, differences, accepted))
        notes = [*notes, *_boot_note(began["machine"], event["machine"])]
        n_before = replay(planner, journal.read(results.journal), judging)  # twice: a journal may exceed the memory
        spent = seconds_per_block(journal.read(results.journal))
    protocol, nodes = study.protocol, _node_time(study, results.journal if accepted is not None else None)
    budget = Budget(protocol.budget_s, spent, protocol.budget_runs, n_before, planned.runs.block_size)
    with closing(journal.Journal(results.journal)) as book:
        _write_first(book, *first)
        for name, fields in (machine or {}).items():
            book.append(name, **fields)
        with progress(n_before, sum(spent.values()), planner) as shown:
            loop = RunContext(instrument, book, shown, judging, service_ends, output_note, last_note, nodes)
            for text, about in (*notes, (sharing_note(planned) if accepted is None else None, "driver")):
                write_note(text, loop, about)
            ended = run_study(planner, loop, budget, gate, stop_if_busy=protocol.when_busy == "stop")
    return Session(results, ended.reason, n_before, ended.signal, ended.n_made, ended.is_hurried)


def _node_time(study: Study, begun: Path | None) -> NodeTime:
    """Return the limit of node-hours, and what the runs of a journal have used of it."""
    hours = study.protocol.max_node_hours
    nodes = NodeTime(None if hours is None else 3600 * hours, reference_s(study))
    for event in journal.read(begun) if begun is not None and hours is not None else ():
        if event["event"] == "run":
            nodes.observe(event["block"], event["record"])
    return nodes


class FinishedRun(NamedTuple):
    """A finished run with its record and verdict."""

    run: Run
    record: Record
    verdict: str


def run_in_memory(planned: Plan, instrument: Instrument, progress: Progress | None = None) -> list[FinishedRun]:
    """Make the runs of a plan by the same loop, without a journal on disk.

    Raises HostError: the host refuses; KeyboardInterrupt: a signal came meanwhile.
    """
    book, planner = _MemoryJournal(), planned.runs.planner()
    judging = partial(judge, asked=requirements(planned.design.study))
    ended = run_study(planner, RunContext(instrument, book, progress or NullProgress(), judging), Budget(None))
    if ended.reason == "interrupted":
        raise make_interrupt(ended.signal)
    return [*book.list_finished()]


@dataclass
class _MemoryJournal:
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
    """Yield a note if the machine was booted since the study began; the kernel names each boot."""
    if None not in (was := before.get("boot_id"), is_ := now.get("boot_id")) and was != is_:
        yield "the machine was booted anew since the study began: its runs are of more than one boot", "boot"


def _write_first(book: journal.Journal, name: str, fields: Mapping[str, Any]) -> None:
    """Write the `study` or `resume` event. Raises StudyError if it holds more configurations than a line can."""
    try:
        book.append(name, **fields)
    except journal.EventTooLargeError as error:
        n = len(fields["design"]["configurations"])
        expected = "a design that one line of the journal holds"
        raise StudyError.one("factors", f"{n} configurations, {error}", expected) from error


def _find_differences(
    planned: Plan, planner: Planner, before: Mapping[str, Any], event: Mapping[str, Any], accepted: Sequence[str]
) -> list[identity.Difference]:
    """Return differences from the first event; further runs, if asked for, are none when their blocks follow a grid."""
    differences = identity.differences(before, event)
    if identity.MORE_RUNS in accepted and isinstance(planner, GridPlanner):
        runs = planned.differs_in_runs(before)
        if runs and runs.now > runs.before:
            return [difference for difference in differences if difference.name != "study_hash"]
    return differences


def _resume_event(
    event: Mapping[str, Any], before: Mapping[str, Any], differences: list[identity.Difference], accepted: Sequence[str]
) -> dict[str, Any]:
    """Return the `resume` event: machine and design as they are now, accepted differences. Raises StudyError."""
    if any(d.name not in accepted for d in differences) and (fix := identity.other_form(before, event)):
        raise StudyError.one("resume", "one is the study in full, the other its quick form", "the same form", fix)
    identity.refuse_differences(differences, list(accepted))
    return {
        **{name: event[name] for name in ("study", "machine", "design")},
        "accepted": sorted({difference.name for difference in differences}),
        "differences": [{"key": d.key, "before": d.before, "now": d.now} for d in differences],
    }


def begin(planned: Plan, folder: Path | None) -> Results:
    """Create a results folder with the study and its design.

    Raises StudyError: the published file is missing, outside the study's folder or reserved; or the folder is
    another's. HostError: the folder cannot be written.
    """
    file, published = planned.declared.file, _published_file(planned.declared)
    created = results.create(planned.design.study.name, folder, _resume_command(planned.declared))
    sources = {created.study: file, **({created.folder / published.name: published} if published else {})}
    copies = {target: _read_source(source, target, created.journal.exists()) for target, source in sources.items()}
    for target, content in copies.items():  # all of them may be written, or none is
        if content is not None:
            results.write_bytes(target, content)
    write_design(planned, created.design)
    return created


def _resume_command(declared: Declared) -> tuple[str, str]:
    """Return the command that resumes a study: its copy in the results lacks the files beside it."""
    name = declared.study.name
    ships = name in shipped_studies() and declared.folder == shipped_study(name)
    return ("study", name) if ships else ("run", str(declared.file))


def _published_file(declared: Declared) -> Path | None:
    if declared.study.published is None or not declared.study.published.file:
        return None
    name, where, expected = declared.study.published.file, "published.file", "a file inside the study's folder"
    file = inside(declared.folder, name, where, expected)
    if Path(name).name in results.RESERVED:
        raise StudyError.one(where, f'"{name}"', "a name that no file of the results has", "rename it")
    if not file.is_file():
        raise StudyError.one(where, f'no file "{name}"', expected, "correct the name or add the file")
    return declared.folder / name


def _read_source(source: Path, target: Path, ours: bool) -> bytes | None:
    """Return what goes to the target, None if it is the source itself. Raises StudyError if it would be lost.

    What lies beside an empty journal is `ours`: left by a session that failed at the first line.
    """
    try:
        if target.exists() and source.samefile(target):
            return None
        content = read_whole(source, MAX_BYTES)
        if not ours and results.is_owned(target) and not _has_content(target, content):
            raise results.foreign_file_error(target)
    except OSError as error:
        raise HostError(str(source), f"cannot be read: {error.strerror}", "a readable file") from error
    return content


def _has_content(target: Path, content: bytes) -> bool:
    if not target.is_file():
        return False
    with target.open("rb") as stream:
        return stream.read(len(content) + 1) == content
