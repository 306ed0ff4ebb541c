"""Read responses from a run's record: one observation per iteration, or one per run."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import sub
from statistics import fmean, median

from msgspec import Struct

from scalograph.protocol.record import Record, RunFigures
from scalograph.protocol.record_processes import ProcessEvent
from scalograph.study.model import Study

# Elapsed times that can be corrected for other processes.
ELAPSED = ("window.wall", "run.wall")
# The response that replaces them.
UNDISTURBED = "undisturbed"
# Responses that a neighbor on the CPU hardly changes.
CPU_TIMES = ("window.cpu", "run.cpu", "run.user", "run.system")
CPU_USAGE = "run.cpu_percent"
# Of a driver that sends requests for a time that is set: how much work it did is the answer, and no study declares it.
RATE = "value.rate"
# What the kernel counts for the whole machine, and two of its limits (/proc/vmstat): whether a setting moved anything.
COUNTERS = (
    "nr_dirtied", "nr_written", "nr_throttled_written", "pgpgin", "pgpgout", "pswpin", "pswpout", "pgmajfault",
    "pgscan_kswapd", "pgscan_direct", "pgscan_direct_throttle", "pgsteal_kswapd", "pgsteal_direct", "allocstall",
    "compact_stall", "thp_fault_alloc", "numa_pages_migrated", "nr_dirty_threshold", "nr_dirty_background_threshold",
)  # fmt: skip
# Bins of a timeline that show the use of a window.
FEWEST_BINS = 5
# What replaces a window's figure if no window represents the run: the field of `table.Row` for the whole run.
WHOLE = {"window.undisturbed": "own_s", "window.wall": "wall_s", "window.cpu": "cpu_s"}


class Windows(Struct, frozen=True, gc=False):
    """Iterations of a run in order, each over all copies: first start to last end.

    Attributes:
        wall_s: of each, in s.
        cpu_s: CPU time of each, in s; None where a copy gave none.
        work: units of each, over all copies.
    """

    wall_s: Sequence[float] = ()
    cpu_s: Sequence[float | None] = ()
    work: Sequence[int] = ()


def windows(record: Record) -> Windows:
    """Combine the iterations of all copies; empty where the workload reported none."""
    if len(record.iterations) == 1:  # most runs have one copy: no need to look for the first and the last
        (part,) = record.iterations
        if part.index == list(range(len(part.index))):
            wall_s = [ns / 1e9 for ns in map(sub, part.end_ns, part.start_ns)]
            return Windows(wall_s, [None if cpu is None else cpu / 1e9 for cpu in part.cpu_ns], part.work)
    by_index: dict[int, list[tuple[int, int, int, int | None]]] = {}
    for part in record.iterations:
        figures = zip(part.start_ns, part.end_ns, part.work, part.cpu_ns, strict=True)
        for index, copy in zip(part.index, figures, strict=True):
            by_index.setdefault(index, []).append(copy)
    whole = [_window(by_index[index]) for index in sorted(by_index)]
    return Windows(*map(list, zip(*whole, strict=True))) if whole else Windows()


def _window(copies: list[tuple[int, int, int, int | None]]) -> tuple[float, float | None, int]:
    wall_ns = max(end for _, end, _, _ in copies) - min(start for start, _, _, _ in copies)
    cpus = [cpu for _, _, _, cpu in copies if cpu is not None]
    return wall_ns / 1e9, sum(cpus) / 1e9 if len(cpus) == len(copies) else None, sum(c[2] for c in copies)


def observer(source: str, warmup: int) -> Callable[[Record, Windows], Sequence[float]]:
    """Make the reader of one successful run's observations: seconds, bytes or plain numbers, none where it lacks them.

    `source` is `from` of a response (protocol/study.md); the first `warmup` iterations do not count.
    """
    room, _, name = source.partition(".")
    if room == "value":
        return partial(_values, name)
    if room == "kernel":
        return partial(_single, lambda record, _: (record.counters or {}).get(name))
    whole = partial(_single, _DERIVED[name] if name in _DERIVED else partial(_read_run_value, _fields(name)))
    if room == "process":
        process, _, figure = name.partition(".")
        return partial(_single, partial(_read_process_value, process, figure))
    if room != "window":
        return whole

    def read_windows(record: Record, windows: Windows) -> Sequence[float]:
        if not windows.wall_s:
            return whole(record, windows)
        if name == "wall":
            return windows.wall_s[warmup:]
        return [cpu for cpu in windows.cpu_s[warmup:] if cpu is not None]

    return read_windows


def observe(source: str, record: Record, windows: Windows, warmup: int) -> Sequence[float]:
    """Read the observations of one run, as `observer`."""
    return observer(source, warmup)(record, windows)


def _single(read: "Callable[[Record, Windows], float | None]", record: Record, windows: Windows) -> Sequence[float]:
    value = read(record, windows)
    return () if value is None else (value,)


def middle(numbers: Sequence[float]) -> float:
    """Return the median of at least one number, as `statistics.median` does, in half of its time.

    >>> middle([3, 1, 2]), middle([4, 1, 2, 3])
    (2, 2.5)
    """
    ordered, half = sorted(numbers), len(numbers) // 2
    return ordered[half] if len(numbers) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _values(name: str, record: Record, windows: Windows) -> Sequence[float]:
    if len(record.values) == 1:  # the mean over one copy
        numbers = record.values[0].values.get(name)
        return (float(middle(numbers)),) if numbers else ()
    copies: dict[int, list[float]] = {}
    for part in record.values:
        if numbers := part.values.get(name):
            copies.setdefault(part.copy_index, []).extend(numbers)
    if not copies:
        return ()
    # The mean over the copies: of rates, n times that is the rate of all the work.
    return (fmean(map(median, copies.values())),)


def primary_response(study: Study) -> str:
    """Return the primary response: undisturbed time, the window's wall time, else the first with a direction."""
    wall = [name for name, r in study.responses.items() if r.source in ("window.undisturbed", "run.undisturbed")]
    wall += [name for name, r in study.responses.items() if r.source == "window.wall"]
    directed = [name for name, r in study.responses.items() if r.better != "none"]
    return [*wall, *directed, *study.responses][0]


# A response far below its limit: how far makes no difference, and its log is finite.
LEAST_OVER = 1e-3


def limits_of(study: Study) -> dict[str, float]:
    """Return the limits of the responses that have one, in their units.

    An undisturbed time has the limit of the time that it replaces, which then has none.
    """
    limited = {name: response for name, response in study.responses.items() if response.limit is not None}
    replaced = {
        f"{response.source.partition('.')[0]}.wall" for name, response in limited.items() if name == UNDISTURBED
    }
    return {name: r.limit for name, r in limited.items() if r.source not in replaced and r.limit is not None}


def limited_score(study: Study, scores: Mapping[str, float | None]) -> float | None:
    """Return the primary response of a study with limits, as far over its own as the worst one is over its limit.

    None where one of them has no score; without limits, the score of the primary response.
    """
    name, limits = primary_response(study), limits_of(study)
    if name not in limits or len(limits) == 1:
        return scores.get(name)
    over = [None if (score := scores.get(n)) is None else score / limit for n, limit in limits.items()]
    return None if None in over else limits[name] * max(LEAST_OVER, *(x for x in over if x is not None))


def elapsed_source(study: Study) -> str:
    """Return the source of the primary response if it can be corrected; else empty, as beside one of our name."""
    source = study.responses[primary_response(study)].source
    return source if source in ELAPSED and UNDISTURBED not in study.responses else ""


def run_units() -> dict[str, str]:
    """Return the names after `run.` with their units: `s`, `bytes`, `%` or none."""
    not_numbers = {"status", "reason", "wall_source", "cpu_source", "wait_scope", "degraded"}
    not_numbers |= {"per_cpu_ns", "neighbor_per_cpu_ns", "neighbors", "clock_source_changed"}
    not_numbers |= {"replay", "speed", "others"}
    ends = {"_ns": "s", "_bytes": "bytes"}
    plain = {
        name.removesuffix(end): ends.get(end, "")
        for name in RunFigures.__struct_fields__
        if name not in not_numbers
        for end in [next((end for end in ends if name.endswith(end)), "")]
    }
    return plain | _DERIVED_UNITS


def process_units() -> dict[str, str]:
    """Return the names after `process.NAME.` with their units."""
    return {name: unit for name, (_, unit, _) in _OF_PROCESSES.items()}


def _read_process_value(name: str, figure: str, record: Record, windows: Windows) -> float | None:
    """Return a value over all copies of a process; None where one lacks it."""
    field, unit, together = _OF_PROCESSES[figure]
    values = [getattr(process, field) for process in record.processes if process.name == name]
    if not values or None in values:
        return None
    if figure == "cpu_per_work":
        percent, work = _read_process_value(name, "cpu_percent", record, windows), sum(windows.work)
        return percent / 100 * sum(windows.wall_s) / work if percent is not None and work else None
    if figure == "cpu_percent":
        return _percent_in_window([process for process in record.processes if process.name == name], record)
    return float(together(values) * (1e-9 if unit == "s" else 1))


def _percent_in_window(processes: Sequence[ProcessEvent], record: Record) -> float | None:
    """Return CPU time over the driver's window by the bins in it; over the whole run where they are too few.

    A driver may warm services up before its window, and let the load rise.
    """
    spans = [(min(part.start_ns), max(part.end_ns)) for part in record.iterations if part.start_ns]
    width = record.timeline.bin_ns if record.timeline else None
    if spans and width:
        first, last = -(-min(start for start, _ in spans) // width), max(end for _, end in spans) // width
        busy = [(process.busy_ns or [])[max(first, 0) : last] for process in processes]
        if min(map(len, busy)) >= FEWEST_BINS:
            return 100 * sum(map(sum, busy)) / (width * len(busy[0]))
    wall_ns = record.run.wall_ns
    return 100 * sum(process.cpu_ns or 0 for process in processes) / wall_ns if wall_ns else None


def _fields(name: str) -> Sequence[tuple[str, float]]:
    fields = ((f"{name}_ns", 1e-9), (f"{name}_bytes", 1.0), (name, 1.0))
    return [(field, scale) for field, scale in fields if field in RunFigures.__struct_fields__]


def _read_run_value(fields: Sequence[tuple[str, float]], record: Record, windows: Windows) -> float | None:
    for field, scale in fields:
        value = getattr(record.run, field)
        if value is not None:
            return float(value * scale)
    return None


def _cpu_percent(record: Record, windows: Windows) -> float | None:
    run = record.run
    if windows.wall_s and all(cpu is not None for cpu in windows.cpu_s):
        wall_s = sum(windows.wall_s)
        return 100 * sum(cpu or 0 for cpu in windows.cpu_s) / wall_s if wall_s else None
    return 100 * run.cpu_ns / _tree_wall_ns(run) if run.wall_ns and run.cpu_ns is not None else None


def _tree_wall_ns(run: RunFigures) -> int:
    """Return the time in which the CPU time of a run was used: processes may outlive the last main."""
    return max(run.wall_ns or 0, run.tree_wall_ns or 0)


def tree_ratio(run: RunFigures) -> float:
    """Return how many times as long as its mains the processes of a run lived."""
    return _tree_wall_ns(run) / run.wall_ns if run.wall_ns else 1.0


def _busiest_cpu_share(record: Record, windows: Windows) -> float | None:
    per_cpu = record.run.per_cpu_ns or []
    return max(per_cpu) / sum(per_cpu) if sum(per_cpu) else None


def _startup(record: Record, windows: Windows) -> float | None:
    """Return seconds of starting and ending: process wall time minus first to last window."""
    if not windows.wall_s or record.run.wall_ns is None:
        return None
    if len(record.iterations) == 1:
        first, last = min(record.iterations[0].start_ns), max(record.iterations[0].end_ns)
    else:
        first = min([min(part.start_ns) for part in record.iterations if part.start_ns])
        last = max([max(part.end_ns) for part in record.iterations if part.end_ns])
    return (record.run.wall_ns - (last - first)) / 1e9


def _switches_per_iteration(record: Record, windows: Windows) -> float | None:
    n = record.run.n_switches
    return None if n is None else n / max(1, len(windows.wall_s))


# Of one process: the field of its event, the unit, and what copies together have.
_OF_PROCESSES: Mapping[str, tuple[str, str, Callable[[Sequence[int]], int]]] = {
    "cpu": ("cpu_ns", "s", sum),
    "user": ("user_ns", "s", sum),
    "system": ("system_ns", "s", sum),
    "cpu_percent": ("cpu_ns", "%", sum),
    "cpu_per_work": ("cpu_ns", "s", sum),
    "wait": ("wait_ns", "s", sum),
    "max_rss": ("max_rss_bytes", "bytes", sum),
    "throttled": ("throttled_ns", "s", max),
    "ready": ("ready_ns", "s", max),
    "stop": ("stop_ns", "s", max),
}
_DERIVED: Mapping[str, Callable[[Record, Windows], float | None]] = {
    "cpu_percent": _cpu_percent,
    "busiest_cpu_share": _busiest_cpu_share,
    "startup": _startup,
    "switches_per_iteration": _switches_per_iteration,
}
_DERIVED_UNITS = {"cpu_percent": "%", "busiest_cpu_share": "", "startup": "s", "switches_per_iteration": ""}
