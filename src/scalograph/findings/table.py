"""A journal as a table: one row per run, with its configuration, verdict and scores."""

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from math import inf
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from msgspec import convert
from pydantic import ValidationError

from scalograph.analysis.quantiles import histogram
from scalograph.analysis.steady import NEED, steady
from scalograph.design.stopping_rule import pair_stopping
from scalograph.errors import ProtocolError
from scalograph.findings import run_notes
from scalograph.findings.corrected_study import (
    Correction,
    UndisturbedTime,
    check_study,
    correct_rows,
    correct_study,
    disturb_again,
    disturb_bound,
    iteration_times,
    loop_log,
    undisturbed_time,
)
from scalograph.findings.job_joins import join_jobs
from scalograph.findings.row import Row
from scalograph.findings.study_view import StudyView
from scalograph.protocol import journal
from scalograph.protocol.facts import machine_facts
from scalograph.protocol.machine_ceiling import Ceiling
from scalograph.protocol.noise_floor import Recheck
from scalograph.protocol.record import Record
from scalograph.protocol.record_processes import ServicesEnded
from scalograph.questions.registry import is_search
from scalograph.study.identity import parse_journaled_study
from scalograph.study.model import Response, Study, add_responses
from scalograph.study.responses import (
    RATE,
    Windows,
    elapsed_source,
    middle,
    observer,
    primary_response,
    tree_ratio,
    windows,
)
from scalograph.study.scalars import Level, short_repr
from scalograph.verdict.cause import SHARE
from scalograph.verdict.judge import Judgment, judge, requirements
from scalograph.verdict.partners import find_partners, mark_partners, partner_ns
from scalograph.verdict.preemption import n_cpus, slowdown
from scalograph.verdict.speed import loop_time
from scalograph.verdict.undisturbed import corrected_times, cpu_use


@contextmanager
def pause_gc() -> Iterator[None]:
    """Disable cyclic garbage collection within the block.

    >>> with pause_gc():
    ...     gc.isenabled()
    False
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


T = TypeVar("T")
MAX_LAST_WORDS = 200  # characters of the last line of a failed run
MIN_TAIL = 100  # iterations of a run from which on its tail is kept
_TOO_FEW = steady(())
_RAW = UndisturbedTime()
_NONE: Mapping[str, tuple[float, ...]] = {}
MAX_RUNS = 1_000_000_000  # of one configuration: no design has more
BLOCK_BYTES = 512  # what getrusage(2) counts in, on every disk


@dataclass
class Table:
    """All runs of a study.

    `study`, `n_asked` (runs per configuration) and `noise` (of the machine) are as of the last start; `accepted` has
    the differences (key, before, now) accepted at a resume; `ceiling` is the scaling limit of the machine itself;
    `services` has how services that span runs ended; `paused_s` lies between two starts. `correction` says how
    the study is corrected; None if none of its runs is.
    """

    study: Study
    study_hash: str
    machine: Mapping[str, Any]
    configurations: list[Mapping[str, Level]]
    n_asked: list[int]
    rows: list[Row] = field(default_factory=list)
    notes: list[run_notes.Note] = field(default_factory=list)
    services: list[ServicesEnded] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    started: str | None = None
    ended: str | None = None
    paused_s: float = 0.0
    file: Path | None = None
    end_reason: str | None = None
    accepted: list[tuple[str, Any, Any]] = field(default_factory=list)
    noise: Recheck | None = None
    ceiling: Ceiling | None = None
    correction: Correction | None = None
    _view: StudyView | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def view(self) -> StudyView:
        """Return what is asked of the study again and again."""
        if self._view is None or self._view.study is not self.study:
            self._view = StudyView(self.study, self.configurations)
        return self._view

    def successful_rows(self) -> list[Row]:
        """Return the successful runs without warm-up."""
        return [row for row in self.rows if row.status == "ok" and not row.warmup]


def load(
    file: Path, keep_observations: bool = True, correct: bool | None = None, responses: Mapping[str, Response] = {}
) -> Table:
    """Read a journal into a table.

    Without `keep_observations`, which keeps each iteration's values, memory is about 1 KB per run. `correct`: whether
    the study uses undisturbed time if it can; False: wall time, for which corrected runs are disturbed ones;
    None: by undisturbed time where a run was corrected. `responses` are read in addition to those of the study.
    Raises ProtocolError: the journal does not follow protocol/journal.md.
    """
    torn: list[str] = []
    events = journal.read(file, torn, whole=False)
    table = _begin(next(events), file)
    reading = _JournalReader(table, keep_observations, responses)
    with pause_gc():
        for number, event in enumerate(events, start=2):
            reading.add_event(event, number)
        table.rows = join_jobs(table.study, run_notes.copy_side_by_side(table.rows))
    if correct or (correct is None and any(row.verdict == "corrected" for row in table.rows)):
        correct_table(table, keep_observations)
    elif correct is False:
        table.rows = disturb_again(table.rows)
    table.warnings += torn + _verdict_changes(table.rows, reading.verdicts)
    return table


def correct_table(table: Table, keep_observations: bool) -> None:
    """Give all runs of the study undisturbed time, unless clean runs show that the correction does not fit."""
    if not elapsed_source(table.study):
        return
    table.rows = disturb_bound(table.rows)
    table.correction = check_study(table.study, table.rows)
    if table.correction.check == "withdrawn":
        table.rows = disturb_again(table.rows)
    else:
        table.rows = correct_rows(table.study, table.rows, keep_observations)
        table.study = correct_study(table.study)


def _begin(event: Mapping[str, Any], file: Path) -> Table:
    try:
        study = parse_journaled_study(event["study"])
        design = event["design"]
        held = run_notes.ConfigurationCache(study)
        configurations = [held.resolve(configuration) for configuration in design["configurations"]]
        counts = _counts(design["runs"], len(configurations))
        _timestamp(event["at"])
        return Table(
            study, str(event["study_hash"]), _machine(event), configurations, counts,
            dropped=[str(text) for text in design.get("dropped", [])], started=str(event["at"]), file=file,
        )  # fmt: skip
    except (ValidationError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        problem = f"a broken `study` event: {_first_line(error)}"
        raise ProtocolError(f"{file.name}:1", problem, "protocol/journal.md") from error


def _counts(written: list[Any], n: int) -> list[int]:
    if len(written) != n or not all(type(count) is int and 0 <= count <= MAX_RUNS for count in written):
        raise ValueError(f"design.runs {short_repr(written)}, expected a count for each of {n} configurations")
    return written


def _machine(event: Mapping[str, Any]) -> dict[str, Any]:
    jvms = event["uses"].get("jvms") if isinstance(event.get("uses"), dict) else None
    return machine_facts(event["machine"]) | ({"jvms_used": jvms} if isinstance(jvms, dict) and jvms else {})


def _timestamp(at: str | None) -> float:
    return datetime.fromisoformat(str(at)).timestamp()


class _JournalReader:
    def __init__(self, table: Table, keep_observations: bool, responses: Mapping[str, Response]) -> None:
        self._table, self._keep, self._further = table, keep_observations, responses
        self._began = _timestamp(table.started)
        self.verdicts: dict[str, str] = {}
        self._names: set[str] = set()
        self._shared: dict[object, Any] = {}
        self._boots: dict[str, int] = {}
        self._resumed_s: float | None = None
        self._boot, self._adds = 1, True  # a start that finds nothing left to run adds nothing to the time
        self._boot = self._number_of(table.machine.get("boot_id"))
        self._prepare()

    def _prepare(self) -> None:
        study = self._table.study = add_responses(self._table.study, self._further)
        self._held = run_notes.ConfigurationCache(study)
        self._asked, self._primary = requirements(study), primary_response(study)
        warmup = self._warmup = study.protocol.warmup
        self._is_search = is_search(study.question)
        # A driver sends for a time: how much it sends is the result.
        self._is_work_declared = study.responses[self._primary].source != RATE and not study.is_driven
        self._observers = {name: observer(r.source, warmup) for name, r in study.responses.items()}
        counts = zip(self._table.configurations, self._table.n_asked, strict=True)
        self._n_asked = {id(self._held.resolve(configuration)): n for configuration, n in counts}

        rule = pair_stopping(study)
        self._first_further = inf if rule is None else rule.planned

    def add_event(self, event: Mapping[str, Any], line: int) -> None:
        """Add an event. Raises ProtocolError if it does not follow protocol/journal.md."""
        table, kind = self._table, event["event"]
        try:
            if kind == "verdict":
                self.verdicts[str(event["run"])] = str(event["verdict"])
            elif kind == "ask":
                pass
            elif kind == "run":
                table.rows.append(self._row(event, line))
            elif kind == "resume":
                _apply_resume(table, event)
                self._resumed_s = _timestamp(event["at"])
                machine = event.get("machine")
                self._boot = self._number_of(machine.get("boot_id") if isinstance(machine, dict) else None)
                self._prepare()
            elif kind == "noise":
                table.noise = Recheck.model_validate(event)
            elif kind == "ceiling":
                table.ceiling = Ceiling.model_validate(event["ceiling"])
            elif kind == "note":
                table.notes.append(run_notes.parse_note(event))
            elif kind == "services":
                table.services.append(convert(dict(event), ServicesEnded))
            elif kind == "end":
                table.end_reason = str(event["reason"])
            if self._resumed_s is not None and kind in ("ask", "run"):
                table.paused_s += max(0.0, self._resumed_s - _timestamp(table.ended or table.started))
                self._resumed_s = None
            self._adds = kind in ("ask", "run") or (self._adds and kind != "resume")
            if self._adds:
                table.ended = str(event["at"])
        except (ValidationError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            where = f"{table.file.name}:{line}" if table.file else f"line {line}"
            problem = f"a broken `{kind}` event: {_first_line(error)}"
            raise ProtocolError(where, problem, "protocol/journal.md") from error

    def _row(self, event: Mapping[str, Any], line: int) -> Row:
        record: Record = event["record"]
        judgment, configuration = judge(record, self._asked), self._held.resolve(event["configuration"])
        # A run may end well and still not have done what was asked of it.
        ok, run, trace = judgment.verdict != "failed", record.run, run_notes.find_trace(record)
        iterations = windows(record) if ok else Windows()
        observers = self._observers.items() if ok else ()
        observations = {name: values for name, observe in observers if (values := observe(record, iterations))}
        primary: Sequence[float] = observations.get(self._primary, ())
        took_s = (run.wall_outer_ns or run.wall_ns or 0) / 1e9  # its event was written at its end
        start_s = round(_timestamp(event["at"]) - self._began - took_s, 3)
        is_clean, elapsed = judgment.verdict == "clean", self._asked.elapsed
        is_long = len(iterations.wall_s) >= NEED
        course = steady(iteration_times(record, elapsed, judgment.verdict == "corrected")) if is_long else _TOO_FEW
        corrected = undisturbed_time(record, elapsed, self._warmup, is_clean) if ok and elapsed else _RAW
        return Row(
            run=self._new_name(event), block=event["block"], replicate=event["replicate"], warmup=event["warmup"],
            configuration=configuration, is_planned=self._is_planned(event, configuration),
            status=run.status if ok or run.status != "ok" else "failed",
            reason=run.reason if ok else judgment.causes[0].text,
            verdict=judgment.verdict, causes=tuple(judgment.causes),
            scores={name: values[0] if len(values) == 1 else middle(values) for name, values in observations.items()},
            observations={name: tuple(values) for name, values in observations.items()} if self._keep else _NONE,
            work=_work_units(iterations) if self._is_work_declared else None,
            n_cpus=n_cpus(record), per_cpu_ns=tuple(run.per_cpu_ns or ()),
            degraded=self._intern(run_notes.degradations(record)), setup=run_notes.instrument_setup(record),
            timeline_line=line if record.timeline else None, trace_line=line if trace and trace.n_workers > 1 else None,
            n_survivors=run.n_survivors or 0,
            course=course.kind, settled=course.warmup, finish_s=_finish_times(record) if ok else (),
            tail=histogram(primary) if len(primary) >= MIN_TAIL else None,
            last_words="" if ok else record.last_words(MAX_LAST_WORDS),
            wall_s=None if run.wall_ns is None else run.wall_ns / 1e9,
            cpu_s=None if run.cpu_ns is None else run.cpu_ns / 1e9,
            read_bytes=None if run.n_blocks_in is None else BLOCK_BYTES * run.n_blocks_in,
            n_major_faults=run.n_major_faults, frequency_hz=run.frequency_hz, start_s=start_s,
            taken=_interference_share(mark_partners(record), judgment),
            changed=self._intern(run_notes.own_changes(record)), kept_to=run_notes.explain_fewer_cpus(record),
            settings=self._intern(run_notes.settings_changes(record)), counters=record.counters,
            reclaimed_at=run.memory_limit_bytes if run.n_memory_reclaims else None,
            boot=self._number_of(record.boot_id), job=getattr(record.job, "job", ""), undisturbed=corrected.values,
            open_log=corrected.open_log, undisturbed_s=corrected.whole_s, cpu_use=cpu_use(record),
            loop_log=loop_log(record), loop_ns=loop_time(record) if run.speed else None, tree_ratio=tree_ratio(run),
            partners=tuple(find_partners(run)), lost_jobs=tuple(getattr(record.job, "lost", ())),
            search_s=self._search_time(record) if ok and elapsed and self._is_search else None,
        )  # fmt: skip

    def _search_time(self, record: Record) -> float | None:
        times = corrected_times(record, self._asked.elapsed, self._warmup)
        return median(times) if times else None

    def _is_planned(self, event: Mapping[str, Any], configuration: Mapping[str, Level]) -> bool:
        """Tell whether a run is planned, also of a further block, and no repeat."""
        is_further = event["block"] >= self._first_further and "r" not in event["run"]
        return is_further or event["replicate"] < self._n_asked.get(id(configuration), 0)

    def _new_name(self, event: Mapping[str, Any]) -> str:
        name: str = event["run"]
        if name in self._names:
            raise ValueError(f'a second run "{name}"')
        self._names.add(name)
        return name

    def _number_of(self, boot: Any) -> int:
        """Number the boots; a run without boot ID has that of the start or the last resume."""
        return self._boots.setdefault(boot, len(self._boots) + 1) if isinstance(boot, str) else self._boot

    def _intern(self, value: T) -> T:
        shared: T = self._shared.setdefault(value, value)
        return shared


def _apply_resume(table: Table, event: Mapping[str, Any]) -> None:
    if "study" in event:  # journals of earlier releases do not tell it
        table.study = parse_journaled_study(event["study"])
    table.accepted += [(str(d["key"]), d["before"], d["now"]) for d in event.get("differences", [])]
    if "design" in event:
        keys = [tuple(dict(levels).values()) for levels in event["design"]["configurations"]]
        counts = dict(zip(keys, _counts(event["design"]["runs"], len(keys)), strict=True))
        asked = zip(table.configurations, table.n_asked, strict=True)
        table.n_asked = [counts.get(tuple(levels.values()), n) for levels, n in asked]


def _finish_times(record: Record) -> tuple[float, ...]:
    """Return when each worker ended, in seconds; empty if there is one, or it is not reported."""
    drivers = record.driver_copies()
    if len(drivers) == 1:
        finishes_ns = [ns for part in record.values for ns in part.values.get("finish_ns", ())]
        return tuple([ns / 1e9 for ns in finishes_ns]) if finishes_ns else ()
    ends = {copy.copy_index: copy.end_ns for copy in drivers}
    for part in record.iterations:
        ends[part.copy_index] = max(part.end_ns, default=ends.get(part.copy_index))
    ends_ns = [ns for ns in ends.values() if ns is not None]
    return tuple(ns / 1e9 for ns in ends_ns) if len(ends_ns) == len(ends) else ()


def _interference_share(record: Record, judgment: Judgment) -> float | None:
    """Return the measured share of a clean run, or the bound of an unverified one."""
    if judgment.verdict == "unverified":
        bounds = [cause.amount for cause in judgment.causes]
        return max((bound for bound in bounds if bound is not None), default=None) if None not in bounds else None
    run = record.run
    if not run.wall_ns or run.neighbor_ns is None:
        return SHARE if run.wall_ns else None
    partners_ns = partner_ns(run)
    taken = max(0, run.neighbor_ns - partners_ns) + (run.steal_ns or 0)
    worst = max(0, max(run.neighbor_per_cpu_ns or (), default=0) - partners_ns) + (run.worst_steal_ns or 0)
    return max(slowdown(taken, record) if taken else 0.0, worst / run.wall_ns)


def _work_units(iterations: Windows) -> int | None:
    works = set(iterations.work)
    return works.pop() if len(works) == 1 else None


def _verdict_changes(rows: Iterable[Row], journaled: Mapping[str, str]) -> list[str]:
    changed = [row.run for row in rows if row.run in journaled and journaled[row.run] != row.verdict]
    if not changed:
        return []
    n = len(changed)
    return [f"{n} run{'s' * (n > 1)} judged by newer rules than when {'they were' if n > 1 else 'it was'} made"]


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
