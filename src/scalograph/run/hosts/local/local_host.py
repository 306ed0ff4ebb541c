"""Make runs on this machine: its own /proc and /sys, its compilers, and a probe for each run."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from scalograph.control import apply, held_settings
from scalograph.control.control import HeldSetting, Launch
from scalograph.control.host_facts import read_host_facts
from scalograph.control.kernel_files import refuse_fixed_layout, refuse_unmet
from scalograph.control.memory import add_memory_use
from scalograph.control.process_cpus import apply_limits
from scalograph.errors import HostError
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.measured_cpus import read_classes
from scalograph.protocol.record import Record
from scalograph.protocol.record_processes import ServicesEnded
from scalograph.run.hosts.base import Host, ProbeProgram, Specification, Tell
from scalograph.run.hosts.local.prepare_host import build_planned
from scalograph.run.hosts.local.probe import PROGRAM, CpuGoneError, find_probe, interrupted_record, lost_record, measure
from scalograph.run.hosts.local.probe_process import NotStartedError, ProbeProcess, hold_wakeup_records
from scalograph.run.hosts.services.held_services import HeldServices
from scalograph.run.interrupts import Interrupts, make_interrupt, pending_signal, record_signal
from scalograph.run.launches import (
    Site,
    fail_if_disk_full,
    fill_launches,
    find_programs,
    find_step_programs,
    free_ports,
    has_services,
    is_named,
    is_on_path,
)  # fmt: skip
from scalograph.run.plan import Plan, locate_schedulers
from scalograph.study.levels import Configuration
from scalograph.study.processes import fill
from scalograph.system import quiet
from scalograph.system.platform_facts import counter_changes, read_counters
from scalograph.system.private_dir import scratch
from scalograph.system.stale_processes import owner_variables
from scalograph.text.escape import shorten
from scalograph.verdict.partners import PauseLog

# Characters of a step that a message shows.
MAX_SHOWN = 100
# The longest that a study may declare: `setup` has no limit of its own.
_NO_LIMIT_S = 30 * 365.25 * 86400
_TAIL = 200


class StudySteps:
    """The steps of a study, as templates by name.

    The probe carries them out: processes of a step are contained like those of a run. `n_ended` counts the processes
    that the last step left running, which were ended.
    """

    def __init__(
        self, templates: Mapping[str, Sequence[str]], timeout_s: float, probe: Callable[[bool], ProbeProcess],
        is_there: Callable[[str, str | None], bool] = is_on_path,
        marks: Callable[[], Mapping[str, str]] = owner_variables,
    ) -> None:  # fmt: skip
        """Prepare steps, each limited to `timeout_s` around a run.

        `probe` makes the process of one (a fresh one ignores earlier signals), `is_there` looks for a program in a
        PATH, and by `marks` a later session on that machine finds what a dead one left.
        """
        self._templates, self._timeout_s, self._probe, self._is_there = templates, timeout_s, probe, is_there
        self._marks = marks
        self.n_ended = 0

    def begin(
        self, launch: Launch, folder: Callable[[], AbstractContextManager[Path]], tell: Callable[[str], object] = str
    ) -> None:
        """Look for the program of each step, and carry out `setup`: it knows no level and has no time limit.

        Raises HostError: a program is missing, or `setup` failed; KeyboardInterrupt: a signal came meanwhile.
        """
        find_step_programs(self._templates, launch, self._is_there)
        if "setup" not in self._templates:
            return
        tell(f"setup: {shorten(shlex.join(self._argv('setup', launch)), MAX_SHOWN)}")
        with folder() as working:
            wrong = self._run_step("setup", launch, working, _NO_LIMIT_S)
        if wrong:
            raise HostError("workload.setup", wrong, "exit code 0", "correct workload.setup")
        if self.n_ended:
            tell(f"workload.setup: processes that it left running were ended: {self.n_ended}")

    def carry_out(self, step: str, launch: Launch, folder: Path) -> str | None:
        """Carry out `prepare` or `cleanup` of one run within its time; return why it failed, None if it did not.

        Raises NotStartedError: there was no probe; KeyboardInterrupt: a signal came meanwhile that is not held back.
        """
        if step not in self._templates:
            return None
        wrong = self._run_step(step, launch, folder, self._timeout_s)
        return f"{step} failed: {wrong}" if wrong else None

    def _argv(self, step: str, launch: Launch) -> list[str]:
        return fill(self._templates[step], launch.values)

    def _run_step(self, step: str, launch: Launch, folder: Path, limit_s: float) -> str | None:
        argv, heard = self._argv(step, launch), list[int]()

        def hear(number: int) -> None:
            heard.append(number)
            record_signal(number)

        line = step_line(step, argv, folder, {**launch.env, **self._marks()}, limit_s)
        try:
            record = measure(line, self._probe(pending_signal() is not None), hear)
        except NotStartedError:
            raise
        except HostError as error:  # it was there when the study began
            return f"did not start: {error.problems[0].found}"
        except KeyboardInterrupt:
            raise make_interrupt(heard[0] if heard else None) from None
        if heard and pending_signal() is None:
            raise make_interrupt(heard[0])
        self.n_ended = record.run.n_survivors or 0
        return describe_step_failure(argv[0], record, limit_s)


def step_line(step: str, argv: Sequence[str], folder: Path, env: Mapping[str, str], limit_s: float) -> dict[str, Any]:
    """Return what the probe of a step reads: nothing is measured, and sudo, say, may become another user."""
    command = {"argv": list(argv), "cwd": str(folder), "env": dict(env)}
    plain = {"backend": "plain", "namespace": False, "timeout_ns": round(limit_s * 1e9)}
    return {"protocol": 1, "run": step, "commands": [command], **plain}


def describe_step_failure(name: str, record: Record, limit_s: float) -> str | None:
    """Return why a step failed, by the record of its probe; None if it did not."""
    run, copy = record.run, record.copies[0] if record.copies else None
    if run.status == "ok":
        return None
    if run.status == "timeout":
        return f"{name} took more than {limit_s:g} s and was killed"
    if copy is not None and run.status == "signal":
        how = f"ended by signal {copy.signal}"
    elif copy is not None and run.status == "failed" and copy.exit_code:
        how = f"exit code {copy.exit_code}"
    else:
        return f"{name}: {run.reason}"
    output = ascii(copy.stderr_tail.strip()[-_TAIL:])
    return f"{name}: {how}" + (f"; it said {output}" if output != "''" else "")


# A host short of processes or memory for a moment recovers; a probe that is gone does not.
MAX_NOT_STARTED = 3


def connect() -> Host:
    """Return this machine. Raises HostError if SCALOGRAPH_PROBE names no program."""
    return LocalHost(find_probe())


class LocalHost:
    """This machine: each run in a scratch folder of its own, or all in the caller's."""

    def __init__(self, probe: ProbeProgram) -> None:
        self.probe = probe
        self._services = HeldServices(self._process, self._working_folder)
        self._n_not_started = 0
        self._pauses = PauseLog()

    @cached_property
    def _facts(self) -> HostFacts:
        facts, classes = read_host_facts(), read_classes()
        return facts if classes is None else classes.add_to(facts)

    def facts(self) -> HostFacts:
        """Return what this machine is, grants and has; a JVM not asked before is started for its build."""
        return self._facts

    def ready(self, planned: Plan, tell: Tell) -> Plan:
        """Compile and prepare the program, check all that the study starts and sets, and carry out its `setup`.

        Raises HostError: no compiler, no JVM, sources that do not compile, a program is missing, a condition is not
        met, a setting of the machine is refused, or a step failed.
        """
        planned = self._build_program(planned, tell)
        launch = find_programs(planned, self._is_there)
        for service, pid in planned.program.running:
            if not Path(f"/proc/{pid}").is_dir():
                raise HostError(f"workload.process {service}", f"no process {pid}", "one that runs", "start it before")
        study = planned.design.study
        self._try_settings(planned)
        steps = self._steps(planned.program.steps, study.protocol.timeout_s)
        use = study.workload
        if use.given_folder is not None and not self._has_folder(use.given_folder):
            problem = f'no folder "{use.given_folder}" on the machine of the runs'
            raise HostError("workload.cwd", problem, "", "correct workload.cwd, or make that folder")
        steps.begin(launch, lambda: self._working_folder(use.cwd == "caller", use.given_folder), tell)
        return planned

    def _build_program(self, planned: Plan, tell: Tell) -> Plan:
        return locate_schedulers(build_planned(planned, tell))

    def _is_there(self, program: str, path: str | None) -> bool:
        return is_on_path(program, path)

    def _marks(self) -> Mapping[str, str]:
        return owner_variables()

    def _has_folder(self, path: str) -> bool:
        return Path(path).is_dir()

    @contextmanager
    def _working_folder(self, in_callers: bool, given: str | None) -> Iterator[Path]:
        """Enter the folder of a run or step: a given one, the caller's, or a fresh one."""
        with self._folder(in_callers) as folder:
            yield Path(given or folder)

    def _folder(self, in_callers: bool) -> AbstractContextManager[Path]:
        return nullcontext(_callers_folder()) if in_callers else scratch("run")

    def _process(self, fresh: bool = False) -> ProbeProcess:
        return ProbeProcess(self.probe.argv, fresh)

    def _steps(self, templates: Mapping[str, Sequence[str]], timeout_s: float) -> StudySteps:
        return StudySteps(templates, timeout_s, self._process, self._is_there, self._marks)

    def _try_settings(self, planned: Plan) -> None:
        study = planned.design.study
        refuse_unmet(study.conditions)
        if "layout" in study.protocol.vary:
            refuse_fixed_layout()
        held_settings.check_reset(study.reset)
        _try_each(apply.attempts(study, planned.facts))

    @contextmanager
    def apply_settings(self, planned: Plan, configuration: Configuration) -> Iterator[list[HeldSetting]]:
        """Apply the levels to this machine if its conditions are met; restore them at the end."""
        study = planned.design.study
        refuse_unmet(study.conditions)
        with ExitStack() as held:
            contexts = apply.hold(study, configuration, planned.facts)
            yield [setting for context in contexts if (setting := held.enter_context(context)) is not None]

    def sample_load(self) -> quiet.LoadSample:
        """Sample the CPUs that this process may use."""
        return quiet.sample_load()

    def measure(self, spec: Specification) -> Record:
        """Carry out one run between its steps, which are outside its window; it has failed if a step failed.

        Raises HostError: the host refuses, or the probe did not start for `MAX_NOT_STARTED` runs on end.
        """
        if pending_signal() is not None:
            return interrupted_record()
        steps = self._steps(spec.steps, spec.timeout_s)
        with self._working_folder(spec.in_callers_folder, spec.given_folder) as folder:
            try:
                record = self._run_prepared(spec, steps, folder)
            finally:  # what `prepare` made stays after no run, however that ended
                try:
                    wrong = steps.carry_out("cleanup", spec.launches[0], folder)
                except NotStartedError as error:
                    wrong = str(error)
            return record if wrong is None or record.run.status != "ok" else record.mark_failed(wrong)

    def _run_prepared(self, spec: Specification, steps: StudySteps, folder: Path) -> Record:
        try:
            wrong = steps.carry_out("prepare", spec.launches[0], folder)
            if pending_signal() is not None:  # a signal that came during `prepare`
                return interrupted_record()
            if not wrong:
                held_settings.perform_reset(spec.reset)
            record = lost_record(wrong) if wrong else self._run_counted(spec, folder)
        except NotStartedError as error:
            self._n_not_started += 1
            if self._n_not_started == MAX_NOT_STARTED:
                raise
            return lost_record(str(error))
        except CpuGoneError as error:
            return lost_record(str(error))  # others may still be there
        self._n_not_started = 0
        if record.run.status != "failed" or steps.n_ended == 0:
            return record
        # The likely reason: a server that `prepare` left in the background was ended.
        reason = f"processes that prepare left running had been ended: {steps.n_ended}"
        return record.mark_failed(f"{record.run.reason}; {reason}" if record.run.reason else reason)

    def _run_counted(self, spec: Specification, folder: Path) -> Record:
        before = read_counters() if spec.counted else None
        record = self._run_services(spec, folder)
        return record.replace_counters(counter_changes(before, read_counters())) if spec.counted else record

    def _run_services(self, spec: Specification, folder: Path) -> Record:
        if spec.keeps_services and has_services(spec.launches):
            return self._services.measure(spec, folder)
        with apply_limits(spec.launches) as launches:
            record = self._run_limited(replace(spec, launches=launches), folder)
            return add_memory_use(record, launches)

    def _run_limited(self, spec: Specification, folder: Path) -> Record:
        if not is_named(spec.launches):
            return self._run_probe(spec, folder)
        with scratch("state") as state:
            filled = replace(spec, launches=fill_launches(spec.launches, state))
            return fail_if_disk_full(self._run_probe(filled, folder), state)

    def _run_probe(self, spec: Specification, folder: Path) -> Record:
        process = self._process()
        process.echo = spec.echo
        record = measure(spec.line(folder), process, record_signal)
        if record.run.wait_scope == "preemption and wakeup" and self.probe.name == PROGRAM:
            hold_wakeup_records(self.probe.argv[0])
        return self._pauses.annotate(record)

    def collect_service_ends(self, is_last: bool) -> list[ServicesEnded]:
        """Return how kept services ended; after the last run those that are up are ended first."""
        if is_last:
            self._services.close()
        return self._services.collect_service_ends()

    @contextmanager
    def open_site(self, address: str) -> Iterator[tuple[Path, Site]]:
        """Yield the working folder of a part of a run, and its site at an address; both go at the end."""
        with self._folder(False) as folder, scratch("state") as state:
            yield folder, Site(state, address)

    def choose_ports(self, launches: Sequence[Launch]) -> list[tuple[int, ...]]:
        """Return ports of each launch that nobody uses here. Raises HostError."""
        return free_ports(launches)

    def make_process(self, folders: Sequence[Path]) -> ProbeProcess:
        """Return a probe, not yet started; `folders` are there when it runs."""
        return self._process()

    def keep_in(self, folder: Path) -> None:
        """Keep nothing beside the results."""

    def tool(self, argv: Sequence[str]) -> Sequence[str]:
        """Return the command that carries out a program where the runs are: itself."""
        return argv

    def recordings(self) -> AbstractContextManager[Path]:
        """Yield a folder for recordings of the runs."""
        return scratch("recording")

    def close(self) -> None:
        """End services that outlive their run."""
        self._services.close()


def _try_each(attempts: Iterable[Callable[[], None]]) -> None:
    """Make attempts, each restored before a signal ends us. Raises KeyboardInterrupt for it."""
    with Interrupts() as signals:
        for attempt in attempts:
            attempt()
            if signals.number is not None:
                break
    if signals.number is not None:
        raise make_interrupt(signals.number)


def _callers_folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        fix = "start again from a folder that stays"
        raise HostError("the folder of this start", "was removed", "a folder to run in", fix) from None
