"""Treatments of a study run once more, with a recorder on: by the path of every run, apart from its runs."""

import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from statistics import median
from typing import IO, NamedTuple

from scalograph.errors import HostError, ProtocolError, StudyError
from scalograph.findings.table import Table
from scalograph.profile.recording import options, read_recorded_tasks, refusal
from scalograph.profile.stacks import Counting, Within
from scalograph.profile.values import MAX_FRAMES, Profiled, RecordedTasks, Treatment
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
from scalograph.study.processes import places
from scalograph.study.responses import observe, primary, windows

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
    """When a thread was seen on a CPU, in seconds of the monotonic clock, and its top frames, innermost first."""

    at_s: float
    frames: tuple[str, ...]


def refuse_unable(folder: Path) -> None:
    """Make a recording of a program that does nothing.

    Raises:
        HostError: perf is missing, or may not record here; with what it said.
    """
    if shutil.which("perf") is None:
        raise HostError("perf", "not on PATH", "the profiler of programs that start no JVM", INSTALL)
    file = folder / "attempt"
    done = subprocess.run(
        [*recorded(file, 0.01), "true"], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
        timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    if done.returncode or not file.exists():
        said = " ".join(done.stderr.split())[:300] or f"exit code {done.returncode}"
        fix = "run as root, or: sysctl kernel.perf_event_paranoid=1"
        raise HostError("perf record", said, "a recording", fix)
    file.unlink()


def recorded(file: Path, period_s: float) -> list[str]:
    """Return the words before a command of which a recording is made: samples of each thread that has a CPU."""
    return ["perf", *_RECORD, "--freq", str(round(1 / period_s)), "--output", str(file), "--"]


def read_perf_tasks(file: Path, within: Within) -> RecordedTasks:
    """Return what a recording holds of the time that is looked at.

    Args:
        file: what perf wrote.
        within: whether a time, in seconds since 1970, is looked at.

    Raises:
        HostError: perf cannot be started, fails, or takes too long.
    """
    offset_s = (time.time_ns() - time.monotonic_ns()) / 1e9
    counting = Counting(within)
    with _printed(file) as stream:
        every = samples(iter(lambda: stream.readline(MAX_LINE), ""))
        for one in islice(every, MAX_SAMPLES):
            counting.add(one.at_s + offset_s, one.frames)
        n_lost = sum(1 for _ in every)
    return counting.seen(n_lost)


def samples(lines: Iterable[str]) -> Iterator[PerfSample]:
    """Yield the samples that `perf script` printed: a line with the time, then one for each frame; others are no part.

    Frames end at the first whose function is not known, as above code without frame pointers; one on top is called by
    its file.

    >>> [*samples([" 7 12.5: ", "  9f work (/bin/prog)", "  a0 main (/bin/prog)", "  1 [unknown] (/bin/prog)", ""])]
    [PerfSample(at_s=12.5, frames=('work', 'main'))]
    """
    at_s, frames, is_open = 0.0, list[str](), False
    for line in lines:
        if head := _HEAD.fullmatch(line.rstrip("\n")):
            if frames:
                yield PerfSample(at_s, tuple(frames))
            at_s, frames, is_open = float(head[1]), [], True
        elif is_open and (found := _FRAME.fullmatch(line.rstrip("\n"))):
            is_known = found[1] != _UNKNOWN
            is_open = len(frames) + 1 < MAX_FRAMES and is_known
            if is_known or not frames:
                name = _VARIANT.sub("", found[1]) if is_known else f"[{Path(found[2]).name.partition('.')[0]}]"
                frames.append(name[:_NAME_CHARS])
    if frames:
        yield PerfSample(at_s, tuple(frames))


@contextmanager
def _printed(file: Path) -> Iterator[IO[str]]:
    """What perf prints of a recording; it is gone at the end, or after TIMEOUT_S whoever still reads."""
    environ = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    argv: Sequence[str] = ["perf", *_SCRIPT, "--input", str(file)]
    try:
        process = subprocess.Popen(
            argv, env=environ | {"LC_ALL": "C.UTF-8"}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, encoding="utf-8", errors="replace",
        )  # fmt: skip
    except OSError as error:
        raise HostError("perf", f"cannot be started: {error.strerror}", "perf on PATH", INSTALL) from error
    watch = threading.Timer(TIMEOUT_S, process.kill)
    with process:
        watch.start()
        try:
            assert process.stdout is not None
            yield process.stdout
            if code := process.wait(TIMEOUT_S):
                raise HostError("perf script", f"exit code {code}", "0", "try it by hand")
        finally:
            watch.cancel()
            process.kill()


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
    refuse_unable(folder)
    (folder / _RECORDINGS).mkdir()
    (process,) = planned.program.processes
    argv = (*recorded(folder / _RECORDINGS / "perf", period_s), *process.argv)
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
    return read_recorded_tasks(files, jvm, of) if jvm else read_perf_tasks(files[0], of)


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
