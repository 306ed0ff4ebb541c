"""Make runs whose processes are on several machines: this one, and others over ssh.

The machine of the study, whose settings and CPUs the levels are of, is that of the last service that is started.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from scalograph.control.control import HeldSetting, Launch
from scalograph.control.process_cpus import apply_limits
from scalograph.errors import HostError, StudyError
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.record import Record
from scalograph.protocol.record_processes import ServicesEnded
from scalograph.run.hosts.base import Host, Specification, Tell
from scalograph.run.hosts.host_names import LOCAL, connect, is_elsewhere, open_host
from scalograph.run.hosts.local.local_host import LocalHost
from scalograph.run.hosts.local.probe import interrupted_record
from scalograph.run.hosts.machines.merged_record import merge
from scalograph.run.hosts.machines.shared_gate import MachineRun, conduct
from scalograph.run.hosts.remote.ssh_client import call, script
from scalograph.run.interrupts import pending_signal
from scalograph.run.launches import Site, fill_launches
from scalograph.run.plan import Plan
from scalograph.study.levels import Configuration
from scalograph.study.model import Study
from scalograph.study.processes import LOOPBACK, SERVICE
from scalograph.study.program import Process, sort_processes
from scalograph.system.quiet import LoadSample

# The address of the client, and that of the server as the client reaches it.
_ADDRESSES = 'echo "$SSH_CONNECTION"'


def place_processes(study: Study, host: str) -> dict[str, tuple[str, ...]]:
    """Return the machines of each process of a study, in order of start; `host` is that of those without their own."""
    declared = [process for process in study.workload.process if process.pid is None]
    return {process.name: process.hosts or (host,) for process in (sort_processes(declared) if declared else ())}


def is_on_several(study: Study, host: str) -> bool:
    """Tell whether a study starts its processes on more than the one host."""
    return any(hosts != (host,) for hosts in place_processes(study, host).values())


def is_far(study: Study, host: str) -> bool:
    """Tell whether all processes of a study are on other machines than this one."""
    return all(is_elsewhere(name) for names in place_processes(study, host).values() for name in names)


@contextmanager
def open_machines(study: Study, host: str, wait_s: float | None = None) -> Iterator[Host]:
    """Open the host of a study, or the machines of its processes; close them at the end. Raises as `connect` does."""
    if not is_on_several(study, host):
        with open_host(host, wait_s) as machine:
            yield machine
        return
    machines = connect_machines(study, host, wait_s)
    try:
        yield machines
    finally:
        machines.close()


def connect_machines(study: Study, host: str, wait_s: float | None = None) -> "MachinesHost":
    """Return the machines of a study's processes. Raises StudyError, HostError as `host_names.connect` does."""
    placed = place_processes(study, host)
    _refuse(study, placed)
    with ExitStack() as opened:
        hosts = dict[str, LocalHost]()
        for name in dict.fromkeys(name for names in placed.values() for name in names):
            machine = connect(name, wait_s)
            assert isinstance(machine, LocalHost)
            opened.callback(machine.close)
            hosts[name] = machine
        machines = MachinesHost(hosts, placed, _main(study, placed))
        opened.pop_all()  # it closes them from here on
        return machines


def _main(study: Study, placed: Mapping[str, Sequence[str]]) -> str:
    services = _services(study, placed)
    return placed[services[-1] if services else next(iter(placed))][0]


def _refuse(study: Study, placed: Mapping[str, Sequence[str]]) -> None:
    """Refuse what is done on one machine only, and an order of start that leads back to a machine."""
    use = study.workload
    steps = [step for step in ("setup", "prepare", "cleanup") if getattr(use, step)]
    parts = [*steps, *(["keep"] if use.keep == "block" else []), *(["stdout"] if use.stdout else [])]
    if parts:
        where, fix = f"workload.{parts[0]}", "leave it out, or start all processes on one machine"
        raise StudyError.one(where, "not done with processes on several machines", "a study without", fix)
    order = list[str]()
    for name in _services(study, placed):
        if len(placed[name]) > 1:
            raise StudyError.one(f"--on {name}", f"{len(placed[name])} machines", "one: only a driver has several")
        (host,) = placed[name]
        if host in order[:-1]:
            problem = f"services of {host} start before and after those of another machine"
            raise StudyError.one(f"--on {name}", problem, "all of one machine together", "move one of them")
        order += [host] if host not in order else []


def _services(study: Study, placed: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the services in order of start."""
    roles = {process.name: process.role for process in study.workload.process}
    return [name for name in placed if roles[name] == SERVICE]


class MachinesHost:
    """Several machines as one host: each run has a probe on each, and one gate."""

    def __init__(self, hosts: Mapping[str, LocalHost], placed: Mapping[str, tuple[str, ...]], main: str) -> None:
        """`hosts` by name in order of start, the machines of each process, and that of the study."""
        self._hosts, self._placed, self._main_name = hosts, placed, main
        self._main = hosts[main]
        self.probe = self._main.probe
        if self.probe.warning:
            raise HostError("--on", "no native probe", "one that waits at a gate", self.probe.warning)
        self._addresses = _find_addresses(hosts)
        # Processes as they lie on each machine, by name and machine.
        self._there: dict[tuple[str, str], Process] = {}

    @cached_property
    def _facts(self) -> HostFacts:
        others = {name: hosts[0] for name, hosts in self._placed.items() if hosts != (self._main_name,)}
        elsewhere = {name: self._hosts[host].facts() for name, host in others.items()}
        return self._main.facts().model_copy(update={"elsewhere": elsewhere})

    def facts(self) -> HostFacts:
        """Return what the study's machine is, with the others by process."""
        return self._facts

    def ready(self, planned: Plan, tell: Tell) -> Plan:
        """Make each machine ready for its own processes. Raises HostError as their hosts do."""
        origins = dict[str, Process]()
        for name, host in self._hosts.items():
            own = [p for p in planned.program.processes if name in self._placed.get(p.name, ())]
            used = tuple(each for each in planned.program.used if each.process in {p.name for p in own})
            facts = self._facts if name == self._main_name else host.facts().model_copy(
                update={"elsewhere": {p.name: host.facts() for p in own}}
            )  # fmt: skip
            program = replace(planned.program, processes=tuple(own), used=used)
            there = host.ready(replace(planned, program=program, facts=facts), tell)
            for process, origin in zip(there.program.processes, there.origin.processes, strict=True):
                # What all processes there have in common those of another machine have not.
                self._there[process.name, name] = replace(process, values={**there.program.values, **process.values})
                origins.setdefault(process.name, origin)
        placed = tuple(
            replace(self._there[p.name, self._placed[p.name][0]], hosts=self._placed[p.name])
            for p in planned.program.processes
        )
        source = replace(planned.program, processes=tuple(origins[p.name] for p in planned.program.processes))
        return replace(planned, program=replace(planned.program, processes=placed), source=source)

    def apply_settings(
        self, planned: Plan, configuration: Configuration
    ) -> AbstractContextManager[Sequence[HeldSetting] | None]:
        """Apply the settings of the study's machine; others keep theirs."""
        return self._main.apply_settings(planned, configuration)

    def sample_load(self) -> LoadSample:
        """Sample the CPUs of the study's machine."""
        return self._main.sample_load()

    def measure(self, spec: Specification) -> Record:
        """Carry out one run on all machines. Raises HostError: one of them refuses."""
        if pending_signal() is not None:
            return interrupted_record()
        with ExitStack() as held:
            launches = held.enter_context(apply_limits(spec.launches))
            opened = [(name, host.open_site(self._addresses[name])) for name, host in self._hosts.items()]
            sites = {name: held.enter_context(site) for name, site in opened}
            filled = self._fill(launches, spec, {name: site for name, (_, site) in sites.items()})
            by_host = {name: [i for i, launch in enumerate(filled) if launch.host == name] for name in sites}
            commands = [own for own in by_host.values() if own]
            parts = [
                self._part(spec, [filled[i] for i in by_host[name]], name, *sites[name])
                for name in sites
                if by_host[name]
            ]
            failed = conduct(parts)
        return merge(parts, commands, [part.process.boot_id() for part in parts], failed)

    def _part(self, spec: Specification, launches: Sequence[Launch], name: str, folder: Path, site: Site) -> MachineRun:
        """Return what the machine of a name does of a run, not yet started."""
        process = self._hosts[name].make_process([site.folder(launch) for launch in launches])
        line = replace(spec, launches=tuple(launches), awaits_gate=True).line(folder)
        return MachineRun(line, process, any(launch.service is None for launch in launches))

    def _fill(self, launches: Sequence[Launch], spec: Specification, sites: Mapping[str, Site]) -> tuple[Launch, ...]:
        """Return the launches with the ports of their machines, and the program as it lies there."""
        there = [replace(launch, host=launch.host or self._main_name) for launch in launches]
        ports: dict[int, tuple[int, ...]] = {}
        for name, host in self._hosts.items():
            own = [i for i, launch in enumerate(there) if launch.host == name]
            ports |= dict(zip(own, host.choose_ports([there[i] for i in own]), strict=True))
        moved = [self._move(launch, spec.run.configuration) for launch in there]
        return fill_launches(moved, Path(), [ports[i] for i in range(len(moved))], sites)

    def _move(self, launch: Launch, configuration: Configuration) -> Launch:
        """Return the launch of a process that is on several machines with the paths of its own."""
        if len(self._placed[launch.name]) == 1:
            return launch
        process = self._there[launch.name, launch.host]
        return replace(launch, argv=process.argv, values={**launch.values, **process.values, **configuration})

    def collect_service_ends(self, is_last: bool) -> Sequence[ServicesEnded]:
        """Return nothing: services end with their run."""
        return ()

    def keep_in(self, folder: Path) -> None:
        """Keep nothing beside the results."""

    def close(self) -> None:
        """End all connections."""
        with ExitStack() as closing:
            for host in self._hosts.values():
                closing.callback(host.close)


def _find_addresses(hosts: Mapping[str, object]) -> dict[str, str]:
    """Return the address at which other machines reach each one, as ssh reached it. Raises HostError."""
    addresses, ours = dict[str, str](), list[str]()
    for name in filter(is_elsewhere, hosts):
        words = call(name.partition(":")[2], script(_ADDRESSES)).split()
        if len(words) != 4:
            raise HostError(f"machine {name}", "no SSH_CONNECTION", "a server that sets it", "see its sshd_config")
        client, _, server, _ = (word.partition("%")[0] for word in words)
        ours.append(client)
        addresses[name] = server
    seen = [address for address in ours if address not in (LOOPBACK, "::1")]
    return {**addresses, **({LOCAL: seen[0] if seen else LOOPBACK} if LOCAL in hosts else {})}
