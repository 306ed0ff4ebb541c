"""Another machine, which ssh reaches: runs are made there by a probe that was copied, and nothing need be installed.

Programs are built here and copied with what they need. What a run itself cannot be given, settings of the machine say,
is refused: only whoever changed it there could restore it after a crash.
"""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from msgspec.structs import replace as replace_part

from scalograph.control import quiet
from scalograph.control.discover import discover
from scalograph.control.jvm import default_values
from scalograph.errors import HostError, StudyError
from scalograph.protocol.facts import HostFacts, ProgramFile
from scalograph.protocol.record import Record
from scalograph.run.hosts.base import Host, Specification, Tell
from scalograph.run.hosts.local import LocalHost
from scalograph.run.hosts.probe import find_probe, measure
from scalograph.run.hosts.ready import build_planned
from scalograph.run.hosts.ssh_client import call, called, is_name, script
from scalograph.run.hosts.ssh_copy import listed
from scalograph.run.hosts.ssh_machine import LOCK_S, SshMachine
from scalograph.run.hosts.ssh_process import SshProcess
from scalograph.run.hosts.ssh_program import moved, needed_there
from scalograph.run.interrupts import note
from scalograph.run.launches import input_file
from scalograph.run.plan import Plan
from scalograph.study.program import Program

# What a second is long enough for: /proc/stat counts ticks of 10 ms.
LOOK = "cat /proc/stat && sleep 1 && cat /proc/stat"
_LOOK_S = 1.0


def connect(name: str, wait_s: float | None = None) -> Host:
    """Return the machine that ssh knows by a name. Raises as `machine_of` does."""
    return SshHost(machine_of(name, wait_s))


def machine_of(name: str, wait_s: float | None, host: str = "ssh") -> SshMachine:
    """Return the connection to a machine.

    Args:
        name: as ssh knows it.
        wait_s: how long to wait for another start there to end; None is the default.
        host: what runs are made by, for a message.

    Raises:
        StudyError: it is no name that ssh could know.
        HostError: no native probe, no connection, or runs cannot be made there.
    """
    if not is_name(name):
        raise StudyError.one("--host", f'"{host}:{name}"', f"{host}:NAME, a name that ssh knows", "see ~/.ssh/config")
    probe = find_probe()
    if probe.warning:
        raise HostError(called(name), "no native probe", "one that needs no library", probe.warning)
    return SshMachine(name, Path(probe.argv[0]), LOCK_S if wait_s is None else wait_s)


class SshHost(LocalHost):
    """Another machine: each run and each step is a connection of its own, in a folder of its own."""

    def __init__(self, machine: SshMachine) -> None:
        super().__init__(find_probe())
        self._machine = machine
        self._folder_there, self._last, self._n_runs = "", "", 0

    def facts(self) -> HostFacts:
        """Return what that machine is, as it was when the connection was made."""
        return self._machine.facts

    def look(self) -> quiet.Look:
        """Look at the CPUs there for a second; without a connection nothing is seen, and the next run tells why."""
        try:
            answer = call(self._machine.name, script(LOOK))
        except HostError:
            return quiet.Look({})
        texts = answer.split("cpu  ")[1:]  # each begins with the sum of all CPUs
        cpus = [one.cpu for one in self.facts().cpus]
        return quiet.between(texts[0], texts[1], cpus, _LOOK_S) if len(texts) == 2 else quiet.Look({})

    def close(self) -> None:
        """End the connection: nothing of ours stays there."""
        self._machine.close()

    def _built(self, planned: Plan, tell: Tell) -> Plan:
        here = planned.facts.model_copy(update={"jvms": discover().jvms})
        made = build_planned(replace(planned, facts=here), tell)
        program = made.program
        if "java" in program.values:
            program = replace(program, values={**program.values, **default_values(planned.facts)})
        input_file(made)  # refuses one outside
        there = self._copied(program, made.design.study.workload.input, tell)
        facts = planned.facts.model_copy(update={"program": self._outside(there)})
        return replace(made, facts=facts, program=there, source=program)

    def _copied(self, program: Program, reads: str | None, tell: Tell) -> Program:
        needed = needed_there(program, reads)
        names = {one.root: _name_there(one.root) for one in needed}
        found = listed(needed, names)
        if any(one.named for one in needed):
            tell(f"copying to {self._machine.name}: {found.told(needed)}")
        self._machine.put(found.files)
        return moved(program, {root: str(self._machine.folder / name) for root, name in names.items()})

    def _outside(self, program: Program) -> ProgramFile | None:
        """The program of a command as it is there; None of one that was copied."""
        name = program.commands[0][0] if program.commands else ""
        name = name.replace("{python}", "python3")
        if not name or "{" in name or name.startswith(f"{program.here}/"):
            return None
        environment = self.facts().environment
        (found,) = self._machine.find(environment.get("PATH", ""), [name])
        if found is None:
            return None
        home = environment.get("HOME", "")
        inside = home and found.path.startswith(f"{home}/")
        path = f"~/{found.path.removeprefix(home).lstrip('/')}" if inside else found.path
        return ProgramFile(path=path, bytes=found.n_bytes, sha256=found.sha256)

    def _is_there(self, program: str, path: str | None) -> bool:
        return self._machine.find(path or "", [program]) != [None]

    def _marks(self) -> Mapping[str, str]:
        """None: our process number is another process there, and what a step leaves ends with its connection."""
        return {}

    def _try_settings(self, planned: Plan) -> None:
        """Nothing is set there."""

    @contextmanager
    def _folder(self, in_callers: bool) -> Iterator[Path]:
        """A folder there, which the first step or run in it makes; the next one removes it."""
        self._n_runs += 1
        self._folder_there = str(self._machine.folder / f"run-{self._n_runs}")
        yield Path(self._folder_there)
        self._last = self._folder_there

    def _process(self, fresh: bool = False) -> SshProcess:
        return SshProcess(self._machine, self._folder_there, self._last, fresh)

    def _counted(self, spec: Specification, folder: Path) -> Record:
        return self._measured(spec, folder)  # counters of this kernel are none of that one

    def _measured(self, spec: Specification, folder: Path) -> Record:
        process = self._process()
        return replace_part(measure(spec.line(folder), process, note), boot_id=process.boot_id())


def _name_there(path: Path) -> str:
    """A name of its own for each path, which keeps that of the file or folder: a program may go by it."""
    return f"{hashlib.sha256(bytes(path)).hexdigest()[:12]}/{path.name}"
