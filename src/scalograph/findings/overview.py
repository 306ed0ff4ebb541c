"""Overview of a study: what was asked, what became of its runs, run log, typical timelines, undeclared differences."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from msgspec import to_builtins

from scalograph.findings.answer import SampleMap
from scalograph.findings.row import Key, Row, row_keys
from scalograph.findings.run_notes import find_trace, iteration_window, partner_sentences
from scalograph.findings.sample import OtherLevels, Sample, count_repeats, other_levels
from scalograph.findings.study_verdict import count_short
from scalograph.findings.table import Table
from scalograph.protocol import journal
from scalograph.protocol.findings import (
    BaselineDoc,
    DegradedRuns,
    FactorDoc,
    ResponseDoc,
    RunLog,
    RunsDoc,
    StudyDoc,
    TaskTrace,
    TimelineDoc,
)
from scalograph.protocol.plain import Level
from scalograph.protocol.record import Record
from scalograph.study.model import WorkloadUse
from scalograph.study.processes import DRIVER
from scalograph.study.responses import UNDISTURBED
from scalograph.text.short_names import shorten
from scalograph.text.summaries import merge_degradations
from scalograph.verdict.cause import COUNTED, Cause


def describe_study(table: Table) -> StudyDoc:
    """Describe the study: factors, responses, baseline."""
    study, view = table.study, table.view
    baseline = next((BaselineDoc(factor=f, level=level) for f, level in study.baseline.items()), None)
    return StudyDoc(
        name=study.name, title=study.title, question=study.question, work=study.work, hash=table.study_hash,
        seed=study.seed, baseline=baseline, primary=view.primary, varied=[*study.protocol.vary],
        corrects=table.correction.response if table.correction and UNDISTURBED in study.responses else "",
        factors=[
            FactorDoc(
                name=name, title=view.title(name), unit=f.unit, kind=f.kind, control=f.control, levels=[*f.levels]
            )
            for name, f in study.factors.items()
        ],
        responses=[
            ResponseDoc(name=name, title=view.title(name), unit=r.unit, better=r.better)
            for name, r in study.responses.items()
        ],
    )  # fmt: skip


def count_runs(table: Table, samples: Sequence[Sample]) -> RunsDoc:
    real = [row for row in table.rows if not row.warmup]
    failed = [row for row in real if row.status != "ok"]
    n_repeated = count_repeats(table)
    return RunsDoc(
        n_asked=max(sum(table.n_asked), len(real) - n_repeated), n_repeated=n_repeated,
        n_done=len(real) - n_repeated, n_failed=len(failed), n_warmup=len(table.rows) - len(real),
        configurations=len(table.configurations), n_empty=sum(bool(s.n_failed) and not s.succeeded for s in samples),
        n_short=count_short(table, samples), verdicts=dict(Counter(row.verdict for row in real)),
        failures=_failures(failed, table.study.workload),
        started=table.started, ended=table.ended, paused_s=table.paused_s, end_reason=table.end_reason,
        partners=list(partner_sentences(real)),
    )  # fmt: skip


def _failures(failed: Sequence[Row], workload: WorkloadUse) -> dict[str, int]:
    reasons = [_name_failure(row.reason or row.status, workload) for row in failed]
    counts = Counter(reasons).most_common(20)
    last_words = ((reason, row.last_words) for reason, row in zip(reasons, failed, strict=True))
    words = {reason: last for reason, last in last_words if last and last not in reason}
    return {f"{reason}; it said: {words[reason]}" if reason in words else reason: n for reason, n in counts}


def _name_failure(reason: str, workload: WorkloadUse) -> str:
    """Drop the copy number where there is only one process that could have failed."""
    driver = next((process for process in workload.process if process.role == DRIVER), None)
    copies, called = (driver.copies, "the driver") if driver else (workload.copies, "the command")
    return re.sub(r"^copy \d+(?= )", called, reason) if copies == 1 else reason


def list_degradations(rows: Iterable[Row]) -> list[DegradedRuns]:
    """List what the kernel did not grant, most runs first; reasons that differ in numbers only are merged."""
    counts = Counter(reason for row in rows for reason in row.degraded)
    every = merge_degradations(
        [DegradedRuns(what=what, why=reason, fix=fix, n_runs=n) for (what, reason, fix), n in counts.items()]
    )
    return sorted(every, key=lambda doc: -doc.n_runs)[:20]


MAX_RUNS = 30_000  # of more runs, a page could neither hold nor draw each
_NONE = Cause("", None, "", "")
_SLOWER = 0.9  # share of the frequency in other runs


def run_log(table: Table, samples: SampleMap) -> RunLog | None:
    """List the runs in execution order; None if there are more than `MAX_RUNS`."""
    rows = [row for row in table.rows if not row.warmup]
    if len(rows) > MAX_RUNS:
        return None
    name = table.view.primary
    counted = {key: sample.rows(name) for key, sample in samples.items()}
    if table.view.is_search:  # which goes by clean runs alone
        counted = {key: [row for row in rows if row.verdict in COUNTED] for key, rows in counted.items()}
    typical = {key: median(row.scores[name] for row in rows) for key, rows in counted.items() if rows}
    in_estimates = {row.run for rows in counted.values() for row in rows}
    positions: dict[Key, int] = {}
    configurations: dict[int, Mapping[str, Level]] = {
        positions.setdefault(r.key, len(positions)): r.configuration for r in rows
    }
    causes = [max(row.causes, key=lambda cause: cause.amount or 0.0, default=_NONE) for row in rows]
    relative = [
        round(row.scores[name] / middle, 6) if (middle := typical.get(row.key)) and name in row.scores else None
        for row in rows
    ]
    return RunLog(
        configurations=[*map(dict, configurations.values())], configuration=[positions[row.key] for row in rows],
        run=[row.run for row in rows], start_s=[row.start_s for row in rows], status=[row.status for row in rows],
        verdict=[row.verdict for row in rows], cause=[cause.cause for cause in causes],
        amount=[cause.amount for cause in causes], counted=[row.run in in_estimates for row in rows],
        relative=relative,
    )  # fmt: skip


def warn_too_long(table: Table) -> Iterable[str]:
    """Yield a warning if the run log is omitted."""
    n = sum(not row.warmup for row in table.rows)
    if n > MAX_RUNS:
        yield f"the list of runs is excluded: it has {MAX_RUNS:,} at most, the study made {n:,}"


def list_undeclared_differences(table: Table) -> list[str]:
    """List what differed between runs although no factor declares it."""
    rows = table.successful_rows()
    setups = {row.setup for row in rows}
    machine = _machine_differences(table, rows, setups)
    return [*_setup_differences(table, setups), *_work_differences(table, rows), *machine]


def _setup_differences(table: Table, setups: Collection[tuple[str, ...]]) -> Iterable[str]:
    for key, before, now in table.accepted:
        yield f"{shorten(key)}: {shorten(before)} before a resume, {shorten(now)} after it; accepted as a difference"
    for index, name in enumerate(("probe", "backend", "containment")):
        if len(values := {setup[index] for setup in setups}) > 1:
            yield f"{name}: {', '.join(sorted(values))} in one study; values of different instruments are not compared"


def _machine_differences(table: Table, rows: Sequence[Row], setups: Collection[tuple[str, ...]]) -> Iterable[str]:
    declared = {factor.control for factor in table.study.factors.values()}
    for index, control in enumerate(("policy", "nice"), start=3):
        if control not in declared and len(values := {setup[index] for setup in setups}) > 1:
            yield f"{control}: {', '.join(sorted(values))} in force"
    # CPUs that ran a tenth slower in some runs than in others make an effect of a tenth.
    seen = [row.frequency_hz for row in rows if row.frequency_hz]
    if seen and min(seen) < _SLOWER * max(seen):
        yield f"frequency: {min(seen) / 1e9:.2f} to {max(seen) / 1e9:.2f} GHz at the end of runs; fix the governor"
    loops: dict[Key, list[float]] = {}
    for row in rows:
        if row.loop_ns is not None:
            loops.setdefault(row.key, []).append(row.loop_ns)
    # Threads on one core slow each other, which a study of threads measures: the ratio is not adjusted for it.
    typical = [median(every) for every in loops.values()]
    if typical and min(typical) < _SLOWER * max(typical):
        ends = f"{min(typical) / 1e3:.0f} to {max(typical) / 1e3:.0f} \N{MICRO SIGN}s"
        yield f"CPU speed: a fixed loop took {ends}, by configuration; the CPU was slower in some"
    # A machine that is rebooted for a kernel factor declares its boots by that.
    if (n := len({row.boot for row in rows})) > 1 and not ("kernel" in declared and table.machine.get("reached")):
        yield f"boot: runs of {n} boots of the machine in one study; `export` has the boot of each"


def _work_differences(table: Table, rows: list[Row]) -> Iterable[str]:
    """Compare within a curve only: other kinds of work may come in other amounts."""
    if table.study.work != "total":
        return
    factor = table.view.curve_factor
    curves: dict[OtherLevels, set[int]] = {}
    # Most runs of a configuration do the same: few are left.
    counted = {(key, row.work): row for key, row in zip(row_keys(rows), rows, strict=True) if row.work is not None}
    for (_, work), row in counted.items():
        curves.setdefault(other_levels(row.configuration, factor), set()).add(work)
    if differing := [works for works in curves.values() if len(works) > 1]:
        text = f"{min(differing[0]):,} to {max(differing[0]):,} units counted"
        yield f"work: {text}, though the study declares it the same in all configurations"


# They are read from the journal now: those of all runs would be most of a table's memory.
MAX_TIMELINES, MAX_TRACES = 64, 8


def read_timelines(samples: Sequence[Sample], response: str, file: Path | None, warmup: int) -> list[TimelineDoc]:
    """Read the timelines of at most 64 configurations, spread evenly over the design."""
    chosen = _typical_rows(samples, response, lambda row: row.timeline_line)
    step = max(1, -(-len(chosen) // MAX_TIMELINES))
    return [
        TimelineDoc(
            run=row.run, configuration=dict(row.configuration), timeline=to_builtins(record.timeline),
            window_ns=iteration_window(record, warmup),
        )
        for row, record in _read_rows(file, {row.timeline_line: row for row in chosen[::step] if row.timeline_line})
    ]  # fmt: skip


def _typical_rows(samples: Sequence[Sample], response: str, line: Callable[[Row], int | None]) -> list[Row]:
    usable = ([row for row in sample.counted if response in row.scores and line(row)] for sample in samples)
    return [row for rows in usable if (row := nearest_to_median(rows, response))]


def _read_rows(file: Path | None, lines: Mapping[int, Row]) -> Iterator[tuple[Row, Record]]:
    events = journal.pick(file, lines) if file and lines else {}
    return ((row, events[line]["record"]) for line, row in lines.items() if events)


def nearest_to_median(rows: Sequence[Row], response: str) -> Row | None:
    """Return the row whose score is nearest the median; None of no rows."""
    if not rows:
        return None
    middle = median(row.scores[response] for row in rows)
    return min(rows, key=lambda row: (abs(row.scores[response] - middle), row.run))


def read_traces(samples: Sequence[Sample], response: str, file: Path | None) -> list[TaskTrace]:
    """Read the traces of at most 8 configurations with several workers, spread evenly over the design."""
    chosen = _typical_rows(samples, response, lambda row: row.trace_line)
    if len(chosen) > MAX_TRACES:
        chosen = [chosen[round(i * (len(chosen) - 1) / (MAX_TRACES - 1))] for i in range(MAX_TRACES)]
    docs = []
    for row, record in _read_rows(file, {row.trace_line: row for row in chosen if row.trace_line}):
        trace = find_trace(record)
        assert trace is not None, "the table keeps the lines of whole traces only"
        start_us, end_us = ([ns / 1e3 for ns in times] for times in (trace.start_ns, trace.end_ns))
        docs.append(
            TaskTrace(
                run=row.run, configuration=dict(row.configuration), start_us=start_us, end_us=end_us,
                worker=list(trace.worker),
            )
        )  # fmt: skip
    return docs
