"""Make runs of a plan under perf: of one program, or of the machine where a run has several processes."""

import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory

from scalograph.errors import HostError, ProtocolError, StudyError
from scalograph.findings.run_notes import iteration_window
from scalograph.profile.build_targets import name_targets, watch_commands
from scalograph.profile.perf_trace import Trace, read_inlined, read_trace
from scalograph.profile.recording import (
    LOCK_SETTINGS,
    TIMEOUT_S,
    LockWaits,
    TimeFilter,
    read_lock_waits,
    recorder_options,
    why_unrecordable,
)
from scalograph.profile.recording_site import HERE, RecordingSite
from scalograph.profile.values import Configuration
from scalograph.protocol.record import Record
from scalograph.questions.registry import SWEEP
from scalograph.run.caller_environment import environment
from scalograph.run.hosts.base import Host, RecordingHost
from scalograph.run.launches import launches
from scalograph.run.plan import Plan
from scalograph.run.runner import Runner, Score
from scalograph.run.session import run_in_memory
from scalograph.study.program import Process

INSTALL = "apt install linux-perf"
# Stacks of departures and samples that a recording holds: more would take seconds to read and disturb the run.
_MAX_STACKS, _MAX_SAMPLES, _LEAST_HZ, _MOST_HZ = 10_000, 6_000, 50, 1_999
# No multiple of what a loop of a program repeats.
_PERIODS = (1, 3, 7, 17, 37, 79, 163, 331, 673, 1361, 2729, 5471, 10_949, 21_911, 43_853, 87_719)
_STACK_BYTES = 8192
_SHORT_S, _MOST_REPEATS = 0.2, 50  # a run that is shorter is repeated under one recording
# Runs a command so many times; what the last one writes is read. Neither shell nor modules of the user.
_REPEAT = """
import subprocess, sys
for left in reversed(range(int(sys.argv[1]))):
    code = subprocess.call(sys.argv[2:], stdout=subprocess.DEVNULL if left else None)
    if code or not left:
        sys.exit(code if code >= 0 else 128 - code)
"""
_PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
_END_S = 20.0  # for what a runtime writes when it ends


@dataclass(frozen=True)
class Rates:
    """How much perf records.

    Attributes:
        period: of departures from a CPU with a stack.
        hertz: samples per second and CPU.
        n_repeats: runs in one recording.
    """

    period: int = 1
    hertz: int = _LEAST_HZ
    n_repeats: int = 1


@dataclass(frozen=True)
class PerfRun:
    """A recorded run: its record, and what perf saw of it, one trace for each repeat; none if it failed."""

    record: Record
    traces: tuple[Trace, ...] = ()
    rates: Rates = Rates()


def record_command(
    file: Path, rates: Rates, wakes: bool, is_wide: bool = False, site: RecordingSite = HERE
) -> list[str]:  # fmt: skip
    """Return the perf command prefix that records departures from CPUs, switches, samples, and wake-ups.

    `is_wide` records the machine until it is interrupted.
    """
    events = [f"cpu-clock/freq={rates.hertz}/", f"context-switches/period={rates.period}/"]
    events += ["sched:sched_waking/call-graph=fp,max-stack=8/"] if wakes else []
    options = [word for event in events for word in ("--event", event)]
    return [
        "perf", "record", "--quiet", "--sample-cpu", "--clockid", "CLOCK_MONOTONIC", "--switch-events", *options,
        "--call-graph", f"dwarf,{_STACK_BYTES}", "--output", str(file),
        # As much as one may lock who is not root is little, and full rings lose records.
        *(["--mmap-pages", "2048"] if site.is_root else []), *(["--all-cpus"] if is_wide else ["--"]),
    ]  # fmt: skip


@contextmanager
def recording_site(host: Host) -> Iterator[RecordingSite]:
    """Yield the machine of a host's runs, with a folder for their recordings.

    Raises StudyError: its runs cannot be recorded.
    """
    if not isinstance(host, RecordingHost):
        raise StudyError.one("--host", "its runs cannot be recorded", "local or ssh:NAME")
    with host.recordings() as folder:
        yield RecordingSite(folder, host.tool, host.facts().reached is None)


class PerfRuns:
    """Make runs of a ready plan, with perf and without. The caller holds the machine lock.

    Raises HostError: perf is missing, or may not record here.
    """

    def __init__(self, ready: Plan, host: Host, score: Score | None, site: RecordingSite) -> None:
        self._host, self._score, self.site = host, score, site
        self._file, self._warmup = site.folder / "perf", ready.design.study.protocol.warmup
        program = ready.program
        self.is_wide = len(program.processes) != 1 or program.processes[0].copies != 1 or bool(program.running)
        if self.is_wide and not site.is_here:
            problem, fix = "runs of several processes are recorded on the own machine only", "start scalograph there"
            raise HostError("--host", problem, "a run of one process", fix)
        self.has_wakes, self._tries_inlined = _grants_wakes(site, self.is_wide), True
        self.plain, self._named = ready, _add_variables(end_by_term(ready), _MAPS)

    def run(self, configuration: Configuration, changed: Plan | None = None) -> Record:
        """Make a run without perf, of the plan or a `changed` one."""
        return self._run(changed or self.plain, configuration)

    def rates(self, record: Record, n_cpus: int, hertz: int | None = None) -> Rates:
        """Choose how much is recorded of runs as long as this one, which used `n_cpus`."""
        wall_s, has_window = self.measured_s(record), iteration_window(record, self._warmup) is not None
        n_repeats = (
            1
            if has_window or self.is_wide or not self.site.python
            else min(_MOST_REPEATS, max(1, ceil(_SHORT_S / wall_s)))
        )
        wanted = n_repeats * (record.run.n_switches or 0) / _MAX_STACKS
        hertz = hertz or round(min(_MOST_HZ, max(_LEAST_HZ, _MAX_SAMPLES / (n_repeats * wall_s * n_cpus))))
        return Rates(next((period for period in _PERIODS if period >= wanted), _PERIODS[-1]), hertz, n_repeats)

    def measured_s(self, record: Record) -> float:
        """Return the time of the counted iterations of a run, else of all of it."""
        first, last = iteration_window(record, self._warmup) or (0, record.run.wall_ns or 10**9)
        return max(last - first, 1) / 1e9

    def record(self, configuration: Configuration, rates: Rates) -> PerfRun:
        """Make runs under perf. Raises HostError: its recording cannot be read."""
        try:
            with ExitStack() as stack:
                commands = {} if self.is_wide or not self.site.is_here else stack.enter_context(watch_commands())
                record = (self._record_machine if self.is_wide else self._record_command)(configuration, rates)
            if record.run.status != "ok":
                return PerfRun(record)
            processes = self._name_processes(record, configuration) if self.is_wide else {}
            trace = read_trace(self._file, processes, self.site)
            targets = name_targets(trace, commands)
            if self._tries_inlined and not targets:  # of what a build starts no function is named
                inlined = read_inlined(self._file, trace, self.site)
                self._tries_inlined, trace = inlined is not None, inlined or trace
        finally:
            self.site.remove(self._file)
        trace = replace(trace, targets=targets)
        traces = split_repeats(trace) if rates.n_repeats > 1 else (self._measured_part(record, trace, processes),)
        maps = {f"/tmp/perf-{task.pid}.map" for each in traces for task in each.tasks.values()}  # noqa: S108
        self.site.remove(*map(Path, sorted(maps)))  # where perf looks for them
        return PerfRun(record, traces, rates)

    def lock_waits(self, configuration: Configuration) -> LockWaits:
        """Return where Java waits for locks, from a run with a flight recorder.

        Empty where no JVM leaves a recording, and for another machine.
        """
        jvms = [jvm for jvm in self.plain.facts.jvms if not why_unrecordable(jvm)]
        if not jvms or not self.site.is_here or re.search(r"\s", str(self.site.folder)):
            return LockWaits()
        with TemporaryDirectory(dir=self.site.folder) as name:
            folder = Path(name)
            options = " ".join(recorder_options(folder, LOCK_SETTINGS))
            recorded = _add_variables(end_by_term(self.plain), {"JAVA_TOOL_OPTIONS": f"{_ANY_JVM} {options}"})
            within = make_time_filter(self._run(recorded, configuration), self._warmup)
            files, newest = [*(folder / "recordings").iterdir()], max(jvms, key=lambda jvm: jvm.release)
            try:
                return read_lock_waits(files, newest, within)
            except (HostError, ProtocolError):
                return LockWaits()

    def _record_command(self, configuration: Configuration, rates: Rates) -> Record:
        command = record_command(self._file, rates, self.has_wakes, site=self.site)
        if rates.n_repeats > 1:
            command += [self.site.python, "-ISc", _REPEAT, str(rates.n_repeats)]
        return self._run(add_prefix(self._named, command), configuration)

    def _record_machine(self, configuration: Configuration, rates: Rates) -> Record:
        command = record_command(self._file, rates, self.has_wakes, is_wide=True)
        with _perf_of_the_machine(command):
            return self._run(self._named, configuration)

    def _name_processes(self, record: Record, configuration: Configuration) -> dict[int, str]:
        started = launches(self.plain, configuration)
        copies = {copy.pid: started[copy.command].name for copy in record.copies if copy.pid is not None}
        return {pid: name for name, pid in self.plain.program.running} | copies

    def _measured_part(self, record: Record, trace: Trace, processes: Mapping[int, str]) -> Trace:
        """Return the tasks of the run, by name of its processes, in its measured window."""
        gate, window = record.run.gate_ns or 0, iteration_window(record, self._warmup)
        if window is None and not self.is_wide:
            return trace
        first, last = window or (0, record.run.wall_ns or 0)
        processes = processes if self.is_wide else {task.pid: "" for task in trace.tasks.values()}
        return trace.cut(processes, gate + round(first), gate + round(last))

    def _run(self, planned: Plan, configuration: Configuration) -> Record:
        chosen = select_configurations(planned, [configuration])
        ((_, record, _),) = run_in_memory(chosen, Runner(chosen, self._host, self._score))
        return record


@contextmanager
def _perf_of_the_machine(command: Sequence[str]) -> Iterator[None]:
    """Run perf, which records from the beginning of the block until its end."""
    (commands, to_perf), (from_perf, answers) = os.pipe(), os.pipe()
    control = ("--delay", "-1", "--control", f"fd:{commands},{answers}")
    with subprocess.Popen(
        [*command, *control], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        pass_fds=(commands, answers),
    ) as perf:  # fmt: skip
        os.close(commands)
        os.close(answers)
        try:
            with suppress(BrokenPipeError):  # it has ended, and leaves no recording
                os.write(to_perf, b"enable\n")
                if select.select([from_perf], [], [], TIMEOUT_S)[0]:
                    os.read(from_perf, 16)
            yield
        finally:
            perf.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                perf.wait(TIMEOUT_S)
            perf.kill()
            os.close(to_perf)
            os.close(from_perf)


def refuse_failed(record: Record) -> Record:
    """Return the record. Raises HostError: its run failed."""
    if record.run.status != "ok":
        reason = "; ".join(filter(None, [record.run.reason, first_stderr_line(record)])) or "no reason given"
        raise HostError("", f"the run has {record.run.status}: {reason}"[:1000], "", "try its command by hand")
    return record


def first_stderr_line(record: Record) -> str:
    """Return the first line that a copy wrote to standard error; empty if none did."""
    lines = [line for copy in record.copies for line in copy.stderr_tail.strip().splitlines()]
    return lines[0][:400] if lines else ""


def make_time_filter(record: Record, warmup: int) -> TimeFilter:
    """Return a filter of times within the counted iterations, else from the gate of the run on.

    Times of the probe count from its gate, a time of the monotonic clock: now tells the offset of the clocks.
    """
    gate_s = ((record.run.gate_ns or 0) + time.time_ns() - time.monotonic_ns()) / 1e9
    start, end = iteration_window(record, warmup) or (0, record.run.wall_ns or 0)
    first, last = gate_s + start / 1e9, gate_s + end / 1e9
    return lambda at: first <= at <= last


# A profile rests on one run of each configuration, disturbed as it is by the recorder.
_ONCE = {
    "runs": 1, "warmup_runs": 0, "max_reruns": 0, "precision": None, "budget_s": None, "budget_runs": None,
    "wait_quiet_s": 0.0, "when_busy": "report",
}  # fmt: skip


def select_configurations(planned: Plan, chosen: Sequence[Configuration]) -> Plan:
    """Run each configuration once, without repeats."""
    study = planned.design.study
    protocol = study.protocol.model_copy(update=_ONCE)
    study = study.model_copy(update={"protocol": protocol, "question": SWEEP})
    return replace(planned, design=replace(planned.design, study=study, configurations=tuple(chosen), repeats={}))


def split_repeats(trace: Trace) -> tuple[Trace, ...]:
    """Return one trace for each process that the first one started, from its start to its end; all, if it has none."""
    launcher = min(trace.tasks.items(), key=lambda item: item[1].born)[0]
    runs = [(tid, task) for tid, task in trace.tasks.items() if task.parent == launcher and task.pid == tid]
    return tuple(trace.cut({tid: ""}, task.born, task.died or trace.end) for tid, task in runs) or (trace,)


def end_by_term(planned: Plan) -> Plan:
    """Return the plan with services that end by SIGTERM, not SIGKILL: a recorder writes as its program ends."""
    processes = tuple(map(_stop_by_term, planned.program.processes))
    return replace(planned, program=replace(planned.program, processes=processes))


def _stop_by_term(process: Process) -> Process:
    service = process.service
    if service is None:
        return process
    signal_name = "TERM" if service.stop_signal == "KILL" else service.stop_signal
    grace_s = max(service.stop_grace_s, _END_S)
    return replace(process, service=replace(service, stop_signal=signal_name, stop_grace_s=grace_s))


def add_prefix(planned: Plan, words: Sequence[str]) -> Plan:
    """Return the plan with words before its command, the last one of several processes."""
    *others, process = planned.program.processes
    argv = (*(word.replace("{", "{{").replace("}", "}}") for word in words), *process.argv)
    processes = (*others, replace(process, argv=argv))
    return replace(planned, program=replace(planned.program, processes=processes))


# What makes a runtime write a map of its compiled code for perf: JDK 17, CPython 3.12, Node.
_ANY_JVM = "-XX:+IgnoreUnrecognizedVMOptions"
_MAPS = {
    "JAVA_TOOL_OPTIONS": f"{_ANY_JVM} -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit",
    "PYTHONPERFSUPPORT": "1", "NODE_OPTIONS": "--perf-basic-prof",
}  # fmt: skip


def _add_variables(planned: Plan, variables: Mapping[str, str]) -> Plan:
    """Return the plan with further words in variables of its environment."""
    study = planned.design.study
    before = environment(study.workload)
    added = {name: f"{before[name]} {text}" if name in before else text for name, text in variables.items()}
    workload = study.workload.model_copy(update={"env": {**study.workload.env, **added}})
    design = replace(planned.design, study=study.model_copy(update={"workload": workload}))
    return replace(planned, design=design)


def _grants_wakes(site: RecordingSite, is_wide: bool) -> bool:
    """Return whether wake-ups may be recorded. Raises HostError: perf may not record at all."""
    refuse_unable(site, is_wide)
    return not _attempt(site, is_wide, wakes=True).returncode


def refuse_unable(site: RecordingSite, is_wide: bool = False) -> None:
    """Check that perf can record, by recording a program that does nothing; the machine meanwhile, if `is_wide`.

    Raises HostError: perf is missing, or may not record here; with the setting that forbids it, or what perf said.
    """
    if not site.has("perf"):
        there = "" if site.is_here else " there"
        raise HostError("perf", f"not on PATH{there}", "the recorder of programs", INSTALL)
    done = _attempt(site, is_wide)
    if not done.returncode:
        return
    level, wanted = site.read(_PARANOID), -1 if is_wide else 1
    if not site.is_root and level.lstrip("-").isdecimal() and int(level) > wanted:
        text = f"no permission, since kernel.perf_event_paranoid is {level}"
        raise HostError("perf record", text, "", f"run as root, or: sysctl kernel.perf_event_paranoid={wanted}")
    message = " ".join(done.stderr.split())[:300] or f"exit code {done.returncode}"
    raise HostError("perf record", message, "a recording", "try it by hand")


def _attempt(site: RecordingSite, is_wide: bool, wakes: bool = False) -> "subprocess.CompletedProcess[str]":
    file = site.folder / "attempt"
    command = record_command(file, Rates(), wakes, is_wide, site)
    try:
        return site.call(*command, *(["--"] if is_wide else []), "true")
    finally:
        site.remove(file)
