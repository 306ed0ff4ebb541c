"""Treatments of a study run once more, with a flight recorder on: by the path of every run, apart from its runs."""

import shutil
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from scalograph.errors import HostError, ProtocolError, StudyError
from scalograph.findings.table import Table
from scalograph.profile.choose import Treatment
from scalograph.profile.recording import options, refusal, seen
from scalograph.profile.stacks import Within
from scalograph.profile.values import Profiled
from scalograph.protocol.events import Record
from scalograph.protocol.facts import Jvm
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
# A profile rests on one run of each treatment, disturbed as it is by the recorder.
_ONCE = {
    "runs": 1, "warmup_runs": 0, "max_reruns": 0, "precision": None, "budget_s": None, "budget_runs": None,
    "wait_quiet_s": 0.0, "when_busy": "report",
}  # fmt: skip


def refuse_other_programs(planned: Plan) -> None:
    """A recorder goes by the options of a JVM.

    Raises:
        StudyError: the workload starts no JVM that the host could give options to.
    """
    missing = [name for name in _NEEDED if name not in {found for found, _ in places(planned.program.argv)}]
    if missing:
        found = "no " + " and no ".join(f"{{{name}}}" for name in missing) + " in its argv"
        raise StudyError.one("workload", found, "a workload that starts Java as {java} {jvm_options}", "")


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
        # Before the options of a level, which go on to say what the treatment is.
        values = {**ready.program.values, "jvm_options": options(folder, period_s)}
        ready = replace(ready, program=replace(ready.program, values=values))
        return [_one(_only(ready, [treatment]), host, folder, tell, score) for treatment in chosen]


def _only(planned: Plan, chosen: Sequence[Treatment]) -> Plan:
    """The plan of these treatments, each run once, and not again where it was disturbed."""
    study = planned.design.study
    protocol = study.protocol.model_copy(update=_ONCE)
    study = study.model_copy(update={"protocol": protocol, "question": SWEEP})
    return replace(planned, design=replace(planned.design, study=study, treatments=tuple(chosen), repeats={}))


def _one(planned: Plan, host: Host, folder: Path, tell: Tell, score: Score | None) -> Profiled:
    (treatment,) = planned.design.treatments
    java = launches(planned, treatment)[0].values["java"]
    jvm = next((jvm for jvm in planned.facts.jvms if jvm.java == java), None)
    profiled = Profiled(treatment=dict(treatment), jvm=f"{jvm.name} ({jvm.build})" if jvm else "")
    reason = refusal(jvm) if jvm else f"the JVM {java} does not say what it is"
    if jvm is None or reason:
        return profiled.model_copy(update={"reason": reason})
    tell(", ".join(f"{name} = {level}" for name, level in treatment.items()))
    ((_, record, _),) = run_unkept(planned, Runner(planned, host, score))
    recordings = folder / "recordings"
    try:
        return _told(profiled, planned, record, sorted(recordings.glob("*.jfr")), jvm)
    except (HostError, ProtocolError) as error:  # one recording that cannot be read takes no others along
        return profiled.model_copy(update={"reason": str(error)[:1000]})
    finally:
        shutil.rmtree(recordings)
        recordings.mkdir()


def _told(told: Profiled, planned: Plan, record: Record, files: Sequence[Path], jvm: Jvm) -> Profiled:
    if record.run.status != "ok":
        return told.model_copy(update={"reason": _why(record)})
    if not files:
        return told.model_copy(update={"reason": f"the JVM {jvm.name} left no recording: {_said(record)}"[:1000]})
    study, run = planned.design.study, record.run
    iterations, warmup = windows(record), study.protocol.warmup
    observed = observe(study.responses[primary(study)].source, record, iterations, warmup)
    n_tasks, n_iterations = max(1, len(iterations.wall_s) - warmup), max(1, len(iterations.wall_s))
    steals = [number for part in record.values for number in part.values.get("steals", ())]
    preemptions = run.n_preemptions or 0
    found = {
        "seen": seen(files, jvm, within(record, warmup)), "n_tasks": n_tasks, "n_iterations": n_iterations,
        "switches": None if run.n_switches is None else max(0, run.n_switches - preemptions),
        "preemptions": run.n_preemptions, "steals_per_task": max(0.0, float(median(steals))) if steals else None,
        "score": median(observed) if observed else None,
    }  # fmt: skip
    return told.model_copy(update=found)


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
