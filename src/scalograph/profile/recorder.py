"""Profile configurations of a study: run each once more with a flight recorder or perf."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from scalograph.control.machine_control import NO_CONSENT, Consent
from scalograph.errors import HostError, Problem, ProtocolError, StudyError
from scalograph.findings.table import Table
from scalograph.profile import recording, wait_kinds
from scalograph.profile.perf_runs import (
    PerfRun,
    PerfRuns,
    end_by_term,
    first_stderr_line,
    make_time_filter,
    recording_site,
    select_configurations,
)
from scalograph.profile.perf_trace import UNKNOWN, Frame
from scalograph.profile.values import MAX_FRAMES, Configuration, ProfiledRun, RecordedTasks
from scalograph.protocol import journal
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.record import Record
from scalograph.protocol.results import Results
from scalograph.run.hosts.base import Host, Tell
from scalograph.run.launches import launches
from scalograph.run.plan import Plan, plan
from scalograph.run.runner import Runner, Score
from scalograph.run.session import run_in_memory
from scalograph.study import identity
from scalograph.study.declare import declare
from scalograph.study.processes import placeholders
from scalograph.study.responses import observe, primary_response, windows
from scalograph.verdict.preemption import n_cpus

_NEEDED = ("java", "jvm_options")
_RECORDINGS = "recordings"  # below the scratch folder
# Waits as perf sees them -> the field of `RecordedTasks`.
_WAITS = {
    wait_kinds.LOCK: "blocked", wait_kinds.GIL: "blocked", wait_kinds.CONDITION: "parks", wait_kinds.BARRIER: "parks",
    wait_kinds.JOIN: "parks", wait_kinds.SLEEP: "sleeps",
}  # fmt: skip


def starts_java(planned: Plan) -> bool:
    """Return whether the workload starts a JVM that takes options, as its flight recorder needs."""
    return set(_NEEDED) <= {name for name, _ in placeholders(planned.program.argv)}


def set_iterations(planned: Plan, n: int) -> Plan:
    """Return the plan with `n` iterations per run.

    Raises StudyError: the study leaves as many out as warm-up, or has levels of its own for them.
    """
    study = planned.design.study
    if n <= study.protocol.warmup or "iterations" in study.factors:
        what = "a factor" if "iterations" in study.factors else f"warmup = {study.protocol.warmup}"
        raise StudyError.one("--iterations", f"{n}, and {what} of the study", "more than its warm-up, and no factor")
    protocol = study.protocol.model_copy(update={"iterations": n})
    design = replace(planned.design, study=study.model_copy(update={"protocol": protocol}))
    return replace(planned, design=design)


def take_profiles(
    planned: Plan, chosen: Sequence[Configuration], host: Host, period_s: float, tell: Tell, score: Score | None = None
) -> list[ProfiledRun]:
    """Profile each configuration in one run; under perf after one without it. The caller holds the machine lock.

    A JVM without a recorder, and a failed run, set the `reason` of their configuration. `period_s` lies between two
    samples of a thread; `score` reads the output of a harness, if a response has a reader.

    Raises HostError: there is no compiler, a setting is refused, or the disk is full; KeyboardInterrupt: a signal came
    meanwhile.
    """
    with recording_site(host) as site:
        folder = site.folder
        ready = host.ready(select_configurations(planned, chosen), tell)
        take: Callable[[Configuration], ProfiledRun]
        if starts_java(ready):
            if not site.is_here:
                problem, fix = "a flight recorder's recordings are read on its own machine", "start scalograph there"
                raise StudyError.one("--host", problem, "a program that perf records", fix)
            # Before the options of a level, which go on to say what the configuration is.
            values = {
                **ready.program.values,
                "jvm_options": recording.recorder_options(folder, recording.profile_settings(period_s)),
            }
            ready = end_by_term(replace(ready, program=replace(ready.program, values=values)))
            take = partial(_profile_java, ready, Runner(ready, host, score), folder / _RECORDINGS)
        else:
            take = partial(_profile_by_perf, PerfRuns(ready, host, score, site), round(1 / period_s))
        profiles = []
        for configuration in chosen:
            tell(", ".join(f"{name} = {level}" for name, level in configuration.items()))
            profiles.append(take(configuration))
        return profiles


def _profile_by_perf(runs: PerfRuns, hertz: int, configuration: Configuration) -> ProfiledRun:
    profile, record = ProfiledRun(configuration=dict(configuration)), runs.run(configuration)
    if record.run.status != "ok":
        return _fill_profile(profile, runs.plain, record, None)
    try:
        run = runs.record(configuration, runs.rates(record, n_cpus(record), hertz))
    except (HostError, ProtocolError) as error:  # one recording that cannot be read takes no others along
        return profile.model_copy(update={"reason": str(error)[:1000]})
    return _fill_profile(profile, runs.plain, run.record, count_tasks(run), run.rates.n_repeats)


def count_tasks(run: PerfRun) -> RecordedTasks:
    """Count samples by stack, and waits by what was waited for, in the traces of a run."""
    counter = recording.EventCounter(lambda _: True)
    for task in (task for trace in run.traces for task in trace.tasks.values()):
        for _, stack in task.samples:
            counter.add_sample(tuple(map(_frame_text, stack[:MAX_FRAMES])))
        for stay, following in pairwise(task.stays):
            cause = wait_kinds.wait_cause(stay.stack) if stay.stack and not stay.was_preempted else None
            if cause and (field := _WAITS.get(cause.kind)):
                where = _frame_text(cause.stack[0]) if cause.stack else ""
                counter.add_wait(field, where, (following.start - stay.end) / 1e9, run.rates.period)
    return counter.summarize(sum(trace.n_lost for trace in run.traces))


def _frame_text(frame: Frame) -> str:
    return frame.name if frame.name != UNKNOWN else f"[{frame.module.strip('[]').partition('.')[0]}]"


def _profile_java(planned: Plan, runner: Runner, recordings: Path, configuration: Configuration) -> ProfiledRun:
    profile, planned = ProfiledRun(configuration=dict(configuration)), select_configurations(planned, [configuration])
    java = next(each.values["java"] for each in launches(planned, configuration) if "java" in each.values)
    jvm = next((jvm for jvm in planned.facts.jvms if jvm.java == java), None)
    reason = recording.why_unrecordable(jvm) if jvm else f"the JVM {java} does not say what it is"
    if jvm is None or reason:
        return profile.model_copy(update={"reason": reason})
    profile = profile.model_copy(update={"jvm": f"{jvm.name} ({jvm.build})"})
    ((_, record, _),) = run_in_memory(planned, runner)
    try:
        files, seen = sorted(recordings.iterdir()), None
        if files and record.run.status == "ok":
            within = make_time_filter(record, planned.design.study.protocol.warmup)
            seen = recording.read_recorded_tasks(files, jvm, within)
        return _fill_profile(profile, planned, record, seen)
    except (HostError, ProtocolError) as error:
        return profile.model_copy(update={"reason": str(error)[:1000]})
    finally:
        shutil.rmtree(recordings)
        recordings.mkdir()


def _fill_profile(
    profile: ProfiledRun, planned: Plan, record: Record, seen: RecordedTasks | None, n_repeats: int = 1
) -> ProfiledRun:
    if record.run.status != "ok" or seen is None:
        reason = f"the run has {record.run.status}: {record.run.reason or 'no reason given'}"
        reason = reason if record.run.status != "ok" else "the JVM left no recording"
        reason = "; ".join(filter(None, [reason, first_stderr_line(record)]))
        return profile.model_copy(update={"reason": reason[:1000]})
    study, run = planned.design.study, record.run
    iterations, warmup = windows(record), study.protocol.warmup
    observed = observe(study.responses[primary_response(study)].source, record, iterations, warmup)
    steals = [number for part in record.values for number in part.values.get("steals", ())]
    preemptions = run.n_preemptions or 0
    values = {
        "seen": seen,
        "n_tasks": n_repeats * max(1, len(iterations.wall_s) - warmup),
        "n_iterations": n_repeats * max(1, len(iterations.wall_s)),
        "switches": None if run.n_switches is None else max(0, run.n_switches - preemptions),
        "preemptions": run.n_preemptions, "steals_per_task": max(0.0, float(median(steals))) if steals else None,
        "score": median(observed) if observed and n_repeats == 1 else None,
    }  # fmt: skip
    return profile.model_copy(update=values)


def add_median_score(profile: ProfiledRun, table: Table) -> ProfiledRun:
    """Add the median score of the study's own runs of this configuration, as measured: the recorded run's is so too."""
    name = table.correction.response if table.correction else table.view.primary
    rows = (row for row in table.successful_rows() if dict(row.configuration) == dict(profile.configuration))
    scores = [row.scores[name] for row in rows if name in row.scores]
    return profile.model_copy(update={"measured": median(scores)}) if scores else profile


# The program must be the same; another machine, kernel or JVM is reported, for the reader to judge.
_SAME = ("study_hash", *identity.NEVER)
_LATER = "prepared"  # known once the workload is ready, which is after
_OWN = Problem(
    "profile", "what is run is taken from the study", "",
    "name the study's file with --study where it has a workload or files of its own",
)  # fmt: skip


def plan_again(
    results: Results, file: Path | None, facts: HostFacts, consent: Consent = NO_CONSENT
) -> tuple[Plan, list[str]]:
    """Plan the study of a result again, in full or quick form; return what differs since as texts.

    Commands come from study.toml, never from the journal; `file` replaces the copy in the results.

    Raises ProtocolError: there is no readable journal; StudyError: the study cannot be planned here, or differs from
    the journal's.
    """
    if not results.journal.exists():
        raise ProtocolError(str(results.journal), "no such file", "a results folder", "run the study first")
    before, file = journal.first_event(results.journal), file or results.study
    tried = [_try_plan(file, quick, facts, before, consent) for quick in (False, True)]
    planned, differences = next((each for each in tried if not _select_refused(each[1])), tried[0])
    if other := _select_refused(differences):
        names = ", ".join(dict.fromkeys(difference.key for difference in other[:6]))
        fix = "profile the study that was run"
        raise StudyError.one(str(file), f"another study: {names} differ", "the study of the journal", fix)
    changed = [d for d in differences if d.key != _LATER]
    return planned, [f"{d.key} is now {d.now!r}, was {d.before!r} when the study ran"[:1000] for d in changed]


def _try_plan(
    file: Path, quick: bool, facts: HostFacts, before: Mapping[str, Any], consent: Consent
) -> tuple[Plan, list[identity.Difference]]:
    try:
        planned = plan(declare(file, quick), facts, consent=consent)
    except StudyError as error:
        raise StudyError([*error.problems, _OWN]) from error
    differences = identity.differences(before, planned.first_event(""))
    # A start may have asked for other runs than the file.
    allowed = ("study_hash",) if planned.differs_in_runs(before) else ()
    return planned, [difference for difference in differences if difference.name not in allowed]


def _select_refused(differences: list[identity.Difference]) -> list[identity.Difference]:
    return [difference for difference in differences if difference.name in _SAME]
