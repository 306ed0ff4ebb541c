"""Treatments of a study run once more, with a recorder on: by the path of every run, apart from its runs."""

import shutil
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from scalograph.errors import HostError, ProtocolError, StudyError
from scalograph.findings.table import Table
from scalograph.profile import perf_recording
from scalograph.profile.choose import Treatment
from scalograph.profile.recording import options, refusal, seen
from scalograph.profile.stacks import Within
from scalograph.profile.values import Profiled, RecordedTasks
from scalograph.protocol.facts import Jvm
from scalograph.protocol.record import Record
from scalograph.questions.registry import SWEEP
from scalograph.run.captured import Score
from scalograph.run.hosts.base import Host, Tell
from scalograph.run.launches import launches
from scalograph.run.plan import Plan
from scalograph.run.runner import Runner
from scalograph.run.scratch import scratch
from scalograph.run.session import run_unkept
from scalograph.study.responses import observe, primary, windows
from scalograph.study.template import places

_NEEDED = ("java", "jvm_options")
# Below the scratch folder: of a JVM, `options` makes it.
_RECORDINGS = "recordings"
# A profile rests on one run of each treatment, disturbed as it is by the recorder.
_ONCE = {
    "runs": 1, "warmup_runs": 0, "max_reruns": 0, "precision": None, "budget_s": None, "budget_runs": None,
    "wait_quiet_s": 0.0, "when_busy": "report",
}  # fmt: skip


def starts_java(planned: Plan) -> bool:
    """Tell whether the workload starts a JVM that the host can give options to: its flight recorder goes by these."""
    return set(_NEEDED) <= {found for found, _ in places(planned.program.argv)}


def refuse_several(planned: Plan) -> None:
    """A recording of perf is of one program.

    Raises:
        StudyError: a run of the study has several processes or copies.
    """
    processes = planned.program.processes
    if len(processes) != 1 or processes[0].copies != 1:
        raise StudyError.one("workload", "several processes or copies, none of them Java", "one, or Java", "")


def with_iterations(planned: Plan, n: int) -> Plan:
    """The plan with so many iterations in each run.

    Raises:
        StudyError: the study leaves as many out as warm-up, or has levels of its own for them.
    """
    study = planned.design.study
    if n <= study.protocol.warmup or "iterations" in study.factors:
        what = "a factor" if "iterations" in study.factors else f"warmup = {study.protocol.warmup}"
        raise StudyError.one("--iterations", f"{n}, and {what} of the study", "more than its warm-up, and no factor")
    protocol = study.protocol.model_copy(update={"iterations": n})
    design = replace(planned.design, study=study.model_copy(update={"protocol": protocol}))
    return replace(planned, design=design)


def take(
    planned: Plan, chosen: Sequence[Treatment], host: Host, period_s: float, tell: Tell, score: Score | None = None
) -> list[Profiled]:
    """Run each of these treatments once. Whoever calls it has the machine to itself.

    A JVM without a recorder, and a run that fails, are told by the `reason` of their treatment.

    Args:
        planned: the study.
        chosen: some of its treatments.
        host: where they run.
        period_s: time between two samples of a thread, in seconds.
        tell: who is told of progress.
        score: what reads the output of a harness, where a response of the study has a reader.

    Raises:
        HostError: there is no compiler, a setting is refused, or the disk is full.
        KeyboardInterrupt: a signal came meanwhile.
    """
    with scratch("profile") as folder:
        ready = host.ready(_only(planned, chosen), tell)
        ready = (_with_flight_recorder if starts_java(ready) else _under_perf)(ready, folder, period_s)
        return [_one(_only(ready, [treatment]), host, folder, tell, score) for treatment in chosen]


def _with_flight_recorder(planned: Plan, folder: Path, period_s: float) -> Plan:
    # Before the options of a level, which go on to say what the treatment is.
    values = {**planned.program.values, "jvm_options": options(folder, period_s)}
    return replace(planned, program=replace(planned.program, values=values))


def _under_perf(planned: Plan, folder: Path, period_s: float) -> Plan:
    refuse_several(planned)
    if "{" in str(folder) or "}" in str(folder):
        raise HostError("scratch folder", f'"{folder}"', "a name without braces", "set TMPDIR to another folder")
    perf_recording.refuse_unable(folder)
    (folder / _RECORDINGS).mkdir()
    (process,) = planned.program.processes
    argv = (*perf_recording.recorded(folder / _RECORDINGS / "perf", period_s), *process.argv)
    return replace(planned, program=replace(planned.program, processes=(replace(process, argv=argv),)))


def _only(planned: Plan, chosen: Sequence[Treatment]) -> Plan:
    """The plan of these treatments, each run once, and not again where it was disturbed."""
    study = planned.design.study
    protocol = study.protocol.model_copy(update=_ONCE)
    study = study.model_copy(update={"protocol": protocol, "question": SWEEP})
    return replace(planned, design=replace(planned.design, study=study, treatments=tuple(chosen), repeats={}))


def _one(planned: Plan, host: Host, folder: Path, tell: Tell, score: Score | None) -> Profiled:
    (treatment,) = planned.design.treatments
    jvm, profiled = None, Profiled(treatment=dict(treatment))
    if starts_java(planned):
        java = launches(planned, treatment)[0].values["java"]
        jvm = next((jvm for jvm in planned.facts.jvms if jvm.java == java), None)
        reason = refusal(jvm) if jvm else f"the JVM {java} does not say what it is"
        if jvm is None or reason:
            return profiled.model_copy(update={"reason": reason})
        profiled = profiled.model_copy(update={"jvm": f"{jvm.name} ({jvm.build})"})
    tell(", ".join(f"{name} = {level}" for name, level in treatment.items()))
    ((_, record, _),) = run_unkept(planned, Runner(planned, host, score))
    recordings = folder / _RECORDINGS
    try:
        return _told(profiled, planned, record, sorted(recordings.iterdir()), jvm)
    except (HostError, ProtocolError) as error:  # one recording that cannot be read takes no others along
        return profiled.model_copy(update={"reason": str(error)[:1000]})
    finally:
        shutil.rmtree(recordings)
        recordings.mkdir()


def _told(told: Profiled, planned: Plan, record: Record, files: Sequence[Path], jvm: Jvm | None) -> Profiled:
    if record.run.status != "ok":
        return told.model_copy(update={"reason": _why(record)})
    if not files:
        return told.model_copy(
            update={"reason": f"{f'the JVM {jvm.name}' if jvm else 'perf'} left no recording: {_said(record)}"[:1000]}
        )
    study, run = planned.design.study, record.run
    iterations, warmup = windows(record), study.protocol.warmup
    observed = observe(study.responses[primary(study)].source, record, iterations, warmup)
    n_tasks, n_iterations = max(1, len(iterations.wall_s) - warmup), max(1, len(iterations.wall_s))
    steals = [number for part in record.values for number in part.values.get("steals", ())]
    preemptions = run.n_preemptions or 0
    found = {
        "seen": _seen(files, jvm, within(record, warmup)), "n_tasks": n_tasks, "n_iterations": n_iterations,
        "switches": None if run.n_switches is None else max(0, run.n_switches - preemptions),
        "preemptions": run.n_preemptions, "steals_per_task": max(0.0, float(median(steals))) if steals else None,
        "score": median(observed) if observed else None,
    }  # fmt: skip
    return told.model_copy(update=found)


def _seen(files: Sequence[Path], jvm: Jvm | None, of: Within) -> RecordedTasks:
    return seen(files, jvm, of) if jvm else perf_recording.seen(files[0], of)


def with_measured(one: Profiled, table: Table) -> Profiled:
    """With the typical score of the study's own runs of this treatment, which had no recorder."""
    rows = (row for row in table.counted() if dict(row.treatment) == dict(one.treatment))
    scores = [row.scores[name] for row in rows if (name := primary(table.study)) in row.scores]
    return one.model_copy(update={"measured": median(scores)}) if scores else one


def within(record: Record, warmup: int) -> Within:
    """Whether a time of day lies in the iterations that count; in the run from its gate on, where it told of none.

    The probe's times count from its gate, which is a time of the monotonic clock: the difference of the two clocks is
    that of now.
    """
    gate_s = ((record.run.gate_ns or 0) + time.time_ns() - time.monotonic_ns()) / 1e9
    spans = [
        (start, end)
        for part in record.iterations
        for index, start, end in zip(part.index, part.start_ns, part.end_ns, strict=True)
        if index >= warmup
    ]
    first = gate_s + min((start for start, _ in spans), default=0) / 1e9
    last = gate_s + max((end for _, end in spans), default=record.run.wall_ns or 0) / 1e9
    return lambda at: first <= at <= last


def _why(record: Record) -> str:
    reason = f"the run has {record.run.status}: {record.run.reason or 'no reason told'}"
    return f"{reason}; {said}"[:1000] if (said := _said(record)) else reason[:1000]


def _said(record: Record) -> str:
    lines = [line for copy in record.copies for line in copy.stderr_tail.strip().splitlines()]
    return lines[0][:400] if lines else ""
