"""Quotas of single processes of a run: for each a cgroup of its own, which its copies are started in."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from scalograph.control.capacity import NO_LIMIT, QuotaControl, make_quota_cgroup
from scalograph.control.control import Launch, Level, LevelError
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.record import Record
from scalograph.study.processes import value_of
from scalograph.study.program import Process, Program

Configuration = Mapping[str, Level]
# A quota as the kernel gives it back is a whole number of microseconds in each period.
_ROUNDED = 1e-4


def process_quota(process: Process, values: Mapping[str, Any]) -> float | None:
    """Return the quota of a process in CPUs; None for no limit. `values` fills its template."""
    quota = None if process.quota is None else value_of(process.quota, values)
    return None if quota in (None, NO_LIMIT) else float(quota)


def quota_refusals(program: Program, facts: HostFacts) -> Callable[[Configuration], str | None]:
    """Return a function that explains why a configuration's quotas cannot be set here; None if they can."""
    if all(process.quota is None for process in program.processes):
        return lambda configuration: None

    def refusal(configuration: Configuration) -> str | None:
        for process in (each for each in program.processes_for(configuration) if each.quota is not None):
            try:
                level = value_of(process.quota, {**program.values, **process.values, **configuration})
                QuotaControl().resolve([level], facts)
            except LevelError as error:
                return f"{process.name}: {error}"
        return None

    return refusal


@contextmanager
def apply_quotas(
    launches: Sequence[Launch], make: Callable[[float], AbstractContextManager[Path]] = make_quota_cgroup
) -> Iterator[tuple[Launch, ...]]:
    """Yield the launches of a run with a cgroup for each process with a quota, shared by its copies.

    Afterwards these are removed. Raises HostError if a quota is refused, or lost before the end.
    """
    quotas = {launch.name: launch.own_quota_cpus for launch in launches if launch.own_quota_cpus is not None}
    with ExitStack() as held:
        folders = {name: str(held.enter_context(make(cpus))) for name, cpus in quotas.items()}
        yield tuple(replace(launch, cgroup=folders.get(launch.name)) for launch in launches)


def find_wrong_quotas(launches: Sequence[Launch], record: Record) -> list[str]:
    """List processes that did not have the quota of their launch."""
    wrong = dict[str, None]()
    for process in (each for each in record.processes if each.command < len(launches)):
        asked, quota = launches[process.command].own_quota_cpus, process.quota_cpus
        if asked is not None and (quota is None or abs(quota - asked) > _ROUNDED):
            in_force = "none" if quota is None else f"{quota:g}"
            wrong[f"quota of {process.name}: asked for {asked:g}, in force was {in_force}"] = None
    return list(wrong)
