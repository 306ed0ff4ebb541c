"""Which part ends it: how full each one is where nothing more is gained, the fullest first.

A part that is full cannot do more: CPUs that are always busy, a quota that is used up, a process that runs on all CPUs
that it has tasks for, a driver that is late, clients that hardly wait for anything but themselves. If none is full and
requests wait all the same, they wait for what has no meter here: a lock, a pool, a disk.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

import numpy as np

from scalograph.questions.throughput.model_driven import (
    DRIVER_CPU,
    DROPPED,
    LATE,
    SPARE,
    WRONG,
    DrivenRun,
    ProcessUse,
    dropped_connections,
    wrong_requests,
)

# Of the time that requests wait in, or hold something of a pool, this share is spent by tasks that are ready and have
# no CPU: they want more CPU.
WAITED = 0.25


def waited_share(processes: Sequence[ProcessUse]) -> float | None:
    """Return the share of the time in which tasks of services were ready that they had no CPU; None: not measured.

    Each service counts by that time: one that is hardly ever ready says little.
    """
    known = [(one.waited, one.ready) for one in processes if one.role == "service" and one.waited is not None]
    if not known:
        return None
    weights = [1.0 if any(ready is None for _, ready in known) else ready or 0.0 for _, ready in known]
    whole = sum(weights)
    return sum(waited * weight for (waited, _), weight in zip(known, weights, strict=True)) / whole if whole else 0.0


def waits_for_cpu(runs: Sequence[DrivenRun], alone_s: float | None) -> bool:
    """Tell whether requests wait for a CPU for a good part of the time that they wait.

    Args:
        runs: of one treatment.
        alone_s: response time where requests do not wait for each other; None where that is not known.
    """
    return _is_large(runs, lambda run: _waiting(run, alone_s))


def holds_for_cpu(runs: Sequence[DrivenRun]) -> bool:
    """Tell whether those who have something of a pool wait for a CPU for a good part of that time."""
    return _is_large(runs, lambda run: run.pool.busy if run.pool else None)


def _is_large(runs: Sequence[DrivenRun], over: Callable[[DrivenRun], float | None]) -> bool:
    shares = [share for run in runs if (share := _share(run, over(run))) is not None]
    return bool(shares) and fmean(shares) >= WAITED


def _share(run: DrivenRun, whole: float | None) -> float | None:
    """Tasks that are ready and have no CPU, of so many requests; the share of ready time where that is not known."""
    services = [one for one in run.processes if one.role == "service"]
    known = [one.waited * one.ready for one in services if one.waited is not None and one.ready is not None]
    if whole is None or len(known) < len(services) or not known:
        return waited_share(services)
    return sum(known) / whole if whole > 0 else 1.0


def _waiting(run: DrivenRun, alone_s: float | None) -> float | None:
    """Mean number of requests in flight that are not served."""
    used = sum(one.used for one in run.processes if one.role == "service")
    return None if run.in_flight is None else run.in_flight - (used if alone_s is None else run.rate * alone_s)


# From here on a part is full; parts that are nearer to each other are alike.
FULL, ALIKE = 0.90, 0.05
# Clients of a cycle of which they wait for more than half do not end it.
IDLE = 0.5
# Who has less of some CPUs does not fill them.
LEAST_SHARE = 0.10
KINDS_OF_STALLS: tuple[Literal["io", "memory"], ...] = ("io", "memory")
# The load of an open loop, among parts.
OFFERED = "offered"

Kind = Literal[
    "cpu",
    "quota",
    "tasks",
    "io",
    "memory",
    "driver",
    "clients",
    "pool",
    "backlog",
    "wrong",
    "inside",
    "not resolved",
    "not known",
]


@dataclass(frozen=True, slots=True)
class Fullness:
    """How full a part is.

    Attributes:
        kind: what of it could be full.
        names: processes that fill it, most first.
        share: of what it could do, 1 where it can do no more.
        used: CPUs in use; None where it is no CPU time.
        granted: of so many.
        of_driver: CPUs of `used` that the driver had.
        wait_s: of a pool, mean time that was waited for one of it.
    """

    kind: Kind
    names: tuple[str, ...]
    share: float
    used: float | None = None
    granted: float | None = None
    of_driver: float = 0.0
    wait_s: float | None = None


@dataclass(frozen=True, slots=True)
class LoadEnd:
    """What ends it.

    Attributes:
        kind: of the part; where none is full: `pool`, if that of a service is always in use, `backlog`, if connections
            are dropped, `wrong`, if requests get no right answer, else `inside`; `not resolved`: two are
            full, or those who have something of a pool wait for a CPU.
        parts: those that are full, or nearly.
        others: the rest, which are ruled out, the fullest first.
        waited: share of the time that tasks of services were ready in which they had no CPU; None: not measured.
        grows: response time over that without waiting; None where that is not known.
    """

    kind: Kind
    parts: tuple[Fullness, ...] = ()
    others: tuple[Fullness, ...] = ()
    waited: float | None = None
    grows: float | None = None


def ended_by(runs: Sequence[DrivenRun], alone_s: float | None, is_bounded: bool = True) -> LoadEnd:
    """Name what ends it.

    Args:
        runs: of one treatment, where nothing more is gained.
        alone_s: response time where requests do not wait for each other; None where that is not known.
        is_bounded: whether nothing is gained by more clients; else only clients can end it.

    Returns:
        What it is, with all parts ranked.
    """
    parts = sorted(_parts(runs, alone_s), key=lambda one: -one.share)
    waited = _mean(waited_share(run.processes) for run in runs)
    grows = _grows(runs, alone_s)
    pool = next((one for one in parts if one.kind == "pool" and one.share >= FULL), None)
    # What has something of a pool waits for the others: it is in use because they are full.
    parts = [one for one in parts if one is not pool]
    full = [one for one in parts if one.share >= FULL and (one.kind != "clients" or not is_bounded)]
    if not full and pool and holds_for_cpu(runs):
        return LoadEnd("not resolved", (pool,), tuple(parts), waited, grows)
    if not full and is_bounded and (lost := pool or _lost(runs)):
        return LoadEnd(lost.kind, (lost,), tuple(parts), waited, grows)
    if not full and not any(one.kind == "cpu" for one in parts):
        return LoadEnd("not known", (), tuple(parts), waited, grows)
    if not full:
        kind: Kind = "inside" if _waits(parts, is_bounded) and not waits_for_cpu(runs, alone_s) else "not resolved"
        return LoadEnd(kind, (), tuple(parts), waited, grows)
    first = full[0]
    near = [one for one in parts if one.kind != "clients" or not is_bounded]
    alike = [one for one in near if first.share - one.share < ALIKE and not _covers(first, one)]
    others = tuple(one for one in parts if one not in alike and one is not first)
    kind = first.kind if alike == [first] else "not resolved"
    return LoadEnd(kind, tuple(alike), others, waited, grows)


def _lost(runs: Sequence[DrivenRun]) -> Fullness | None:
    """Connections or answers that were lost, where there are enough to end a load."""
    if (dropped := dropped_connections(runs) or 0.0) >= DROPPED:
        return Fullness("backlog", ("connections",), dropped)
    what, share = wrong_requests(runs)
    return Fullness("wrong", (what,), share) if share >= WRONG else None


def _waits(parts: Sequence[Fullness], is_bounded: bool) -> bool:
    """Whether the load waits: more of it was shown to add nothing, or clients wait for half of their time."""
    return is_bounded or any(one.kind == "clients" and one.share < IDLE for one in parts)


def fullness(runs: Sequence[DrivenRun]) -> list[Fullness]:
    """Tell how full each part is, of runs of one treatment, those with a meter."""
    return [*_cpus(runs), *_quota(runs), *_tasks(runs), *_stalls(runs), *_pool(runs), *_driver(runs)]


def _covers(first: Fullness, one: Fullness) -> bool:
    """Whether a part says of the same processes what another, fuller one says already."""
    return one is not first and "driver" not in (one.kind, first.kind) and set(one.names) == set(first.names) != set()


def _parts(runs: Sequence[DrivenRun], alone_s: float | None) -> Iterable[Fullness]:
    yield from fullness(runs)
    yield from _clients(runs, alone_s)


def _processes(runs: Sequence[DrivenRun]) -> list[ProcessUse]:
    """Each process, as it is over the runs."""
    found: dict[str, list[ProcessUse]] = {}
    for run in runs:
        for one in run.processes:
            found.setdefault(one.name, []).append(one)
    return [
        ProcessUse(
            name=name, role=each[0].role, cpus=frozenset().union(*(one.cpus for one in each)),
            used=fmean(one.used for one in each), waited=_mean(one.waited for one in each),
            n_tasks=max((one.n_tasks for one in each if one.n_tasks is not None), default=None),
            stalls=_stalled(each), quota=_mean(one.quota for one in each),
            throttled=_least(one.throttled for one in each), ready=_mean(one.ready for one in each),
        )
        for name, each in found.items()
    ]  # fmt: skip


def _cpus(runs: Sequence[DrivenRun]) -> Iterable[Fullness]:
    """Sets of CPUs that a service has, with all that run on no others."""
    every = _processes(runs)
    for cpus in dict.fromkeys(one.cpus for one in every if one.role == "service" and one.cpus):
        inside = sorted((one for one in every if one.cpus and one.cpus <= cpus), key=lambda one: -one.used)
        used = sum(one.used for one in inside)
        names = tuple(one.name for one in inside if one.used >= LEAST_SHARE * used and used > 0)
        driver = sum(one.used for one in inside if one.role == "driver" and one.name in names)
        yield Fullness("cpu", names or (inside[0].name,), used / len(cpus), used, float(len(cpus)), driver)


def _quota(runs: Sequence[DrivenRun]) -> Iterable[Fullness]:
    """CPU time that services were granted, together or one of them, where all of it was taken from them."""
    quotas = [run.quota for run in runs if run.quota and run.throttled]
    if quotas and len(quotas) == len(runs):
        services = sorted((one for one in _processes(runs) if one.role == "service"), key=lambda one: -one.used)
        used, granted = sum(one.used for one in services), fmean(quotas)
        yield Fullness("quota", tuple(one.name for one in services), used / granted, used, granted)

    for one in _processes(runs):
        if one.quota and one.throttled:
            yield Fullness("quota", (one.name,), one.used / one.quota, one.used, one.quota)


def _tasks(runs: Sequence[DrivenRun]) -> Iterable[Fullness]:
    """Services that have fewer tasks than CPUs: each task runs on one."""
    for one in _processes(runs):
        if one.role == "service" and one.n_tasks and one.n_tasks < len(one.cpus):
            yield Fullness("tasks", (one.name,), one.used / one.n_tasks, one.used, float(one.n_tasks))


def _stalled(each: Sequence[ProcessUse]) -> dict[str, float]:
    """Mean share of the time that a process was stalled for, by kind, where all runs tell."""
    kinds = set.intersection(*(set(one.stalls) for one in each))
    return {kind: fmean(one.stalls[kind] for one in each) for kind in sorted(kinds)}


def _stalls(runs: Sequence[DrivenRun]) -> Iterable[Fullness]:
    """Services of which some task always waits for a device, or for memory."""
    for one in _processes(runs):
        if one.role == "service":
            for kind in KINDS_OF_STALLS:
                if kind in one.stalls:
                    yield Fullness(kind, (one.name,), one.stalls[kind])


def _pool(runs: Sequence[DrivenRun]) -> Iterable[Fullness]:
    """Connections and the like, of which services tell how many they have and use."""
    pools = [run.pool for run in runs if run.pool is not None]
    if pools and len(pools) == len(runs):
        size, busy = fmean(one.size for one in pools), fmean(one.busy for one in pools)
        yield Fullness("pool", ("pool",), busy / size, busy, size, wait_s=fmean(one.wait_s for one in pools))


def _driver(runs: Sequence[DrivenRun]) -> Iterable[Fullness]:
    """The driver: the share of its CPUs that it uses, or 1 where it is late."""
    used, late = _mean(run.driver for run in runs), _mean(run.to_blame for run in runs)
    if used is not None or late is not None:
        share = max(1.0, used or 0.0) if (late or 0.0) >= LATE else min(1.0, (used or 0.0) * FULL / DRIVER_CPU)
        yield Fullness("driver", ("driver",), share)


def _clients(runs: Sequence[DrivenRun], alone_s: float | None) -> Iterable[Fullness]:
    """What was asked for: of an open loop what is answered of it, of clients the least cycle over theirs."""
    offered = [run.sent / run.offered for run in runs if run.offered]
    if offered:
        yield Fullness("clients", (OFFERED,), min(1.0, fmean(offered)))
    think, took = _mean(run.think_s for run in runs), _mean(run.response_s for run in runs)
    if think is None or took is None or think + took <= 0 or not any(run.clients for run in runs):
        return
    if alone_s is not None or think > 0:
        least = min(took, alone_s) if alone_s is not None else 0.0
        yield Fullness("clients", ("clients",), (least + think) / (took + think))


def _grows(runs: Sequence[DrivenRun], alone_s: float | None) -> float | None:
    took = _mean(run.response_s for run in runs)
    return took / alone_s if took is not None and alone_s else None


def _mean(values: Iterable[float | None]) -> float | None:
    found = [x for x in values if x is not None]
    return float(np.mean(found)) if found else None


def _least(values: Iterable[float | None]) -> float | None:
    """Return the least; None where one is not known."""
    found = list(values)
    known = [x for x in found if x is not None]
    return min(known) if len(known) == len(found) else None


def spare(runs: Sequence[DrivenRun]) -> str:
    """Why the driver may have been too near to its end to trust the rate; empty where it was far from it."""
    ceilings = [run.ceiling / run.rate for run in runs if run.ceiling and run.rate]
    if ceilings and fmean(ceilings) < 1 / SPARE:
        return "ceiling"
    used = _mean(run.driver for run in runs)
    return "CPU" if not ceilings and used is not None and used > SPARE else ""
