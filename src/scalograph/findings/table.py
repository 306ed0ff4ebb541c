"""A journal as a tidy table: one row for each run, its treatment, its scores, and what varied undeclared."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from pydantic import ValidationError

from scalograph.analysis.steady import Kind, steady
from scalograph.analysis.tail import Histogram, histogram
from scalograph.errors import ProtocolError
from scalograph.findings.machine_notes import Note, note
from scalograph.findings.task_trace import traced
from scalograph.protocol import journal
from scalograph.protocol.events import Record, RunFigures
from scalograph.protocol.machine_ceiling import Ceiling
from scalograph.protocol.noise_floor import Recheck
from scalograph.study.model import Study
from scalograph.study.responses import (
    Window,
    observe,
    primary,
    windows,
)
from scalograph.study.scalars import Level
from scalograph.study.treatment import as_run
from scalograph.verdict.cause import Cause
from scalograph.verdict.judge import Asked, judge
from scalograph.verdict.saturation import n_cpus

# Characters of the last line of a failed run that are kept.
MOST_WORDS = 200
# Iterations of a run from which on its tail is kept.
LEAST_TAIL = 100
BLOCK_BYTES = 512  # what getrusage(2) counts in, on every disk


@dataclass(frozen=True, slots=True)
class Row:
    """One run. `scores` has one number for each response that the run yielded; times are seconds.

    `course` is how its iterations went, and `settled` the first of the steady state, warm-up iterations counted.
    `wall_s` and `cpu_s` are of the whole run, start-up and all; it read `read_bytes` from disk and waited for
    `n_major_faults` pages; at its end its CPUs ran at `frequency_hz`. `finish_s` has when each of several workers
    ended: copies since the gate, threads that told it (`value finish_ns`) since the start of the window. `tail` counts
    the primary response of many iterations by size. `last_words` is the last line that a failed run wrote to stderr.
    A journal may hold 100,000 of them: the timeline stays on the disk, and `timeline_line` says where;
    `trace_line` does for a trace of subtasks that several workers did.
    """

    run: str
    block: int
    replicate: int
    warmup: bool
    treatment: Mapping[str, Level]
    status: str
    reason: str | None
    verdict: str
    causes: tuple[Cause, ...]
    observations: Mapping[str, tuple[float, ...]]
    scores: Mapping[str, float]
    work: int | None = None
    n_cpus: int = 1
    per_cpu_ns: tuple[int, ...] = ()
    degraded: tuple[tuple[str, str, str], ...] = ()
    setup: tuple[str, ...] = ()
    timeline_line: int | None = None
    n_survivors: int = 0
    course: Kind = "not assessed"
    settled: int | None = None
    wall_s: float | None = None
    cpu_s: float | None = None
    read_bytes: int | None = None
    n_major_faults: int | None = None
    frequency_hz: int | None = None
    finish_s: tuple[float, ...] = ()
    tail: Histogram | None = None
    trace_line: int | None = None
    last_words: str = ""

    @property
    def key(self) -> tuple[Level, ...]:
        """The levels of the treatment, in the order of the study's factors."""
        return tuple(self.treatment.values())


@dataclass
class Table:
    """All runs of a study.

    `study`, `n_asked` (runs for each treatment) and `noise` (of the machine) are as when it was last begun; `accepted`
    are the differences (key, before, now) that were accepted when it was resumed; `ceiling` is what the machine itself
    scales to.
    """

    study: Study
    study_hash: str
    machine: Mapping[str, Any]
    treatments: list[Mapping[str, Level]]
    n_asked: list[int]
    rows: list[Row] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    started: str | None = None
    ended: str | None = None
    file: Path | None = None
    end_reason: str | None = None
    accepted: list[tuple[str, Any, Any]] = field(default_factory=list)
    noise: Recheck | None = None
    ceiling: Ceiling | None = None

    def counted(self) -> list[Row]:
        """Runs that succeeded and are no warm-up: what estimates rest on."""
        return [row for row in self.rows if row.status == "ok" and not row.warmup]


def load(file: Path, keep_observations: bool = True) -> Table:
    """Read a journal into a table.

    Args:
        file: the journal.
        keep_observations: keep each iteration's figures; without, memory is about 1 KB a run, however long it was.

    Raises:
        ProtocolError: the journal does not follow protocol/journal.md.
    """
    torn: list[str] = []
    events = journal.read(file, torn)
    table = _begin(next(events), file)
    verdicts: dict[str, str] = {}
    names: set[str] = set()
    for number, event in enumerate(events, start=2):
        _take(table, verdicts, names, event, number, keep_observations)
    table.warnings += torn + _changed_verdicts(table.rows, verdicts)
    return table


def _begin(event: Mapping[str, Any], file: Path) -> Table:
    try:
        study = Study.model_validate(event["study"], context={"journal": True})
        design = event["design"]
        treatments: list[Mapping[str, Level]] = [dict(treatment) for treatment in design["treatments"]]
        counts = [int(count) for count in design["runs"]]
        return Table(
            study, str(event["study_hash"]), dict(event["machine"]), treatments, counts,
            dropped=[str(text) for text in design.get("dropped", [])], started=str(event["at"]), file=file,
        )  # fmt: skip
    except (ValidationError, KeyError, TypeError, ValueError) as error:
        raise ProtocolError(
            f"{file.name}:1", f"a broken `study` event: {_first_line(error)}", "protocol/journal.md"
        ) from error


def _take(
    table: Table, verdicts: dict[str, str], names: set[str], event: Mapping[str, Any], line: int, keep: bool
) -> None:
    kind = event["event"]
    try:
        if kind == "run":
            table.rows.append(_row(event, table.study, line, keep))
            if table.rows[-1].run in names:
                raise ValueError(f'a second run "{table.rows[-1].run}"')
            names.add(table.rows[-1].run)
        elif kind == "resume":
            _resumed(table, event)
        elif kind == "verdict":
            verdicts[str(event["run"])] = str(event["verdict"])
        elif kind == "noise":
            table.noise = Recheck.model_validate(event)
        elif kind == "ceiling":
            table.ceiling = Ceiling.model_validate(event["ceiling"])
        elif kind == "note":
            table.notes.append(note(event))
        elif kind == "end":
            table.end_reason = str(event["reason"])
        table.ended = str(event["at"])
    except (ValidationError, KeyError, TypeError, ValueError, AttributeError) as error:
        where = f"{table.file.name}:{line}" if table.file else f"line {line}"
        raise ProtocolError(where, f"a broken `{kind}` event: {_first_line(error)}", "protocol/journal.md") from error


def _resumed(table: Table, event: Mapping[str, Any]) -> None:
    """The study as it has been since, differences that were accepted, and the counts of runs."""
    if "study" in event:  # journals of earlier releases do not tell it
        table.study = Study.model_validate(event["study"], context={"journal": True})
    table.accepted += [(str(d["key"]), d["before"], d["now"]) for d in event.get("differences", [])]
    if "design" in event:
        counts = {tuple(dict(t).values()): int(n) for t, n in _designed(event["design"])}
        table.n_asked = [counts.get(tuple(t.values()), n) for t, n in zip(table.treatments, table.n_asked, strict=True)]


def _designed(design: Mapping[str, Any]) -> Iterable[tuple[Mapping[str, Any], Any]]:
    return zip(design["treatments"], design["runs"], strict=True)


def _row(event: Mapping[str, Any], study: Study, line: int, keep: bool) -> Row:
    record = Record.model_validate(event["record"])
    judgment = judge(record, asked(study))
    # A run may end well and still not have done what was asked of it.
    ok = judgment.verdict != "failed"
    status = record.run.status if ok or record.run.status != "ok" else "failed"
    iterations = windows(record) if ok else []
    run = as_run(event)
    observations = _observations(study, record, iterations) if ok else {}
    course = steady([window.wall_s for window in iterations])
    return Row(
        run=run.run, block=run.block, replicate=run.replicate, warmup=run.warmup,
        treatment={name: run.treatment[name] for name in study.factors},
        status=status, reason=record.run.reason if ok else judgment.causes[0].text,
        verdict=judgment.verdict, causes=tuple(judgment.causes),
        scores={name: median(values) for name, values in observations.items()},
        observations=observations if keep else {}, work=_work(iterations), n_cpus=n_cpus(record),
        per_cpu_ns=tuple(record.run.per_cpu_ns or ()), degraded=_degraded(record), setup=_setup(record),
        timeline_line=line if record.timeline else None, trace_line=_trace_line(record, line),
        n_survivors=record.run.n_survivors or 0,
        course=course.kind, settled=course.warmup, finish_s=_finish(record) if ok else (),
        tail=_tail(study, observations), last_words="" if ok else _last_words(record), **_whole(record.run),
    )  # fmt: skip


def _last_words(record: Record) -> str:
    lines = [line.strip() for copy in record.copies for line in copy.stderr_tail.splitlines()]
    return next((line[:MOST_WORDS] for line in reversed(lines) if line), "")


def _tail(study: Study, observations: Mapping[str, tuple[float, ...]]) -> Histogram | None:
    values = observations.get(primary(study), ())
    return histogram(values) if len(values) >= LEAST_TAIL else None


def _trace_line(record: Record, line: int) -> int | None:
    found = traced(record)
    return line if found and found.n_workers > 1 else None


def _whole(run: RunFigures) -> dict[str, Any]:
    """Figures of the run as a whole; None where they were not measured."""
    blocks = run.n_blocks_in
    return {
        "wall_s": None if run.wall_ns is None else run.wall_ns / 1e9,
        "cpu_s": None if run.cpu_ns is None else run.cpu_ns / 1e9,
        "read_bytes": None if blocks is None else BLOCK_BYTES * blocks,
        "n_major_faults": run.n_major_faults,
        "frequency_hz": run.frequency_hz,
    }


def _finish(record: Record) -> tuple[float, ...]:
    """When each worker ended its last iteration, in seconds; empty where there is one, or it is not told."""
    if len(record.copies) == 1:
        told = [ns for part in record.values for ns in part.values.get("finish_ns", ())]
        return tuple(ns / 1e9 for ns in told)
    ends = {copy.copy_index: copy.end_ns for copy in record.copies}
    for part in record.iterations:
        ends[part.copy_index] = max(part.end_ns, default=ends.get(part.copy_index))
    known = [ns for ns in ends.values() if ns is not None]
    return tuple(ns / 1e9 for ns in known) if len(known) == len(ends) else ()


def _observations(study: Study, record: Record, iterations: list[Window]) -> dict[str, tuple[float, ...]]:
    read = {
        name: tuple(observe(response.source, record, iterations, study.protocol.warmup))
        for name, response in study.responses.items()
    }
    return {name: values for name, values in read.items() if values}


def _degraded(record: Record) -> tuple[tuple[str, str, str], ...]:
    parts = {(d.what, d.why, d.fix) for d in (*record.header.degraded, *record.run.degraded)}
    return tuple(sorted(parts))


def _setup(record: Record) -> tuple[str, ...]:
    """Instrument, backend, containment, policies and nice values of a run: what must not vary undeclared."""
    forces = [copy.in_force for copy in record.copies if copy.in_force]
    policies = "+".join(sorted({force.policy for force in forces}))
    nices = "+".join(sorted({str(force.nice) for force in forces}))
    header = record.header
    return (f"{header.kind} {header.probe}", header.backend, header.containment, policies, nices)


def _work(iterations: list[Window]) -> int | None:
    """Units of one iteration; None where they were not counted or differ."""
    works = {window.work for window in iterations}
    return works.pop() if len(works) == 1 else None


def asked(study: Study) -> Asked:
    """What a study asks of each run."""
    reads = any(response.source.startswith("window.") for response in study.responses.values())
    return Asked(study.protocol.iterations, reads)


def _changed_verdicts(rows: Iterable[Row], journaled: Mapping[str, str]) -> list[str]:
    changed = [row.run for row in rows if row.run in journaled and journaled[row.run] != row.verdict]
    if not changed:
        return []
    return [f"{len(changed)} verdicts differ from the journal's, first {changed[0]}: the rules changed since"]


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
