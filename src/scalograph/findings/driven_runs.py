"""Read a run with a driver and services: its rate, response times, and the CPU time of each process."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import NamedTuple

from scalograph.protocol.record import Record
from scalograph.protocol.record_processes import ProcessEvent, ServicesEnded
from scalograph.protocol.response_times import Counts, quantile, steady_counts
from scalograph.verdict.little import DriverLoad, DriverValues, driver_load, driver_values, request_mean, sum_values

# A driver that starts so many requests late, or uses so much of its CPUs, measures itself.
LATE, DRIVER_CPU = 0.01, 0.90
SPARE = 1 / 3  # beyond this share of its CPUs the driver could not send three times as many requests
# Fewer bins of a timeline do not show a window.
FEWEST_BINS = 5
# What a driver writes to stderr before the first request without a right answer, of which so many characters are told.
FIRST, MOST_WORDS = "; first: ", 160
ERRORS = "errors_"  # values of a driver: errors_connect, errors_status,
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
SPANS = ("p50", "p95", "p99")  # of the answers of each second


@dataclass(frozen=True, slots=True)
class PoolUse:
    """Use of a pool, of connections say, as its service reports it: all copies together.

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
    """One process of a run, with all its descendants.

    Attributes:
        role: `service` or `driver`.
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
    """One run in its steady window: reports of its driver and measurements; None where not known.

    Attributes:
        sent: all answers per second.
        wrong: wrong answers by what became of them; empty where the driver does not tell.
        late: share of the requests that began more than 1 ms after they could.
        own_late: the same without the time in which the driver was ready and had no CPU.
        driver: CPU of the driver over the CPUs that it could use.
        ceiling: rate of the driver on an empty page.
        quota: CPUs' worth of time that the run was granted.
        throttled: share of the run for which that was used up.
        counts: right answers by response time.
        first_wrong: what became of the first request without a right answer, as the driver tells it.
        dropped: connections that the kernel dropped, the queue of a listening socket being full.
        seconds: in each second, right answers (`rate`) and quantiles of their times (`p50`, `p95`, `p99`, s).
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
    seconds: Mapping[str, Sequence[float]] = field(default_factory=dict)

    @property
    def late_by_driver(self) -> float | None:
        """Return the share of requests that the driver itself began late; all late ones where it cannot tell."""
        return self.late if self.own_late is None else self.own_late


def driven_run(record: Record) -> DrivenRun | None:
    """Read the driver's reports and the processes of a run.

    None where no driver told a rate and a count of requests. Several copies of a driver are taken together;
    quantiles are those of all their answers together, where the copies told histograms.
    """
    load, reports = driver_load(record), driver_values(record)
    if load is None:
        return None
    start, end = _span(record) or (0, record.run.wall_ns or 0)
    n, errors, window_s = load.n_requests, load.n_errors, max(end - start, 1) / 1e9
    processes = _merge_copies(_process_use(record, p, p.cpu_ns) for p in record.processes if p.cpu_ns is not None)
    counts = steady_counts(record.histograms)
    return DrivenRun(
        **{p.name: getattr(load, p.name) for p in fields(load)},
        sent=load.rate * n / (n - errors) if n > errors else n / window_s, wrong=_wrong(reports),
        quantiles_s=_quantiles(reports, counts), counts=counts,
        late=request_mean(reports, "late_share"), own_late=request_mean(reports, "own_late_share"),
        ceiling=sum_values(reports, "ceiling"),
        processes=processes, quota=record.run.quota_cpus,
        driver=_driver_usage(sum_values(reports, "driver_cpu_ns"), sum_values(reports, "threads"), window_s, processes),
        throttled=_divide(record.run.throttled_ns, record.run.wall_ns), dropped=_listen_drops(reports),
        first_wrong=_first_wrong(record) if errors else "", pool=_pool(reports), seconds=_seconds(reports),
    )  # fmt: skip


def _seconds(reports: Sequence[DriverValues]) -> dict[str, list[float]]:
    """Read what one driver tells of each second; that of several cannot be joined."""
    values = reports[0] if len(reports) == 1 else {}
    factors = {"rate": ("rate_second", 1.0), **{name: (f"{name}_second_ns", 1e-9) for name in SPANS}}
    return {name: [x * factor for x in values[key]] for name, (key, factor) in factors.items() if values.get(key)}


def _pool(reports: Sequence[DriverValues]) -> PoolUse | None:
    """Read the pool: copies of a driver ask the same services."""
    names = ("pool_size", "pool_busy", "pool_wait_ns")
    numbers = next(([values[name][-1] for name in names] for values in reports if all(map(values.get, names))), None)
    return PoolUse(numbers[0], numbers[1], numbers[2] / 1e9) if numbers and numbers[0] > 0 else None


def _wrong(reports: Sequence[DriverValues]) -> dict[str, int]:
    kinds = sorted({name for values in reports for name in values if name.startswith(ERRORS)})
    counts = {name: int(sum(values[name][-1] for values in reports if values.get(name))) for name in kinds}
    return {name.removeprefix(ERRORS): n for name, n in counts.items()}


def _listen_drops(reports: Sequence[DriverValues]) -> int | None:
    """Read dropped connections: copies of a driver read the same counter, one later than another."""
    counts = [int(values["listen_drops"][-1]) for values in reports if values.get("listen_drops")]
    return max(counts) if len(counts) == len(reports) else None


def _quantiles(reports: Sequence[DriverValues], counts: Counts) -> dict[str, float]:
    if len(reports) == 1:
        return {name: reports[0][f"{name}_ns"][-1] / 1e9 for name in QUANTILES if reports[0].get(f"{name}_ns")}
    values = {name: quantile(counts, share) for name, share in QUANTILES.items()}
    return {name: value for name, value in values.items() if value is not None}


def _divide(part: int | None, whole: int | None) -> float | None:
    return part / whole if part is not None and whole else None


def _span(record: Record) -> tuple[int, int] | None:
    """Return the steady window since the gate, ns; None where the driver marks none."""
    spans = [(min(part.start_ns), max(part.end_ns)) for part in record.iterations if part.start_ns]
    return (min(start for start, _ in spans), max(end for _, end in spans)) if spans else None


def _first_wrong(record: Record) -> str:
    lines = [line for copy in record.driver_copies() for line in copy.stderr_tail.splitlines()]
    text = next((line.partition(FIRST)[2] for line in reversed(lines) if FIRST in line), "")
    return "".join(c if c.isprintable() else "?" for c in text[:MOST_WORDS])


def _driver_usage(
    cpu_ns: float | None, threads: float | None, window_s: float, processes: Sequence[ProcessUse]
) -> float | None:
    """Return CPU use over the CPUs that the driver had, or over its threads where they are fewer."""
    granted = len({cpu for p in processes if p.role == "driver" for cpu in p.cpus}) or None
    could = min(x for x in (granted, threads) if x) if granted or threads else None
    return cpu_ns / 1e9 / window_s / could if cpu_ns is not None and could else None


def _merge_copies(processes: Iterable[ProcessUse]) -> tuple[ProcessUse, ...]:
    copies: dict[str, list[ProcessUse]] = {}
    for p in processes:
        copies.setdefault(p.name, []).append(p)
    return tuple(each[0] if len(each) == 1 else _merge_processes(each) for each in copies.values())


def _merge_processes(each: Sequence[ProcessUse]) -> ProcessUse:
    n_tasks = [p.n_tasks for p in each if p.n_tasks is not None]
    kinds = set.intersection(*(set(p.stalls) for p in each))
    return ProcessUse(
        name=each[0].name, role=each[0].role, cpus=frozenset().union(*(p.cpus for p in each)),
        used=sum(p.used for p in each), waited=_wait_share(each), ready=fold_all(sum, (p.ready for p in each)),
        n_tasks=sum(n_tasks) if len(n_tasks) == len(each) else None,
        stalls={kind: max(p.stalls[kind] for p in each) for kind in sorted(kinds)},
        quota=each[0].quota, throttled=each[0].throttled,
    )  # fmt: skip


def _wait_share(each: Sequence[ProcessUse]) -> float | None:
    whole, waited = fold_all(sum, (p.ready for p in each)), fold_all(sum, (p.waited for p in each))
    if waited is None or not whole:
        return None if waited is None else waited / len(each)
    return sum((p.waited or 0.0) * (p.ready or 0.0) for p in each) / whole


def fold_all(fold: Callable[[Iterable[float]], float], values: Iterable[float | None]) -> float | None:
    """Fold the values; None where one of them is not known."""
    every = list(values)
    present = [x for x in every if x is not None]
    return fold(present) if len(present) == len(every) else None


def _process_use(record: Record, process: ProcessEvent, cpu_ns: int) -> ProcessUse:
    masks = [copy.in_force.cpus for copy in record.copies if copy.command == process.command and copy.in_force]
    ready = cpu_ns + (process.wait_ns or 0)
    wall_ns = record.run.wall_ns
    stalls = {"io": _divide(process.io_stall_ns, wall_ns), "memory": _divide(process.memory_stall_ns, wall_ns)}
    return ProcessUse(
        name=process.name, role=process.role, used=_cpu_usage(record, process),
        cpus=frozenset(cpu for mask in masks for cpu in mask) or frozenset(process.cpus or ()),
        waited=process.wait_ns / ready if process.wait_ns is not None and ready else None, n_tasks=process.n_tasks,
        stalls={kind: share for kind, share in stalls.items() if share is not None},
        quota=process.quota_cpus, throttled=_divide(process.throttled_ns, wall_ns),
        ready=_divide(ready, wall_ns) if process.wait_ns is not None else None,
    )  # fmt: skip


def _cpu_usage(record: Record, process: ProcessEvent) -> float:
    """Return CPUs in use in the steady window, from timeline bins; else over the whole run."""
    span, timeline, busy = _span(record), record.timeline, process.busy_ns or ()
    if span is not None and timeline is not None:
        first, last = -(-span[0] // timeline.bin_ns), span[1] // timeline.bin_ns
        bins = busy[max(first, 0) : last]
        if len(bins) >= FEWEST_BINS:
            return float(sum(bins) / len(bins) / timeline.bin_ns)
    return float(_divide(process.cpu_ns, record.run.wall_ns) or 0.0)


START, WARM_UP, END, STOP, WHOLE = "start until ready", "start, warm-up", "end", "stop", "whole run"
PHASES = ("ramp", "steady", "down")  # phases of a driver, in their order


class RunPart(NamedTuple):
    """One part of a run; `process` is empty where it is no single one's."""

    process: str
    what: str
    seconds: float


def run_parts(record: Record) -> list[RunPart]:
    """Return the parts of a run of services and a driver, in order of time; none without services.

    Copies of a service come up one after the other, and are ended so: their seconds add up.
    """
    services = [process for process in record.processes if process.role == "service"]
    if not services or record.run.wall_ns is None:
        return []
    parts = dict[tuple[str, str], float]()
    for process, what, seconds in _iterate_parts(record):
        parts[process, what] = parts.get((process, what), 0.0) + seconds
    begin_s = min((process.start_ns or 0 for process in record.processes), default=0) / 1e9
    stop_s = sum(process.stop_ns or 0 for process in services) / 1e9
    parts["", WHOLE] = record.run.wall_ns / 1e9 - begin_s + stop_s
    return [RunPart(process, what, seconds) for (process, what), seconds in parts.items()]


def _iterate_parts(record: Record) -> Iterator[RunPart]:
    services, drivers = ([p for p in record.processes if p.role == role] for role in ("service", "driver"))
    for process in services:
        if process.ready_ns is not None:
            yield RunPart(process.name, START, process.ready_ns / 1e9)
    ready_ns = max(((service.start_ns or 0) + (service.ready_ns or 0) for service in services), default=0)
    for process in drivers:
        yield from _driver_parts(record, process.name, ready_ns)
    for process in reversed(services):
        if process.stop_ns is not None:
            yield RunPart(process.name, STOP, process.stop_ns / 1e9)


def _driver_parts(record: Record, driver: str, from_ns: int) -> Iterator[RunPart]:
    by_name = {phase.name: phase for copy in reversed(record.phases) for phase in copy.phases}
    phases = [by_name[name] for name in PHASES if name in by_name]
    if not phases:
        return
    yield RunPart(driver, WARM_UP, (phases[0].start_ns - from_ns) / 1e9)
    for phase in phases:
        yield RunPart(driver, phase.name, (phase.end_ns - phase.start_ns) / 1e9)
    yield RunPart(driver, END, ((record.run.wall_ns or 0) - phases[-1].end_ns) / 1e9)


def stop_parts(ended: ServicesEnded) -> list[RunPart]:
    """Return how long services that stayed up over runs took to end, copies of one together."""
    parts = dict[str, float]()
    for service in reversed(ended.services):
        if service.stop_ns is not None:
            parts[service.name] = parts.get(service.name, 0.0) + service.stop_ns / 1e9
    return [RunPart(name, STOP, seconds) for name, seconds in parts.items()]


WRONG = 0.01  # from this share on they end a load that nothing else ends
# What became of them, by the driver's values `errors_KIND`; `waiting` is its own, which had no connection left.
KINDS = ("connect", "closed", "timeout", "malformed", "status", "content")
UNKNOWN = "answer"
DROPPED = 0.01  # as many connections dropped for each request end a load that nothing else ends


def wrong_requests(runs: Sequence[DrivenRun]) -> tuple[str, float]:
    """Return the main cause of wrong answers (of `KINDS`, or `UNKNOWN`), and the share of all wrong ones."""
    kinds: Counter[str] = Counter()
    for run in runs:
        kinds.update({kind: run.wrong.get(kind, 0) for kind in KINDS} if run.wrong else {UNKNOWN: run.n_errors})
    n_requests = sum(run.n_requests for run in runs)
    kind, _ = max(kinds.items(), key=lambda item: item[1], default=(UNKNOWN, 0))
    return kind, kinds.total() / n_requests if n_requests else 0.0


def dropped_connections(runs: Sequence[DrivenRun]) -> float | None:
    """Return the connections that the kernel dropped, per request; None where no driver reports."""
    counts = [run.dropped for run in runs if run.dropped is not None]
    n_requests = sum(run.n_requests for run in runs)
    return sum(counts) / n_requests if counts and len(counts) == len(runs) and n_requests else None
