"""Which CPUs each process of a run has, where some have CPUs of their own.

All are taken in the order of the placement: first those of the control `cpus`, which its services share, then those of
each process with a count of its own. Whoever has neither has what is left.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from scalograph.control.capacity import NO_LIMIT, QuotaControl, make_quota_cgroup
from scalograph.control.control import Launch, Level, LevelError, find_control
from scalograph.control.memory import MemoryControl, has_unified_memory, make_memory_cgroup, memory_bytes
from scalograph.control.placement import count_available
from scalograph.protocol.facts import ORDERS, HostFacts
from scalograph.protocol.record import Record
from scalograph.study.model import Study
from scalograph.study.processes import number_of, value_of
from scalograph.study.program import Process, Program

Cpus = tuple[int, ...] | None
# Controls that say which CPUs services have.
_PLACING = ("cpus", "placement")


@dataclass(frozen=True)
class CpuDemand:
    """The demand of one process: `n_cpus` of its own, or None; `obeys` is whether the control `cpus` is for it."""

    name: str
    obeys: bool
    n_cpus: int | None = None

    @property
    def shares(self) -> bool:
        """Whether it has the CPUs of the control."""
        return self.obeys and self.n_cpus is None


def cpu_demands(
    processes: Sequence[Process], values: Mapping[str, Any], configuration: Mapping[str, Level]
) -> list[CpuDemand]:
    """Return the demands in order of start; a load generator obeys no control unless it is alone.

    `values` are known without a configuration, whose levels override them.
    """
    beside = any(process.service for process in processes)
    return [
        CpuDemand(
            process.name,
            process.service is not None or not beside,
            None if process.cpus is None else number_of(process.cpus, {**values, **process.values, **configuration}),
        )
        for process in processes
    ]


def divide_cpus(wanted: Sequence[CpuDemand], launch: Launch, facts: HostFacts) -> dict[str, Cpus]:
    """Return the CPUs of each process by name, ascending; None are all. The launch obeys the study's levels.

    Raises LevelError if the processes want more CPUs than there are.
    """
    _refuse_too_many(wanted, launch, facts)
    shared = launch.cpus if any(demand.shares for demand in wanted) else None
    taken = set(shared or ())
    free = [cpu.cpu for cpu in ORDERS[launch.placement](facts.cpus) if cpu.cpu not in taken]
    own: dict[str, Cpus] = {}
    for demand in wanted:
        if demand.n_cpus is not None:
            own[demand.name], free = tuple(sorted(free[: demand.n_cpus])), free[demand.n_cpus :]
            taken |= set(own[demand.name] or ())
    left = tuple(cpu.cpu for cpu in facts.cpus if cpu.cpu not in taken) if taken else ()
    return {demand.name: own.get(demand.name, (shared if demand.shares else None) or left or None) for demand in wanted}


def _refuse_too_many(wanted: Sequence[CpuDemand], launch: Launch, facts: HostFacts) -> None:
    own = {demand.name: demand.n_cpus for demand in wanted if demand.n_cpus is not None}
    shared = [demand.name for demand in wanted if demand.shares]
    # Services for which nothing says how many need one that no other process has.
    n_shared = (launch.n_cpus or 1) if shared else 0
    n, most = sum(own.values()) + n_shared, count_available(launch.placement, facts.cpus)
    if own and n > most:
        counts = [*([f"{', '.join(shared)} {n_shared}"] if shared else []), *(f"{name} {own[name]}" for name in own)]
        request = f"{n} CPUs placed {launch.placement} ({'; '.join(counts)})"
        raise LevelError(request, f"at most {most} on this host", "use fewer, or exclude this combination")


def cpu_refusals(study: Study, program: Program, facts: HostFacts) -> Callable[[Mapping[str, Level]], str | None]:
    """Return a function that explains why a configuration gives processes too many CPUs for this host; None if not."""
    processes = program.processes
    if all(process.cpus is None for process in processes):
        return lambda configuration: None
    counting = {process.cpus.strip("{}") for process in processes if isinstance(process.cpus, str)}
    counting |= {name for process in processes for name in process.when}
    names = [name for name, factor in study.factors.items() if name in counting or factor.control in _PLACING]

    @cache
    def refusal(*levels: Level) -> str | None:
        configuration = dict(zip(names, levels, strict=True))
        launch = Launch()
        for name in names:
            if (placing := study.factors[name].control) in _PLACING:
                launch = find_control(str(placing)).apply(launch, configuration[name], facts)
        if launch.placement != Launch.placement and launch.n_cpus is None:
            launch = replace(launch, n_cpus=count_available(launch.placement, facts.cpus))
        try:
            demands = cpu_demands(program.processes_for(configuration), program.values, configuration)
            _refuse_too_many(demands, launch, facts)
        except LevelError as error:
            return str(error)
        return None

    return lambda configuration: refusal(*(configuration[name] for name in names))


Configuration = Mapping[str, Level]
# A quota as the kernel gives it back is a whole number of microseconds in each period.
_ROUNDED = 1e-4


def process_quota(process: Process, values: Mapping[str, Any]) -> float | None:
    """Return the quota of a process in CPUs; None for no limit. `values` fills its template."""
    quota = None if process.quota is None else value_of(process.quota, values)
    return None if quota in (None, NO_LIMIT) else float(quota)


def process_memory(process: Process, values: Mapping[str, Any]) -> int | None:
    """Return the memory limit of a process in bytes; None for no limit. `values` fills its template."""
    mib = None if process.memory is None else value_of(process.memory, values)
    return None if mib in (None, NO_LIMIT) else memory_bytes(float(mib))


def limit_refusals(program: Program, facts: HostFacts) -> Callable[[Configuration], str | None]:
    """Return a function that explains why limits of single processes cannot be set here; None if they can."""
    if all(process.quota is None and process.memory is None for process in program.processes):
        return lambda configuration: None

    def refusal(configuration: Configuration) -> str | None:
        for process in program.processes_for(configuration):
            values = {**program.values, **process.values, **configuration}
            try:
                for control, limit in ((QuotaControl(), process.quota), (MemoryControl(), process.memory)):
                    if limit is not None:
                        control.resolve([value_of(limit, values)], facts)
            except LevelError as error:
                return f"{process.name}: {error}"
        return None

    return refusal


@contextmanager
def apply_limits(
    launches: Sequence[Launch],
    make: Callable[[float], AbstractContextManager[Path]] = make_quota_cgroup,
    make_memory: Callable[[int, float | None], AbstractContextManager[tuple[Path, ...]]] = make_memory_cgroup,
) -> Iterator[tuple[Launch, ...]]:
    """Yield the launches of a run with cgroups for each process with a limit of its own, shared by its copies.

    Afterwards these are removed. Raises HostError if a limit is refused, or lost before the end.
    """
    folders: dict[str, tuple[Path, ...]] = {}
    with ExitStack() as held:
        for launch in {each.name: each for each in launches}.values():
            if launch.max_memory is not None:
                # A process is in one cgroup of v2: there the quota of the whole run has to hold in it, too.
                cpus = launch.own_quota_cpus or (launch.quota_cpus if has_unified_memory() else None)
                folders[launch.name] = held.enter_context(make_memory(launch.max_memory, cpus))
            elif launch.own_quota_cpus is not None:
                folders[launch.name] = (held.enter_context(make(launch.own_quota_cpus)),)
        named = {name: tuple(map(str, each)) for name, each in folders.items()}
        yield tuple(replace(launch, cgroups=named.get(launch.name, ())) for launch in launches)


def find_wrong_quotas(launches: Sequence[Launch], record: Record) -> list[str]:
    """List processes that did not have the quota of their launch."""
    wrong = dict[str, None]()
    for process in (each for each in record.processes if each.command < len(launches)):
        asked, quota = launches[process.command].own_quota_cpus, process.quota_cpus
        if asked is not None and (quota is None or abs(quota - asked) > _ROUNDED):
            in_force = "none" if quota is None else f"{quota:g}"
            wrong[f"quota of {process.name}: asked for {asked:g}, in force was {in_force}"] = None
    return list(wrong)
