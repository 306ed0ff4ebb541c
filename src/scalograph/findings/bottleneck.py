"""Find the bottleneck: the utilization of each part on the plateau, the fullest first.

A part that is full cannot do more: CPUs that are always busy, a quota that is used up, a process that runs on all CPUs
that it has tasks for, a driver that is late, clients that hardly wait for anything but themselves. If none is full and
requests wait all the same, they wait for what has no meter here: a lock, a pool, a disk.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from scalograph.findings.driven_runs import (
    DRIVER_CPU,
    DROPPED,
    LATE,
    SPARE,
    WRONG,
    DrivenRun,
    ProcessUse,
    dropped_connections,
    fold_all,
    wrong_requests,
)

# Of the time that requests wait in, or hold something of a pool, this share is spent by tasks that are ready and have
# no CPU: they want more CPU.
WAITED = 0.25


def cpu_wait_share(processes: Sequence[ProcessUse]) -> float | None:
    """Return the share of their ready time in which tasks of services had no CPU; None: not measured.

    Each service counts by that time: one that is hardly ever ready says little.
    """
    shares = [(p.waited, p.ready) for p in processes if p.role == "service" and p.waited is not None]
    if not shares:
        return None
    weights = [1.0 if any(ready is None for _, ready in shares) else ready or 0.0 for _, ready in shares]
    whole = sum(weights)
    return sum(waited * weight for (waited, _), weight in zip(shares, weights, strict=True)) / whole if whole else 0.0


def wait_for_cpu(runs: Sequence[DrivenRun], over: Callable[[DrivenRun], float | None]) -> bool:
    """Tell whether so many requests `over` a run wait for a CPU for a good part of their time."""
    shares = [share for run in runs if (share := _share(run, over(run))) is not None]
    return bool(shares) and fmean(shares) >= WAITED


def _share(run: DrivenRun, whole: float | None) -> float | None:
    """Divide tasks that are ready and have no CPU by so many requests; else return the share of ready time."""
    services = [p for p in run.processes if p.role == "service"]
    waiting = [p.waited * p.ready for p in services if p.waited is not None and p.ready is not None]
    if whole is None or len(waiting) < len(services) or not waiting:
        return cpu_wait_share(services)
    return sum(waiting) / whole if whole > 0 else 1.0


def _waiting(run: DrivenRun, alone_s: float | None) -> float | None:
    used = sum(p.used for p in run.processes if p.role == "service")
    return None if run.in_flight is None else run.in_flight - (used if alone_s is None else run.rate * alone_s)


FULL, ALIKE = 0.90, 0.05  # from here on a part is full; parts that are nearer to each other are alike
IDLE = 0.5  # clients of a cycle of which they wait for more than half do not end it
LEAST_SHARE = 0.10  # who has less of some CPUs does not fill them
OFFERED = "offered"  # the load of an open loop, among parts

Kind = Literal[
    "cpu", "quota", "tasks", "io", "memory", "driver", "clients", "pool", "backlog", "wrong", "inside",
    "inconclusive", "not known",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Utilization:
    """How full a part is.

    Attributes:
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
class Bottleneck:
    """The bottleneck of a group.

    Attributes:
        kind: of the part; where none is full: `pool`, if that of a service is always in use, `backlog`, if connections
            are dropped, `wrong`, if requests get no right answer, else `inside`; `inconclusive`: two are
            full, or those who have something of a pool wait for a CPU.
        others: the rest, which are ruled out, the fullest first.
        waited: share of the time that tasks of services were ready in which they had no CPU; None: not measured.
        grows: response time over that without waiting; None where that is not known.
    """

    kind: Kind
    parts: tuple[Utilization, ...] = ()
    others: tuple[Utilization, ...] = ()
    waited: float | None = None
    grows: float | None = None


def find_bottleneck(runs: Sequence[DrivenRun], alone_s: float | None, is_bounded: bool = True) -> Bottleneck:
    """Find the bottleneck from the runs of one configuration, where nothing more is gained.

    `alone_s` is the response time where requests do not wait for each other, if that is known; `is_bounded` says that
    nothing is gained by more clients: else only clients can end it.
    """
    parts = sorted([*utilizations(runs), *_clients(runs, alone_s)], key=lambda part: -part.share)
    waited, took = mean_known(cpu_wait_share(run.processes) for run in runs), mean_known(run.response_s for run in runs)
    grows = took / alone_s if took is not None and alone_s else None
    pool = next((part for part in parts if part.kind == "pool" and part.share >= FULL), None)
    # What has something of a pool waits for the others: it is in use because they are full.
    parts = [part for part in parts if part is not pool]
    full = [part for part in parts if part.share >= FULL and (part.kind != "clients" or not is_bounded)]
    if not full and pool and wait_for_cpu(runs, lambda run: run.pool.busy if run.pool else None):
        return Bottleneck("inconclusive", (pool,), tuple(parts), waited, grows)
    # A pool that is always in use does no more, whether or not the plateau is seen.
    if not full and (lost := pool or (_lost_requests(runs) if is_bounded else None)):
        return Bottleneck(lost.kind, (lost,), tuple(parts), waited, grows)
    if not full and not any(part.kind == "cpu" for part in parts):
        return Bottleneck("not known", (), tuple(parts), waited, grows)
    if not full:
        # The load waits where more of it added nothing, or where clients wait for half of their time.
        waits = is_bounded or any(part.kind == "clients" and part.share < IDLE for part in parts)
        kind: Kind = (
            "inside" if waits and not wait_for_cpu(runs, lambda run: _waiting(run, alone_s)) else "inconclusive"
        )
        return Bottleneck(kind, (), tuple(parts), waited, grows)
    first = full[0]
    near = [part for part in parts if part.kind != "clients" or not is_bounded]
    alike = [part for part in near if first.share - part.share < ALIKE and not _covers(first, part)]
    others = tuple(part for part in parts if part not in alike and part is not first)
    kind = first.kind if alike == [first] else "inconclusive"
    return Bottleneck(kind, tuple(alike), others, waited, grows)


def _lost_requests(runs: Sequence[DrivenRun]) -> Utilization | None:
    if (dropped := dropped_connections(runs) or 0.0) >= DROPPED:
        return Utilization("backlog", ("connections",), dropped)
    what, share = wrong_requests(runs)
    return Utilization("wrong", (what,), share) if share >= WRONG else None


def utilizations(runs: Sequence[DrivenRun]) -> list[Utilization]:
    """Measure how full each part is that has a meter, of runs of one configuration."""
    return [*_cpus(runs), *_quota(runs), *_tasks(runs), *_stalls(runs), *_pool(runs), *_driver(runs)]


def _covers(first: Utilization, other: Utilization) -> bool:
    """Tell whether a fuller part says the same of the same processes."""
    is_same = set(other.names) == set(first.names) != set()
    return is_same and other is not first and "driver" not in (other.kind, first.kind)


def _processes(runs: Sequence[DrivenRun]) -> list[ProcessUse]:
    by_name: dict[str, list[ProcessUse]] = {}
    for run in runs:
        for p in run.processes:
            by_name.setdefault(p.name, []).append(p)
    return [
        ProcessUse(
            name=name, role=each[0].role, cpus=frozenset().union(*(p.cpus for p in each)),
            used=fmean(p.used for p in each), waited=mean_known(p.waited for p in each),
            n_tasks=max((p.n_tasks for p in each if p.n_tasks is not None), default=None),
            stalls=_mean_stalls(each), quota=mean_known(p.quota for p in each),
            throttled=fold_all(min, (p.throttled for p in each)), ready=mean_known(p.ready for p in each),
        )
        for name, each in by_name.items()
    ]  # fmt: skip


def _cpus(runs: Sequence[DrivenRun]) -> Iterable[Utilization]:
    """Measure each set of CPUs that a service has, with all that run on no others."""
    every = _processes(runs)
    for cpus in dict.fromkeys(p.cpus for p in every if p.role == "service" and p.cpus):
        inside = sorted((p for p in every if p.cpus and p.cpus <= cpus), key=lambda p: -p.used)
        used = sum(p.used for p in inside)
        names = tuple(p.name for p in inside if p.used >= LEAST_SHARE * used and used > 0)
        driver = sum(p.used for p in inside if p.role == "driver" and p.name in names)
        yield Utilization("cpu", names or (inside[0].name,), used / len(cpus), used, float(len(cpus)), driver)


def _quota(runs: Sequence[DrivenRun]) -> Iterable[Utilization]:
    quotas = [run.quota for run in runs if run.quota and run.throttled]
    if quotas and len(quotas) == len(runs):
        services = sorted((p for p in _processes(runs) if p.role == "service"), key=lambda p: -p.used)
        used, granted = sum(p.used for p in services), fmean(quotas)
        yield Utilization("quota", tuple(p.name for p in services), used / granted, used, granted)

    for p in _processes(runs):
        if p.quota and p.throttled:
            yield Utilization("quota", (p.name,), p.used / p.quota, p.used, p.quota)


def _tasks(runs: Sequence[DrivenRun]) -> Iterable[Utilization]:
    """Measure services that have fewer tasks than CPUs: each task runs on one."""
    for p in _processes(runs):
        if p.role == "service" and p.n_tasks and p.n_tasks < len(p.cpus):
            yield Utilization("tasks", (p.name,), p.used / p.n_tasks, p.used, float(p.n_tasks))


def _mean_stalls(each: Sequence[ProcessUse]) -> dict[str, float]:
    kinds = set.intersection(*(set(p.stalls) for p in each))
    return {kind: fmean(p.stalls[kind] for p in each) for kind in sorted(kinds)}


def _stalls(runs: Sequence[DrivenRun]) -> Iterable[Utilization]:
    for p in _processes(runs):
        if p.role == "service":
            for kind in ("io", "memory"):
                if kind in p.stalls:
                    yield Utilization(kind, (p.name,), p.stalls[kind])


def _pool(runs: Sequence[DrivenRun]) -> Iterable[Utilization]:
    pools = [run.pool for run in runs if run.pool is not None]
    if pools and len(pools) == len(runs):
        size, busy = fmean(pool.size for pool in pools), fmean(pool.busy for pool in pools)
        yield Utilization("pool", ("pool",), busy / size, busy, size, wait_s=fmean(pool.wait_s for pool in pools))


def _driver(runs: Sequence[DrivenRun]) -> Iterable[Utilization]:
    """Measure the driver: the share of its CPUs that it uses, or 1 where it is late."""
    used, late = mean_known(run.driver for run in runs), mean_known(run.late_by_driver for run in runs)
    if used is not None or late is not None:
        share = max(1.0, used or 0.0) if (late or 0.0) >= LATE else min(1.0, (used or 0.0) * FULL / DRIVER_CPU)
        yield Utilization("driver", ("driver",), share)


def _clients(runs: Sequence[DrivenRun], alone_s: float | None) -> Iterable[Utilization]:
    """Measure the load asked for: the answered share of an open loop; of clients the least cycle over theirs."""
    offered = [run.sent / run.offered for run in runs if run.offered]
    if offered:
        yield Utilization("clients", (OFFERED,), min(1.0, fmean(offered)))
    think, took = mean_known(run.think_s for run in runs), mean_known(run.response_s for run in runs)
    if think is None or took is None or think + took <= 0 or not any(run.clients for run in runs):
        return
    if alone_s is not None or think > 0:
        least = min(took, alone_s) if alone_s is not None else 0.0
        yield Utilization("clients", ("clients",), (least + think) / (took + think))


def mean_known(values: Iterable[float | None]) -> float | None:
    """Average the values that are known; None without any."""
    present = [x for x in values if x is not None]
    return fmean(present) if present else None


def is_driver_short(runs: Sequence[DrivenRun]) -> bool:
    """Tell whether the driver may have been too near its limit to trust the rate."""
    ceilings = [run.ceiling / run.rate for run in runs if run.ceiling and run.rate]
    used = mean_known(run.driver for run in runs)
    return fmean(ceilings) < 1 / SPARE if ceilings else used is not None and used > SPARE
