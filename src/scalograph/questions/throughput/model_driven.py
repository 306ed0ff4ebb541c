"""What a run with a driver and services says: its rate, its response times, and the CPU time of each process."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import NamedTuple

from scalograph.protocol.record import Record
from scalograph.protocol.record_processes import ProcessEvent, ServicesEnded
from scalograph.protocol.response_times import Counts, quantile, steady_counts
from scalograph.verdict.little import DriverLoad, Told, driver_load, over_requests, told_by_drivers, total

# A driver that starts so many requests late, or uses so much of its CPUs, measures itself.
LATE, DRIVER_CPU = 0.01, 0.90
# Beyond this share of its CPUs the driver could not send three times as many requests.
SPARE = 1 / 3
# Fewer bins of a timeline do not show a window.
FEWEST_BINS = 5
# What a driver writes to stderr before the first request without a right answer, of which so many characters are told.
FIRST, MOST_WORDS = "; first: ", 160
# Values of a driver: errors_connect, errors_status, ..
ERRORS = "errors_"
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}


@dataclass(frozen=True, slots=True)
class PoolUse:
    """Something of which a service has little, connections say, as it tells itself: all copies together.

    Attributes:
        size: how many there are.
        busy: mean number in use in the steady window.
        wait_s: mean time that was waited for one.
    """

    size: float
    busy: float
    wait_s: float


@dataclass(frozen=True, slots=True)
class ProcessUse:
    """One process of a run, with all that it started.

    Attributes:
        name: as the study calls it.
        role: `service` or `driver`.
        cpus: those that it may run on.
        used: CPU seconds in each second of the steady window.
        waited: share of the time that its tasks were ready in which they had no CPU; None where it was not measured.
        n_tasks: tasks that it had; None where they were not counted.
        stalls: share of the run for which some task waited for a device, or for memory, by `io` and `memory`.
        quota: CPUs' worth of time that it was granted, all copies together.
        throttled: share of the run for which that was used up.
        ready: mean number of its tasks that had a CPU or were ready for one.
    """

    name: str
    role: str
    cpus: frozenset[int]
    used: float
    waited: float | None = None
    n_tasks: int | None = None
    stalls: Mapping[str, float] = field(default_factory=dict)
    quota: float | None = None
    throttled: float | None = None
    ready: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DrivenRun(DriverLoad):
    """One run, in its steady window: what its driver says, and what was measured. None where it is not known.

    Attributes:
        sent: all answers per second.
        wrong: wrong answers by what became of them; empty where the driver does not tell.
        quantiles_s: of response times, by name.
        late: share of the requests that began more than 1 ms after they could.
        own_late: the same without the time in which the driver was ready and had no CPU.
        driver: CPU of the driver over the CPUs that it could use.
        ceiling: rate of the driver on an empty page.
        processes: all of them.
        quota: CPUs' worth of time that the run was granted.
        throttled: share of the run for which that was used up.
        counts: right answers by response time.
        first_wrong: what became of the first request without a right answer, as the driver tells it.
        dropped: connections that the kernel dropped, the queue of a listening socket being full.
        pool: what the services tell of a pool.
    """

    sent: float
    wrong: Mapping[str, int] = field(default_factory=dict)
    quantiles_s: Mapping[str, float] = field(default_factory=dict)
    late: float | None = None
    own_late: float | None = None
    driver: float | None = None
    ceiling: float | None = None
    processes: tuple[ProcessUse, ...] = ()
    quota: float | None = None
    throttled: float | None = None
    counts: Counts = field(default_factory=dict)
    dropped: int | None = None
    first_wrong: str = ""
    pool: PoolUse | None = None

    @property
    def to_blame(self) -> float | None:
        """Share of the requests that the driver itself began late; all late ones where it cannot tell them apart."""
        return self.late if self.own_late is None else self.own_late

    @property
    def driver_limits(self) -> str:
        """Why the driver and not the service may have set the rate; empty where it has not."""
        if self.to_blame is not None and self.to_blame >= LATE:
            return "late"
        return "CPU" if self.driver is not None and self.driver >= DRIVER_CPU else ""


def driven_run(record: Record) -> DrivenRun | None:
    """Read what the driver and the processes of a run say.

    Args:
        record: of a run that succeeded.

    Returns:
        None where no driver told a rate and a count of requests. Several copies of a driver are taken together;
        quantiles are those of all their answers together, where the copies told histograms.
    """
    load, told = driver_load(record), told_by_drivers(record)
    if load is None:
        return None
    n, errors, window_s = load.n_requests, load.n_errors, _window_s(record)
    processes = _by_name(_use(record, one, one.cpu_ns) for one in record.processes if one.cpu_ns is not None)
    counts = steady_counts(record.histograms)
    return DrivenRun(
        **{one.name: getattr(load, one.name) for one in fields(load)},
        sent=load.rate * n / (n - errors) if n > errors else n / window_s, wrong=_wrong(told),
        quantiles_s=_quantiles(told[0]) if len(told) == 1 else _of_counts(counts), counts=counts,
        late=over_requests(told, "late_share"), own_late=over_requests(told, "own_late_share"),
        ceiling=total(told, "ceiling"),
        processes=processes, quota=record.run.quota_cpus,
        driver=_driver(total(told, "driver_cpu_ns"), total(told, "threads"), window_s, processes),
        throttled=_over(record.run.throttled_ns, record.run.wall_ns), dropped=_dropped(told),
        first_wrong=_first_wrong(record) if errors else "", pool=_pool(told),
    )  # fmt: skip


def _pool(told: Sequence[Told]) -> PoolUse | None:
    """Copies of a driver ask the same services."""
    names = ("pool_size", "pool_busy", "pool_wait_ns")
    found = next(([values[name][-1] for name in names] for values in told if all(map(values.get, names))), None)
    return PoolUse(found[0], found[1], found[2] / 1e9) if found and found[0] > 0 else None


def _wrong(told: Sequence[Told]) -> dict[str, int]:
    """Requests without a right answer by what became of them, over the copies of the driver."""
    kinds = sorted({name for values in told for name in values if name.startswith(ERRORS)})
    return {
        name.removeprefix(ERRORS): int(sum(values[name][-1] for values in told if values.get(name))) for name in kinds
    }


def _dropped(told: Sequence[Told]) -> int | None:
    """Copies of a driver read the same counter of the kernel, one later than another."""
    counts = [int(values["listen_drops"][-1]) for values in told if values.get("listen_drops")]
    return max(counts) if len(counts) == len(told) else None


def _quantiles(values: Told) -> dict[str, float]:
    return {name: values[f"{name}_ns"][-1] / 1e9 for name in QUANTILES if values.get(f"{name}_ns")}


def _of_counts(counts: Counts) -> dict[str, float]:
    found = {name: quantile(counts, share) for name, share in QUANTILES.items()}
    return {name: value for name, value in found.items() if value is not None}


def _over(part: int | None, whole: int | None) -> float | None:
    return part / whole if part is not None and whole else None


def _span(record: Record) -> tuple[int, int] | None:
    """The steady window since the gate; None where the driver marks none."""
    spans = [(min(part.start_ns), max(part.end_ns)) for part in record.iterations if part.start_ns]
    return (min(start for start, _ in spans), max(end for _, end in spans)) if spans else None


def _first_wrong(record: Record) -> str:
    lines = [line for copy in record.of_drivers() for line in copy.stderr_tail.splitlines()]
    told = next((line.partition(FIRST)[2] for line in reversed(lines) if FIRST in line), "")
    return "".join(c if c.isprintable() else "?" for c in told[:MOST_WORDS])


def _window_s(record: Record) -> float:
    start, end = _span(record) or (0, record.run.wall_ns or 0)
    return max(end - start, 1) / 1e9


def _driver(cpu_ns: float | None, threads: float | None, window_s: float, found: Sequence[ProcessUse]) -> float | None:
    """Of the CPUs that the driver had, or of its threads where they are fewer."""
    granted = len({cpu for one in found if one.role == "driver" for cpu in one.cpus}) or None
    could = min(x for x in (granted, threads) if x) if granted or threads else None
    return cpu_ns / 1e9 / window_s / could if cpu_ns is not None and could else None


def _by_name(found: Iterable[ProcessUse]) -> tuple[ProcessUse, ...]:
    """Copies of a service as one process, which has the CPUs and the tasks of all."""
    copies: dict[str, list[ProcessUse]] = {}
    for one in found:
        copies.setdefault(one.name, []).append(one)
    return tuple(each[0] if len(each) == 1 else _together(each) for each in copies.values())


def _together(each: Sequence[ProcessUse]) -> ProcessUse:
    n_tasks = [one.n_tasks for one in each if one.n_tasks is not None]
    kinds = set.intersection(*(set(one.stalls) for one in each))
    return ProcessUse(
        name=each[0].name, role=each[0].role, cpus=frozenset().union(*(one.cpus for one in each)),
        used=sum(one.used for one in each), waited=_waited(each), ready=_sum(one.ready for one in each),
        n_tasks=sum(n_tasks) if len(n_tasks) == len(each) else None,
        stalls={kind: max(one.stalls[kind] for one in each) for kind in sorted(kinds)},
        quota=each[0].quota, throttled=each[0].throttled,
    )  # fmt: skip


def _waited(each: Sequence[ProcessUse]) -> float | None:
    """That of all copies, each by the time in which it was ready."""
    whole, waited = _sum(one.ready for one in each), _sum(one.waited for one in each)
    if waited is None or not whole:
        return None if waited is None else waited / len(each)
    return sum((one.waited or 0.0) * (one.ready or 0.0) for one in each) / whole


def _sum(values: Iterable[float | None]) -> float | None:
    """None where one is not known."""
    found = list(values)
    known = [x for x in found if x is not None]
    return sum(known) if len(known) == len(found) else None


def _use(record: Record, one: ProcessEvent, cpu_ns: int) -> ProcessUse:
    masks = [copy.in_force.cpus for copy in record.copies if copy.command == one.command and copy.in_force]
    ready = cpu_ns + (one.wait_ns or 0)
    stalls = {
        "io": _over(one.io_stall_ns, record.run.wall_ns),
        "memory": _over(one.memory_stall_ns, record.run.wall_ns),
    }
    return ProcessUse(
        name=one.name, role=one.role, used=_used(record, one),
        cpus=frozenset(cpu for mask in masks for cpu in mask) or frozenset(one.cpus or ()),
        waited=one.wait_ns / ready if one.wait_ns is not None and ready else None, n_tasks=one.n_tasks,
        stalls={kind: share for kind, share in stalls.items() if share is not None},
        quota=one.quota_cpus, throttled=_over(one.throttled_ns, record.run.wall_ns),
        ready=_over(ready, record.run.wall_ns) if one.wait_ns is not None else None,
    )  # fmt: skip


def _used(record: Record, one: ProcessEvent) -> float:
    """CPU in use in the steady window, by the bins of the timeline in it; else over the whole run."""
    span, timeline, busy = _span(record), record.timeline, one.busy_ns or ()
    if span is not None and timeline is not None:
        first, last = -(-span[0] // timeline.bin_ns), span[1] // timeline.bin_ns
        bins = busy[max(first, 0) : last]
        if len(bins) >= FEWEST_BINS:
            return float(sum(bins) / len(bins) / timeline.bin_ns)
    return float(_over(one.cpu_ns, record.run.wall_ns) or 0.0)


START, WARM_UP, END, STOP, WHOLE = "start until ready", "start, warm-up", "end", "stop", "whole run"
# Phases of a driver, in their order.
PHASES = ("ramp", "steady", "down")


class RunPart(NamedTuple):
    """One part of a run; `process` is empty of what is no single one's."""

    process: str
    what: str
    seconds: float


def run_parts(record: Record) -> list[RunPart]:
    """Return the parts of a run of services and a driver, in order of time; none of a run without services.

    Copies of a service come up one after the other, and are ended so: their seconds add up.
    """
    services = [one for one in record.processes if one.role == "service"]
    if not services or record.run.wall_ns is None:
        return []
    found = dict[tuple[str, str], float]()
    for process, what, seconds in _timed(record):
        found[process, what] = found.get((process, what), 0.0) + seconds
    begin_s = min((one.start_ns or 0 for one in record.processes), default=0) / 1e9
    stop_s = sum(one.stop_ns or 0 for one in services) / 1e9
    found["", WHOLE] = record.run.wall_ns / 1e9 - begin_s + stop_s
    return [RunPart(process, what, seconds) for (process, what), seconds in found.items()]


def _timed(record: Record) -> Iterator[RunPart]:
    by_role = {role: [one for one in record.processes if one.role == role] for role in ("service", "driver")}
    for one in by_role["service"]:
        if one.ready_ns is not None:
            yield RunPart(one.name, START, one.ready_ns / 1e9)
    for one in by_role["driver"]:
        yield from _of_driver(record, one.name, max(_ready_at(service) for service in by_role["service"]))
    for one in reversed(by_role["service"]):
        if one.stop_ns is not None:
            yield RunPart(one.name, STOP, one.stop_ns / 1e9)


def _ready_at(service: ProcessEvent) -> int:
    return (service.start_ns or 0) + (service.ready_ns or 0)


def _of_driver(record: Record, driver: str, from_ns: int) -> Iterator[RunPart]:
    """The phases of the first copy that tells, for copies have the same, and what is before and after them."""
    said = {phase.name: phase for copy in reversed(record.phases) for phase in copy.phases}
    phases = [said[name] for name in PHASES if name in said]
    if not phases:
        return
    yield RunPart(driver, WARM_UP, (phases[0].start_ns - from_ns) / 1e9)
    for phase in phases:
        yield RunPart(driver, phase.name, (phase.end_ns - phase.start_ns) / 1e9)
    yield RunPart(driver, END, ((record.run.wall_ns or 0) - phases[-1].end_ns) / 1e9)


def stop_parts(ended: ServicesEnded) -> list[RunPart]:
    """Return how long services that stayed up over runs took to end, copies of one together."""
    found = dict[str, float]()
    for one in reversed(ended.services):
        if one.stop_ns is not None:
            found[one.name] = found.get(one.name, 0.0) + one.stop_ns / 1e9
    return [RunPart(name, STOP, seconds) for name, seconds in found.items()]


# From this share on they end a load that nothing else ends.
WRONG = 0.01
# What became of them, by the driver's values `errors_KIND`; `waiting` is its own, which had no connection left.
KINDS = ("connect", "closed", "timeout", "malformed", "status", "content")
UNKNOWN = "answer"
# As many connections dropped for each request end a load that nothing else ends.
DROPPED = 0.01


def wrong_requests(runs: Sequence[DrivenRun]) -> tuple[str, float]:
    """Return what became of most requests without a right answer, and the share of all such requests.

    Args:
        runs: of one treatment.

    Returns:
        One of `KINDS`, or `UNKNOWN` where no driver tells; and the share of the requests of all runs.
    """
    kinds: Counter[str] = Counter()
    for run in runs:
        kinds.update({kind: run.wrong.get(kind, 0) for kind in KINDS} if run.wrong else {UNKNOWN: run.n_errors})
    n_requests = sum(run.n_requests for run in runs)
    kind, _ = max(kinds.items(), key=lambda one: one[1], default=(UNKNOWN, 0))
    return kind, kinds.total() / n_requests if n_requests else 0.0


def dropped_connections(runs: Sequence[DrivenRun]) -> float | None:
    """Return the connections that the kernel dropped over the requests of all runs; None where no driver tells."""
    counts = [run.dropped for run in runs if run.dropped is not None]
    n_requests = sum(run.n_requests for run in runs)
    return sum(counts) / n_requests if counts and len(counts) == len(runs) and n_requests else None
