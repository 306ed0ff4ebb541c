"""Make runs in guests of this machine: QEMU boots a kernel for each, over this machine's files, with the probe within.

Times of emulated CPUs are those of no machine: runs show what happens, not how fast.

A guest is no protection: its run is root there, and could mount the files of this machine anew to write to them. Only
a virtiofsd that offers `--readonly` refuses that.
"""

import os
import platform
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from msgspec.structs import replace as replace_part

from scalograph.control import capacity, isolation, memory, tasks
from scalograph.control.apply import apply
from scalograph.control.control import HeldSetting, Launch, Level
from scalograph.control.ext_scheduler import OPERATIONS, STATE, scheduler_name
from scalograph.control.host_facts import read_host_facts
from scalograph.control.kernel_files import KERNEL, KernelPlace, OnlineCpus
from scalograph.control.machine_control import MachineControl, machine_controls
from scalograph.errors import HostError
from scalograph.protocol.bounded import read_below
from scalograph.protocol.facts import CpuFact, HostFacts
from scalograph.protocol.record import Record
from scalograph.protocol.record_processes import MAX_TEXT
from scalograph.run.hosts.base import Host, Specification, Tell
from scalograph.run.hosts.guests.guest_process import GuestMachine, GuestProcess, GuestPrograms
from scalograph.run.hosts.guests.kernel_packages import fetch_kernel, offered_kernels
from scalograph.run.hosts.local.local_host import LocalHost
from scalograph.run.hosts.local.probe import find_probe, measure
from scalograph.run.hosts.local.probe_process import LostError
from scalograph.run.interrupts import record_signal
from scalograph.run.plan import Plan
from scalograph.study.control_names import NO_RESET
from scalograph.study.levels import Configuration
from scalograph.study.model import Study
from scalograph.system.platform_facts import counter_changes, read_counters
from scalograph.system.private_dir import scratch
from scalograph.system.topology import parse_cpu_list

# Read beside the settings: what there is to be read of CPUs, and what was counted.
_BESIDE = ("sys/devices/system/cpu/present", "proc/vmstat")


@dataclass(frozen=True)
class GuestSetting:
    """A machine setting with its value in a guest; `held` gets what was read of it."""

    control: MachineControl
    held: HeldSetting
    when: tuple[str, ...] = ("before", "in_force", "at_end")

    def place(self, root: Path) -> KernelPlace:
        """Return where it lies below a root."""
        return KERNEL[self.control.setting].place(root, self.control.name)

    def writes(self, n_cpus: int) -> Iterator[str]:
        """Yield lines: a file relative to the root, and what is written, in order."""
        target = self.place(Path())
        if isinstance(target, OnlineCpus):  # all of them are online when a guest has booted
            stay = parse_cpu_list(self.held.asked)
            yield from (f"{target.file(cpu)} 0" for cpu in reversed(range(n_cpus)) if cpu not in stay)
        else:
            yield f"{target.path} {self.held.asked}"

    def value(self, root: Path) -> str:
        """Return its value in a tree. Raises OSError or ValueError if it has none."""
        return self.place(root).value()


@dataclass(frozen=True)
class GuestScheduler(GuestSetting):
    """A sched_ext scheduler, or the kernel's own: a guest starts its program, and ends it after the run."""

    when: tuple[str, ...] = ("before", "in_force", "at_end", "after")
    program: str = ""

    def writes(self, n_cpus: int) -> Iterator[str]:
        """Yield the files that tell which one is at work: nothing is written."""
        yield from (STATE, OPERATIONS)

    def value(self, root: Path) -> str:
        """Return the one that is at work; a file that the kernel does not have is empty in the tree."""
        return scheduler_name(*(read_below(root, name, MAX_TEXT).strip() for name in (STATE, OPERATIONS)))


def guest_settings(study: Study, configuration: Configuration, facts: HostFacts) -> list[GuestSetting]:
    """Return the settings of a configuration, except those that it leaves as they are."""
    levels = {name: (control, configuration[name]) for name, control in machine_controls(study).items()}
    return [_make_setting(control, level, facts) for control, level in levels.values() if level is not False]


def _make_setting(control: MachineControl, level: Level, facts: HostFacts) -> GuestSetting:
    held = HeldSetting(control.label, before="", asked=control.text(level, facts))
    program = control.program(level, facts)
    return GuestSetting(control, held) if program is None else GuestScheduler(control, held, program=program)


def settings_lines(settings: Sequence[GuestSetting], n_cpus: int) -> str:
    """Return the settings file of a guest: in each line a file, and what it writes there, if anything."""
    written = [line for setting in settings for line in setting.writes(n_cpus)]
    return "".join(f"{line}\n" for line in [*_BESIDE, *written])


def scheduler_of(settings: Sequence[GuestSetting]) -> str:
    """Return the path of the sched_ext program that a guest starts; empty for none."""
    return next((setting.program for setting in settings if isinstance(setting, GuestScheduler)), "")


def read_back(settings: Sequence[GuestSetting], trees: Path) -> None:
    """Store what a guest read of its settings; what it could not read stays empty."""
    for setting in settings:
        for when in setting.when:
            setattr(setting.held, when, _read_value(setting, trees / when))


def _read_value(setting: GuestSetting, tree: Path) -> str:
    try:
        return setting.value(tree)[:MAX_TEXT]
    except (OSError, ValueError):
        return ""


DEFAULT_KERNEL = "cloud"
INSTALL = "apt-get install qemu-system-x86 busybox-static"
# Half of the machine's memory, at most this: more was not needed, and files that a run writes take of it.
_MOST_MEMORY = 4 << 30
_OUTSIDE = "it is set on the machine, not in a guest"
# Conditions that hold in each guest: no swap, and no two CPUs of one core.
_MET = {"swap": "off", "smt": "off"}
# What a copy may take to be ready, but where CPUs are emulated.
_READY_S = 60.0
_VIRTIOFSD = ("/usr/libexec/virtiofsd", "/usr/lib/qemu/virtiofsd")
_KVM = Path("/dev/kvm")
# What a guest may take to prove it.
_PROOF_S = 15.0


def connect() -> Host:
    """Return the guests of this machine. Raises HostError if a program is missing, with what installs it."""
    return GuestHost(find_programs())


def find_programs() -> GuestPrograms:
    """Return the programs that guests need. Raises HostError for the first that is missing."""
    if platform.machine() != "x86_64":
        raise HostError("--host guest", f"a machine of {platform.machine()}", "x86_64", "use another machine")
    sharing = next((path for path in _VIRTIOFSD if os.access(path, os.X_OK)), shutil.which("virtiofsd"))
    programs = {"qemu-system-x86_64": shutil.which("qemu-system-x86_64"), "virtiofsd": sharing}
    programs |= {name: shutil.which(name) for name in ("busybox", "setpriv", "dpkg-deb")}
    for name, path in programs.items():
        if path is None:
            install = f"{INSTALL} virtiofsd" if name == "virtiofsd" else INSTALL
            raise HostError("--host guest", f"no {name}", "the programs that guests need", f"install them: {install}")
    return GuestPrograms(str(programs["qemu-system-x86_64"]), str(sharing), str(programs["busybox"]))


class GuestHost(LocalHost):
    """Guests of this machine, one for each run. Programs, builds, steps and files are this machine's."""

    def __init__(self, programs: GuestPrograms) -> None:
        super().__init__(find_probe())
        self._programs, self._kernels = programs, dict[str, Path]()
        self._settings = list[GuestSetting]()
        self._guest_facts = guest_facts(read_host_facts()).model_copy(update={"offered_kernels": offered_kernels()})

    def facts(self) -> HostFacts:
        """Return what guests are; the kind of their CPUs is known when one was booted (`ready`)."""
        return self._guest_facts

    def ready(self, planned: Plan, tell: Tell) -> Plan:
        """Fetch the kernels that levels name, try hardware virtualization by booting one, then as on a machine.

        Raises HostError: the probe is not the native one, services run already, a folder has a name that a guest cannot
        be told, or a kernel cannot be fetched.
        """
        if self.probe.warning:
            raise HostError("--host guest", "no native probe", "one that needs no library", self.probe.warning)
        if planned.program.running:
            raise HostError("workload.process", "a service that runs already", "one that the run starts", _OUTSIDE)
        use = planned.design.study.workload
        with self._working_folder(use.cwd == "caller", use.given_folder) as folder, scratch("guest") as boot:
            _refuse_unprintable(folder, boot, self._probe_path)
        if use.keep != "run":
            raise HostError("workload.keep", "services that outlive a run", "run: each run has a guest", "leave it out")
        # Of the levels alone: what the program's arguments are is known when it has been built.
        study, configurations = planned.design.study, planned.design.configurations
        named = {apply(study, configuration, Launch(), planned.facts).kernel for configuration in configurations}
        fetched = {level: fetch_kernel(level, tell) for level in sorted(name or DEFAULT_KERNEL for name in named)}
        self._kernels = {level: folder for level, (_, folder) in fetched.items()}
        accelerator = "kvm" if self._is_proved(next(iter(self._kernels))) else "tcg"
        if accelerator == "tcg":
            tell("the CPUs of guests are emulated here: functional, not timing; times are excluded")
        resolved = {"kernels": tuple(package for package, _ in fetched.values()), "accelerator": accelerator}
        self._guest_facts = self._guest_facts.model_copy(update=resolved)
        ready = super().ready(replace(planned, facts=planned.facts.model_copy(update=resolved)), tell)
        _refuse_unprintable(*map(Path, (ready.facts.schedulers or {}).values()))
        return ready

    def _try_settings(self, planned: Plan) -> None:
        """Refuse conditions of this machine; a refused setting shows in its run."""
        for name, wanted in planned.design.study.conditions.items():
            if _MET.get(name) != wanted:
                raise HostError(f"conditions.{name}", str(wanted), "for guests swap or smt off", _OUTSIDE)

    @contextmanager
    def apply_settings(self, planned: Plan, configuration: Configuration) -> Iterator[list[HeldSetting]]:
        """Hand settings on to the next guest, which applies them and ends with its run."""
        self._settings = guest_settings(planned.design.study, configuration, planned.facts)
        yield [setting.held for setting in self._settings]

    def measure(self, spec: Specification) -> Record:
        """Carry out one run, as `LocalHost` does; a guest that has just booted needs no reset."""
        return super().measure(replace(spec, reset=NO_RESET))

    def _run_counted(self, spec: Specification, folder: Path) -> Record:
        return self._run_services(spec, folder)  # what counts is the kernel of the guest

    def _run_probe(self, spec: Specification, folder: Path) -> Record:
        launch = spec.launches[0]
        machine = self._machine(launch.kernel or DEFAULT_KERNEL, folder, launch.boot_options)
        settings, program = settings_lines(self._settings, machine.n_cpus), scheduler_of(self._settings)
        machine = replace(machine, settings=settings, scheduler=program)
        with scratch("guest") as boot:
            process = GuestProcess(self._programs, machine, boot)
            record = measure(self._line(spec, folder), process, record_signal)
            read_back(self._settings, boot)
            if spec.counted:
                record = record.replace_counters(
                    counter_changes(*(read_counters(boot / when) for when in ("in_force", "at_end")))
                )
            return replace_part(record, guest=process.guest())

    def _line(self, spec: Specification, folder: Path) -> Mapping[str, Any]:
        """Return what the probe reads; on emulated CPUs copies may take as long to be ready as for their work."""
        line = spec.line(folder)
        if not spec.events or self.facts().accelerator == "kvm":
            return line
        return {**line, "ready_timeout_ns": round(max(_READY_S, spec.timeout_s) * 1e9)}

    @property
    def _probe_path(self) -> Path:
        return Path(self.probe.argv[0]).absolute()

    def _machine(self, level: str, folder: Path, options: str = "") -> GuestMachine:
        facts = self.facts()
        assert facts.memory_bytes is not None and facts.accelerator is not None
        return GuestMachine(
            kernel=self._kernels[level], options=options, accelerator=facts.accelerator, n_cpus=facts.n_cpus,
            memory_bytes=facts.memory_bytes, folder=folder, probe=str(self._probe_path),
        )  # fmt: skip

    def _is_proved(self, level: str) -> bool:
        """Tell whether hardware virtualization works: a device that can be opened may still start nothing."""
        if not os.access(_KVM, os.R_OK | os.W_OK) or not has_virtualization():
            return False
        with scratch("guest") as boot, scratch("run") as folder:
            machine = replace(self._machine(level, folder), accelerator="kvm", probe="/bin/true")
            process = GuestProcess(self._programs, machine, boot, _PROOF_S)
            try:
                with process.running():
                    return process.exchange(b"", _PROOF_S).exit_code == 0
            except LostError:
                return False


def _refuse_unprintable(*paths: Path) -> None:
    for path in map(str, paths):
        if not path.isprintable():
            expected = "a path of printable characters"
            raise HostError("--host guest", ascii(path), expected, "use a folder of another name")


def guest_facts(machine: HostFacts) -> HostFacts:
    """Return what a guest is: the CPUs of the machine, each a core of its own, and half of its memory."""
    cpus = tuple(CpuFact(cpu=n, core=n) for n in range(machine.n_cpus))
    outside = dict.fromkeys((isolation.ISOLATION, capacity.QUOTA, tasks.TASKS, memory.MEMORY), _OUTSIDE)
    same = ("distribution", "compiler", "architecture", "cpu_model", "jvms", "schedulers")
    kept = {name: getattr(machine, name) for name in same}
    half = min(_MOST_MEMORY, (machine.memory_bytes or _MOST_MEMORY) // 2)
    return HostFacts(cpus=cpus, memory_bytes=half, hypervisor="QEMU", refused=outside, accelerator="tcg", **kept)


def has_virtualization(root: Path = Path("/")) -> bool:
    """Tell whether the CPU offers hardware virtualization, as /proc/cpuinfo has it.

    Without it a /dev/kvm that could be opened was seen to start a guest that did nothing until its time was over.
    """
    flags = next((line for line in (root / "proc/cpuinfo").read_text().splitlines() if line.startswith("flags")), "")
    return not {"vmx", "svm"}.isdisjoint(flags.split())
