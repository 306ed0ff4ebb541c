"""Make runs on another machine over ssh, by a probe that is copied there; nothing need be installed.

Programs are built here and copied with what they need. Settings that a run itself cannot be given (of the machine, say)
are refused: only whoever changed them there could restore them after a crash.
"""

import hashlib
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path

from msgspec.structs import replace as replace_part

from scalograph.control.control import Launch
from scalograph.control.host_facts import read_host_facts
from scalograph.control.jvm import default_values
from scalograph.errors import HostError, StudyError
from scalograph.protocol.facts import HostFacts, ProgramFile
from scalograph.protocol.record import Record
from scalograph.run.hosts.base import Host, Specification, Tell
from scalograph.run.hosts.local.local_host import LocalHost
from scalograph.run.hosts.local.prepare_host import build_planned
from scalograph.run.hosts.local.probe import find_probe, measure
from scalograph.run.hosts.local.probe_process import LostError, NotStartedError, ProbeAnswer, ProbeProcess
from scalograph.run.hosts.remote import ssh_client
from scalograph.run.hosts.remote.ssh_copy import list_files, move_program, needed_paths, resolve_files
from scalograph.run.hosts.remote.ssh_machine import LOCK_S, PROBE, RUN_S, SshMachine
from scalograph.run.interrupts import record_signal
from scalograph.run.launches import Site, fill_launches, input_file, is_named
from scalograph.run.plan import Plan, text_levels
from scalograph.study.model import Study
from scalograph.study.program import Program
from scalograph.system import quiet

# Our folder is gone: that machine was booted.
GONE = 76
# $1 our folder, $2 that of the run, $3 that of the last one, which goes; $4 how long a run before may take to end; then
# folders that the run needs.
START = f"""\
printf 'boot %s\\n' "$(cat /proc/sys/kernel/random/boot_id)" >&2
umask 077
[ -x "$1/{PROBE}" ] || exit {GONE}
[ -z "$3" ] || rm -rf -- "$3"
mkdir -p -- "$2" || exit 74
ours=$1 wait=$4
shift 4
[ $# = 0 ] || mkdir -p -- "$@" || exit 74
exec flock -o -w "$wait" -E 75 "$ours/run" "$ours/{PROBE}"
"""
_OF_PROBE = (0, 1, 2, 3)
_WHY = {
    75: "the run before has not ended there",
    GONE: "our folder there is gone",
    ssh_client.NO_CONNECTION: "no connection",
}
# Below those that Linux gives to outgoing connections.
_PORTS = range(20_000, 32_000)
_BOOT = re.compile(rb"^boot ([0-9a-f-]{36})$", re.MULTILINE)


class SshProcess(ProbeProcess):
    """A probe of one run or step on another machine."""

    START_S = float(ssh_client.CONNECT_S + RUN_S)

    def __init__(
        self, machine: SshMachine, folder: str, last: str = "", fresh: bool = False, folders: Sequence[Path] = ()
    ) -> None:
        """Prepare it, with its folders there (created if missing); `last`, that of an earlier run, is removed."""
        self._machine = machine
        words = ssh_client.script(START, str(machine.folder), folder, last, str(RUN_S), *map(str, folders))
        super().__init__(ssh_client.ssh_argv(machine.name, words), fresh)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Start it, after reconnecting if the connection was lost. Raises NotStartedError."""
        try:
            self._machine.ensure()
        except HostError as error:
            (problem,) = error.problems
            raise NotStartedError(problem.where, problem.found, problem.expected, problem.fix) from None
        with super().running():
            yield

    def exchange(self, line: bytes, limit_s: float) -> ProbeAnswer:
        """Send the line, and return the answer.

        Raises NotStartedError: the probe did not begin: no connection, no room, or the run before has not ended.
        LostError: it began, and the connection did not last; or as of `ProbeProcess`.
        """
        answer = super().exchange(line, limit_s)
        code, stderr = answer.exit_code, ssh_client.last_line(_BOOT.sub(b"", answer.stderr.encode()).decode())
        if code in _OF_PROBE or code < 0:
            return answer
        if code == GONE:  # the next run makes it anew, with a connection that knows
            self._machine.close()
        where, problem = ssh_client.machine_label(self._machine.name), stderr or _WHY.get(code, f"exit code {code}")
        if self.first_line():
            raise LostError(
                where, f"the connection was lost: {problem}", "one until the run has ended", "look at the network"
            )
        raise NotStartedError(where, f"the probe did not start: {problem}", "a run", "look at that machine")

    def boot_id(self) -> str | None:
        """Return the boot in which the run was made; None if that was not reported."""
        match = _BOOT.search(self._stderr)
        return match[1].decode() if match else None


# What a second is long enough for: /proc/stat counts ticks of 10 ms.
LOOK = "cat /proc/stat && sleep 1 && cat /proc/stat"
_LOOK_S = 1.0


def connect(name: str, wait_s: float | None = None) -> Host:
    """Return the machine that ssh knows by a name. Raises as `open_machine` does."""
    return SshHost(open_machine(name, wait_s))


def open_machine(name: str, wait_s: float | None, host: str = "ssh") -> SshMachine:
    """Return the connection to a machine that ssh knows by a name, waiting `wait_s` seconds for another session there.

    Raises StudyError: it is no name that ssh could know; `host` is its kind, for the message. HostError: no native
    probe, no connection, or runs cannot be made there.
    """
    if not ssh_client.is_name(name):
        raise StudyError.one("--host", f'"{host}:{name}"', f"{host}:NAME, a name that ssh knows", "see ~/.ssh/config")
    probe = find_probe()
    if probe.warning:
        raise HostError(ssh_client.machine_label(name), "no native probe", "one that needs no library", probe.warning)
    return SshMachine(name, Path(probe.argv[0]), LOCK_S if wait_s is None else wait_s)


class SshHost(LocalHost):
    """Another machine: each run and each step is a connection and a folder of its own."""

    def __init__(self, machine: SshMachine) -> None:
        super().__init__(find_probe())
        self._machine = machine
        self._folder_there, self._last, self._n_runs = "", "", 0

    def facts(self) -> HostFacts:
        """Return what that machine is, as read when the connection was made."""
        return self._machine.facts

    def sample_load(self) -> quiet.LoadSample:
        """Sample the CPUs there for a second; empty without a connection, and the next run tells why."""
        try:
            answer = ssh_client.call(self._machine.name, ssh_client.script(LOOK))
        except HostError:
            return quiet.LoadSample({})
        texts = answer.split("cpu  ")[1:]  # each begins with the sum of all CPUs
        cpus = [cpu.cpu for cpu in self.facts().cpus]
        return quiet.parse_load(texts[0], texts[1], cpus, _LOOK_S) if len(texts) == 2 else quiet.LoadSample({})

    def tool(self, argv: Sequence[str]) -> Sequence[str]:
        """Return the command that carries out a program there."""
        return ssh_client.ssh_argv(self._machine.name, ("env", "LC_ALL=C.UTF-8", *argv))

    @contextmanager
    def recordings(self) -> Iterator[Path]:
        """Yield our folder there, which goes with the connection."""
        self._machine.ensure()
        yield self._machine.folder

    def close(self) -> None:
        """End the connection: nothing of ours stays there."""
        self._machine.close()

    def _build_program(self, planned: Plan, tell: Tell) -> Plan:
        here = planned.facts.model_copy(update={"jvms": read_host_facts().jvms})
        prepared = build_planned(replace(planned, facts=here), tell)
        program = prepared.program
        if "java" in program.values:
            program = replace(program, values={**program.values, **default_values(planned.facts)})
        input_file(prepared)  # refuses one outside
        there = self._copy_program(program, prepared.design.study, tell)
        facts = planned.facts.model_copy(update={"program": self._external_program(there)})
        return replace(prepared, facts=facts, program=there, source=program)

    def _copy_program(self, program: Program, study: Study, tell: Tell) -> Program:
        program = resolve_files(program)
        needed = needed_paths(program, study.workload.input, text_levels(study))
        # A name of its own for each path, ending as that does: a program may go by it.
        names = {path.root: f"{hashlib.sha256(bytes(path.root)).hexdigest()[:12]}/{path.root.name}" for path in needed}
        listed = list_files(needed, names)
        if any(path.named for path in needed):
            tell(f"copying to {self._machine.name}: {listed.describe(needed)}")
        self._machine.put(listed.files)
        return move_program(program, {root: str(self._machine.folder / name) for root, name in names.items()})

    def _external_program(self, program: Program) -> ProgramFile | None:
        """Return the program of a command as it is there; None for one that was copied."""
        name = program.commands[0][0] if program.commands else ""
        name = name.replace("{python}", "python3")
        if not name or "{" in name or name.startswith(f"{program.here}/"):
            return None
        environment = self.facts().environment
        (located,) = self._machine.find(environment.get("PATH", ""), [name])
        if located is None:
            return None
        home = environment.get("HOME", "")
        inside = home and located.path.startswith(f"{home}/")
        path = f"~/{located.path.removeprefix(home).lstrip('/')}" if inside else located.path
        return ProgramFile(path=path, bytes=located.n_bytes, sha256=located.sha256)

    def _is_there(self, program: str, path: str | None) -> bool:
        return self._machine.find(path or "", [program]) != [None]

    def _has_folder(self, path: str) -> bool:
        answer = ssh_client.call(self._machine.name, ssh_client.script('[ ! -d "$1" ] || echo yes', path))
        return answer == "yes\n"

    def _marks(self) -> Mapping[str, str]:
        """Return none: our process number is another process there, and a step ends with its connection."""
        return {}

    def _try_settings(self, planned: Plan) -> None:
        """Nothing is set there."""

    @contextmanager
    def _folder(self, in_callers: bool) -> Iterator[Path]:
        """Name a folder there, which the first step or run in it creates; the next one removes it."""
        self._n_runs += 1
        self._folder_there = str(self._machine.folder / f"run-{self._n_runs}")
        yield Path(self._folder_there)
        self._last = self._folder_there

    def _process(self, fresh: bool = False) -> SshProcess:
        return SshProcess(self._machine, self._folder_there, self._last, fresh)

    @contextmanager
    def open_site(self, address: str) -> Iterator[tuple[Path, Site]]:
        """Name the working folder of a part of a run there, and its site; the next run removes both."""
        with self._folder(False) as folder:
            yield folder, Site(folder / "state", address, is_here=False)

    def choose_ports(self, launches: Sequence[Launch]) -> list[tuple[int, ...]]:
        """Return ports of each launch that are likely to be free there; the probe refuses one that is not."""
        wanted = [launch.service.ports if launch.service else 0 for launch in launches]
        free = iter(random.sample(_PORTS, sum(ports for ports in wanted if isinstance(ports, int))))
        return [tuple(islice(free, ports)) if isinstance(ports, int) else ports for ports in wanted]

    def make_process(self, folders: Sequence[Path]) -> SshProcess:
        """Return a probe there, not yet started; it creates the folders."""
        return SshProcess(self._machine, self._folder_there, self._last, folders=folders)

    def _run_counted(self, spec: Specification, folder: Path) -> Record:
        return self._run_probe(spec, folder)  # counters of this kernel are none of that one

    def _run_probe(self, spec: Specification, folder: Path) -> Record:
        process = self._process()
        if is_named(spec.launches):
            site = Site(folder / "state", is_here=False)
            sites = dict.fromkeys([launch.host for launch in spec.launches], site)
            process = self.make_process([site.folder(launch) for launch in spec.launches])
            filled = fill_launches(spec.launches, site.state, self.choose_ports(spec.launches), sites)
            spec = replace(spec, launches=filled)
        return replace_part(measure(spec.line(folder), process, record_signal), boot_id=process.boot_id())
