"""Which CPUs each process of a run has, where some have CPUs of their own.

All are taken in the order of the placement: first those of the control `cpus`, which its services share, then those of
each process with a count of its own. Whoever has neither has what is left.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from scalograph.control.control import Launch, Level, LevelError, control
from scalograph.control.placement import n_available
from scalograph.protocol.cpu_order import ORDERS
from scalograph.protocol.facts import HostFacts
from scalograph.study.model import Study
from scalograph.study.processes import number_of
from scalograph.study.program import Process, Program

Cpus = tuple[int, ...] | None
# Controls that say which CPUs services have.
_PLACING = ("cpus", "placement")


@dataclass(frozen=True)
class CpuDemand:
    """What one process wants: `n_cpus` of its own, or None; `obeys` tells whether the control `cpus` is for it."""

    name: str
    obeys: bool
    n_cpus: int | None = None

    @property
    def shares(self) -> bool:
        """Whether it has those of the control."""
        return self.obeys and self.n_cpus is None


def demands(processes: Sequence[Process], values: Mapping[str, Any], treatment: Mapping[str, Level]) -> list[CpuDemand]:
    """Return what each process wants, in order of start; a driver obeys no control but alone.

    Args:
        processes: in order of start.
        values: known without a treatment.
        treatment: whose levels go before these.
    """
    beside = any(process.service for process in processes)
    return [
        CpuDemand(
            process.name,
            process.service is not None or not beside,
            None if process.cpus is None else number_of(process.cpus, {**values, **process.values, **treatment}),
        )
        for process in processes
    ]


def divided(wanted: Sequence[CpuDemand], launch: Launch, facts: HostFacts) -> dict[str, Cpus]:
    """Return the CPUs of each process by name, ascending; None are all.

    Args:
        wanted: by the processes, in order of start.
        launch: one that obeys the study's levels.
        facts: of the host.

    Raises:
        LevelError: they want more CPUs than there are.
    """
    _refuse_too_many(wanted, launch, facts)
    shared = launch.cpus if any(one.shares for one in wanted) else None
    taken = set(shared or ())
    free = [cpu.cpu for cpu in ORDERS[launch.placement](facts.cpus) if cpu.cpu not in taken]
    found: dict[str, Cpus] = {}
    for one in wanted:
        if one.n_cpus is not None:
            found[one.name], free = tuple(sorted(free[: one.n_cpus])), free[one.n_cpus :]
            taken |= set(found[one.name] or ())
    left = tuple(cpu.cpu for cpu in facts.cpus if cpu.cpu not in taken) if taken else ()
    return {one.name: found.get(one.name, (shared if one.shares else None) or left or None) for one in wanted}


def _refuse_too_many(wanted: Sequence[CpuDemand], launch: Launch, facts: HostFacts) -> None:
    own = {one.name: one.n_cpus for one in wanted if one.n_cpus is not None}
    shared = [one.name for one in wanted if one.shares]
    # Services for which nothing says how many need one that no other process has.
    n_shared = (launch.n_cpus or 1) if shared else 0
    n, most = sum(own.values()) + n_shared, n_available(launch.placement, facts.cpus)
    if own and n > most:
        counts = [*([f"{', '.join(shared)} {n_shared}"] if shared else []), *(f"{name} {own[name]}" for name in own)]
        found = f"{n} CPUs placed {launch.placement} ({'; '.join(counts)})"
        raise LevelError(found, f"at most {most} on this host", "use fewer, or exclude this combination")


def too_many_cpus(study: Study, program: Program, facts: HostFacts) -> Callable[[Mapping[str, Level]], str | None]:
    """Return a function that tells why a treatment gives its processes too many CPUs for this host; None if not.

    Args:
        study: whose levels they are.
        program: whose processes they are.
        facts: of the host.
    """
    processes = program.processes
    if all(process.cpus is None for process in processes):
        return lambda treatment: None
    counting = {process.cpus.strip("{}") for process in processes if isinstance(process.cpus, str)}
    counting |= {name for process in processes for name in process.when}
    names = [name for name, one in study.factors.items() if name in counting or one.control in _PLACING]

    @cache
    def refusal(*levels: Level) -> str | None:
        treatment = dict(zip(names, levels, strict=True))
        launch = Launch()
        for name in names:
            if (placing := study.factors[name].control) in _PLACING:
                launch = control(str(placing)).apply(launch, treatment[name], facts)
        if launch.placement != Launch.placement and launch.n_cpus is None:
            launch = replace(launch, n_cpus=n_available(launch.placement, facts.cpus))
        try:
            _refuse_too_many(demands(program.started(treatment), program.values, treatment), launch, facts)
        except LevelError as error:
            return str(error)
        return None

    return lambda treatment: refusal(*(treatment[name] for name in names))
