"""Profile configurations of a study: run each once more with a flight recorder or perf."""

import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from statistics import median
from typing import IO, Any, NamedTuple

from scalograph.control.machine_control import NO_CONSENT, Consent
from scalograph.errors import HostError, Problem, ProtocolError, StudyError
from scalograph.findings.run_notes import iteration_window
from scalograph.findings.table import Table
from scalograph.profile import recording
from scalograph.profile.values import MAX_FRAMES, Configuration, ProfiledRun, RecordedTasks
from scalograph.protocol import journal
from scalograph.protocol.facts import HostFacts, Jvm
from scalograph.protocol.record import Record
from scalograph.protocol.results import Results
from scalograph.questions.registry import SWEEP
from scalograph.run.hosts.base import Host, Tell
from scalograph.run.launches import launches
from scalograph.run.plan import Plan, plan
from scalograph.run.runner import Runner, Score
from scalograph.run.session import run_in_memory
from scalograph.study import identity
from scalograph.study.declare import declare
from scalograph.study.processes import placeholders
from scalograph.study.responses import observe, primary_response, windows
from scalograph.system.private_dir import scratch

INSTALL = "apt install linux-perf"
MAX_SAMPLES = 400_000
TIMEOUT_S = 300
MAX_LINE, _NAME_CHARS = 1 << 16, 256
# A clock of the kernel, which every machine has: hardware counters are missing in most guests.
_RECORD = ("record", "--quiet", "--event", "cpu-clock", "--call-graph", "fp", "--clockid", "CLOCK_MONOTONIC")
_SCRIPT = ("script", "--ns", "--no-inline", "--fields", "tid,time,ip,sym,dso")
_HEAD = re.compile(r"\s*\d+\s+(\d{1,12}\.\d{1,9}):\s*")
_FRAME = re.compile(r"\s*[0-9a-f]+ (.*?) \(([/\[].*)\)\s*")
_UNKNOWN = "[unknown]"
# What a compiler adds to the name of a function that it made a variant of.
_VARIANT = re.compile(r"\.(isra|constprop|part|cold|lto_priv)\b.*")


class PerfSample(NamedTuple):
    """A sample: its time in seconds of the monotonic clock, and its top frames, innermost first."""

    at_s: float
    frames: tuple[str, ...]


def refuse_unable(folder: Path) -> None:
    """Check that perf can record, by recording a program that does nothing.

    Raises HostError: perf is missing, or may not record here; with what it said.
    """
    if shutil.which("perf") is None:
        raise HostError("perf", "not on PATH", "the profiler of programs that start no JVM", INSTALL)
    file = folder / "attempt"
    done = subprocess.run(
        [*perf_command(file, 0.01), "true"], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
        timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    if done.returncode or not file.exists():
        message = " ".join(done.stderr.split())[:300] or f"exit code {done.returncode}"
        fix = "run as root, or: sysctl kernel.perf_event_paranoid=1"
        raise HostError("perf record", message, "a recording", fix)
    file.unlink()


def perf_command(file: Path, period_s: float) -> list[str]:
    """Return the perf command prefix that records samples of each thread on a CPU."""
    return ["perf", *_RECORD, "--freq", str(round(1 / period_s)), "--output", str(file), "--"]


def read_perf_tasks(file: Path, within: recording.TimeFilter) -> RecordedTasks:
    """Read the samples of a perf recording within a time window.

    Raises HostError: perf cannot be started, fails, or takes too long.
    """
    offset_s = (time.time_ns() - time.monotonic_ns()) / 1e9
    counting = recording.EventCounter(within)
    with _print_perf_samples(file) as stream:
        every = parse_perf_samples(iter(lambda: stream.readline(MAX_LINE), ""))
        for sample in islice(every, MAX_SAMPLES):
            counting.add(sample.at_s + offset_s, sample.frames)
        n_lost = sum(1 for _ in every)
    return counting.summarize(n_lost)


def parse_perf_samples(lines: Iterable[str]) -> Iterator[PerfSample]:
    """Parse the output of `perf script`: a line with the time, then one for each frame.

    Frames end at the first whose function is not known, as above code without frame pointers; one on top is called by
    its file.

    >>> lines = [" 7 12.5: ", "  9f work (/bin/prog)", "  a0 main (/bin/prog)", "  1 [unknown] (/bin/prog)", ""]
    >>> [*parse_perf_samples(lines)]
    [PerfSample(at_s=12.5, frames=('work', 'main'))]
    """
    at_s, frames, is_open = 0.0, list[str](), False
    for line in lines:
        if head := _HEAD.fullmatch(line.rstrip("\n")):
            if frames:
                yield PerfSample(at_s, tuple(frames))
            at_s, frames, is_open = float(head[1]), [], True
        elif is_open and (frame := _FRAME.fullmatch(line.rstrip("\n"))):
            is_known = frame[1] != _UNKNOWN
            is_open = len(frames) + 1 < MAX_FRAMES and is_known
            if is_known or not frames:
                name = _VARIANT.sub("", frame[1]) if is_known else f"[{Path(frame[2]).name.partition('.')[0]}]"
                frames.append(name[:_NAME_CHARS])
    if frames:
        yield PerfSample(at_s, tuple(frames))


@contextmanager
def _print_perf_samples(file: Path) -> Iterator[IO[str]]:
    with recording.run_reader(["perf", *_SCRIPT, "--input", str(file)], {}, "perf on PATH", INSTALL) as process:
        assert process.stdout is not None
        yield process.stdout
        if code := process.wait(TIMEOUT_S):
            raise HostError("perf script", f"exit code {code}", "0", "try it by hand")


_NEEDED = ("java", "jvm_options")
_RECORDINGS = "recordings"  # below the scratch folder
# A profile rests on one run of each configuration, disturbed as it is by the recorder.
_ONCE = {
    "runs": 1, "warmup_runs": 0, "max_reruns": 0, "precision": None, "budget_s": None, "budget_runs": None,
    "wait_quiet_s": 0.0, "when_busy": "report",
}  # fmt: skip


def starts_java(planned: Plan) -> bool:
    """Return whether the workload starts a JVM that takes options, as its flight recorder needs."""
    return set(_NEEDED) <= {name for name, _ in placeholders(planned.program.argv)}


def refuse_several(planned: Plan) -> None:
    """Refuse workloads of several processes: perf records one program.

    Raises StudyError: a run of the study has several processes or copies.
    """
    processes = planned.program.processes
    if len(processes) != 1 or processes[0].copies != 1:
        raise StudyError.one("workload", "several processes or copies, none of them Java", "one, or Java", "")


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
    """Profile each configuration in one run. The caller holds the machine lock.

    A JVM without a recorder, and a failed run, set the `reason` of their configuration. `period_s` lies between two
    samples of a thread; `score` reads the output of a harness, if a response has a reader.

    Raises HostError: there is no compiler, a setting is refused, or the disk is full; KeyboardInterrupt: a signal came
    meanwhile.
    """
    with scratch("profile") as folder:
        ready = host.ready(select_configurations(planned, chosen), tell)
        if starts_java(ready):
            # Before the options of a level, which go on to say what the configuration is.
            values = {**ready.program.values, "jvm_options": recording.recorder_options(folder, period_s)}
            ready = replace(ready, program=replace(ready.program, values=values))
        else:
            ready = _add_perf(ready, folder, period_s)
        plans = [select_configurations(ready, [configuration]) for configuration in chosen]
        return [_profile_once(each, host, folder, tell, score) for each in plans]


def _add_perf(planned: Plan, folder: Path, period_s: float) -> Plan:
    refuse_several(planned)
    if "{" in str(folder) or "}" in str(folder):
        raise HostError("scratch folder", f'"{folder}"', "a name without braces", "set TMPDIR to another folder")
    refuse_unable(folder)
    (folder / _RECORDINGS).mkdir()
    (process,) = planned.program.processes
    argv = (*perf_command(folder / _RECORDINGS / "perf", period_s), *process.argv)
    return replace(planned, program=replace(planned.program, processes=(replace(process, argv=argv),)))


def select_configurations(planned: Plan, chosen: Sequence[Configuration]) -> Plan:
    """Run each configuration once, without repeats."""
    study = planned.design.study
    protocol = study.protocol.model_copy(update=_ONCE)
    study = study.model_copy(update={"protocol": protocol, "question": SWEEP})
    return replace(planned, design=replace(planned.design, study=study, configurations=tuple(chosen), repeats={}))


def _profile_once(planned: Plan, host: Host, folder: Path, tell: Tell, score: Score | None) -> ProfiledRun:
    (configuration,) = planned.design.configurations
    jvm, profiled = None, ProfiledRun(configuration=dict(configuration))
    if starts_java(planned):
        java = launches(planned, configuration)[0].values["java"]
        jvm = next((jvm for jvm in planned.facts.jvms if jvm.java == java), None)
        reason = recording.why_unrecordable(jvm) if jvm else f"the JVM {java} does not say what it is"
        if jvm is None or reason:
            return profiled.model_copy(update={"reason": reason})
        profiled = profiled.model_copy(update={"jvm": f"{jvm.name} ({jvm.build})"})
    tell(", ".join(f"{name} = {level}" for name, level in configuration.items()))
    ((_, record, _),) = run_in_memory(planned, Runner(planned, host, score))
    recordings = folder / _RECORDINGS
    try:
        return _fill_profile(profiled, planned, record, sorted(recordings.iterdir()), jvm)
    except (HostError, ProtocolError) as error:  # one recording that cannot be read takes no others along
        return profiled.model_copy(update={"reason": str(error)[:1000]})
    finally:
        shutil.rmtree(recordings)
        recordings.mkdir()


def _fill_profile(
    profile: ProfiledRun, planned: Plan, record: Record, files: Sequence[Path], jvm: Jvm | None
) -> ProfiledRun:
    if record.run.status != "ok":
        reason = f"the run has {record.run.status}: {record.run.reason or 'no reason given'}"
        reason = "; ".join(filter(None, [reason, first_stderr_line(record)]))
        return profile.model_copy(update={"reason": reason[:1000]})
    if not files:
        who = f"the JVM {jvm.name}" if jvm else "perf"
        reason = f"{who} left no recording: {first_stderr_line(record)}"
        return profile.model_copy(update={"reason": reason[:1000]})
    study, run = planned.design.study, record.run
    iterations, warmup = windows(record), study.protocol.warmup
    observed = observe(study.responses[primary_response(study)].source, record, iterations, warmup)
    n_tasks, n_iterations = max(1, len(iterations.wall_s) - warmup), max(1, len(iterations.wall_s))
    steals = [number for part in record.values for number in part.values.get("steals", ())]
    preemptions, within = run.n_preemptions or 0, make_time_filter(record, warmup)
    values = {
        "seen": recording.read_recorded_tasks(files, jvm, within) if jvm else read_perf_tasks(files[0], within),
        "n_tasks": n_tasks, "n_iterations": n_iterations,
        "switches": None if run.n_switches is None else max(0, run.n_switches - preemptions),
        "preemptions": run.n_preemptions, "steals_per_task": max(0.0, float(median(steals))) if steals else None,
        "score": median(observed) if observed else None,
    }  # fmt: skip
    return profile.model_copy(update=values)


def add_median_score(profile: ProfiledRun, table: Table) -> ProfiledRun:
    """Add the median score of the study's own runs of this configuration."""
    rows = (row for row in table.successful_rows() if dict(row.configuration) == dict(profile.configuration))
    scores = [row.scores[name] for row in rows if (name := table.view.primary) in row.scores]
    return profile.model_copy(update={"measured": median(scores)}) if scores else profile


def make_time_filter(record: Record, warmup: int) -> recording.TimeFilter:
    """Return a filter of times within the counted iterations, else from the gate of the run on.

    Times of the probe count from its gate, a time of the monotonic clock: now tells the offset of the clocks.
    """
    gate_s = ((record.run.gate_ns or 0) + time.time_ns() - time.monotonic_ns()) / 1e9
    start, end = iteration_window(record, warmup) or (0, record.run.wall_ns or 0)
    first, last = gate_s + start / 1e9, gate_s + end / 1e9
    return lambda at: first <= at <= last


def first_stderr_line(record: Record) -> str:
    """Return the first line that a copy wrote to standard error; empty if none did."""
    lines = [line for copy in record.copies for line in copy.stderr_tail.strip().splitlines()]
    return lines[0][:400] if lines else ""


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
