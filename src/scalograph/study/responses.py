"""What a response reads from a run's record: one observation for each iteration, or one for the run."""

from collections.abc import Callable, Mapping
from statistics import fmean, median
from typing import NamedTuple

from scalograph.protocol.events import Record, RunFigures
from scalograph.study.model import Study

# Responses that a neighbor on the CPU hardly changes.
CPU_TIMES = ("window.cpu", "run.cpu", "run.user", "run.system")
# What replaces a window's figure if no window represents the run: the field of `table.Row` for the whole run.
WHOLE = {"window.wall": "wall_s", "window.cpu": "cpu_s"}


class Window(NamedTuple):
    """One iteration over all copies: first start to last end, in seconds; `cpu_s` is None if a copy gave none."""

    wall_s: float
    cpu_s: float | None
    work: int


def windows(record: Record) -> list[Window]:
    """Return the iterations of a run in order, each over all of its copies; empty if the workload reported none."""
    found: dict[int, list[tuple[int, int, int, int | None]]] = {}
    for part in record.iterations:
        figures = zip(part.start_ns, part.end_ns, part.work, part.cpu_ns, strict=True)
        for index, copy in zip(part.index, figures, strict=True):
            found.setdefault(index, []).append(copy)
    return [_window(found[index]) for index in sorted(found)]


def _window(copies: list[tuple[int, int, int, int | None]]) -> Window:
    if len(copies) == 1:  # most runs have one copy: no need to look for the first and the last
        ((start, end, work, cpu),) = copies
        return Window((end - start) / 1e9, None if cpu is None else cpu / 1e9, work)
    wall_ns = max(end for _, end, _, _ in copies) - min(start for start, _, _, _ in copies)
    cpus = [cpu for _, _, _, cpu in copies if cpu is not None]
    return Window(wall_ns / 1e9, sum(cpus) / 1e9 if len(cpus) == len(copies) else None, sum(c[2] for c in copies))


def observe(source: str, record: Record, iterations: list[Window], warmup: int) -> list[float]:
    """Return the observations of one run.

    Args:
        source: `from` of a response (protocol/study.md).
        record: of a run that succeeded.
        iterations: its `windows`.
        warmup: number of first iterations that do not count.

    Returns:
        Seconds, bytes or plain numbers; empty if the record has no such figure.
    """
    room, _, name = source.partition(".")
    if room == "window" and iterations:
        counted = iterations[warmup:]
        return [x for x in ((w.wall_s if name == "wall" else w.cpu_s) for w in counted) if x is not None]
    if room == "value":
        copies: dict[int, list[float]] = {}
        for part in record.values:
            copies.setdefault(part.copy_index, []).extend(part.values.get(name, ()))
        # The mean over the copies; n times a mean rate is the rate of all the work.
        values = [median(numbers) for numbers in copies.values() if numbers]
        return [float(fmean(values))] if values else []
    value = _DERIVED[name](record, iterations) if name in _DERIVED else _figure(record, name)
    return [] if value is None else [value]


def primary(study: Study) -> str:
    """Return the response that a study is about: the window's wall time, else the first that has a direction."""
    wall = [name for name, r in study.responses.items() if r.source == "window.wall"]
    directed = [name for name, r in study.responses.items() if r.better != "none"]
    return [*wall, *directed, *study.responses][0]


def figure_units() -> dict[str, str]:
    """Return the names that may follow `run.`, and the unit of each: `s`, `bytes`, `%` or none."""
    not_numbers = {"status", "reason", "wall_source", "cpu_source", "wait_scope", "degraded"}
    not_numbers |= {"per_cpu_ns", "neighbor_per_cpu_ns", "neighbors", "clock_source_changed"}
    ends = {"_ns": "s", "_bytes": "bytes"}
    plain = {
        name.removesuffix(end): ends.get(end, "")
        for name in RunFigures.model_fields
        if name not in not_numbers
        for end in [next((end for end in ends if name.endswith(end)), "")]
    }
    return plain | _DERIVED_UNITS


def _figure(record: Record, name: str) -> float | None:
    for field, scale in ((f"{name}_ns", 1e-9), (f"{name}_bytes", 1.0), (name, 1.0)):
        value = getattr(record.run, field, None)
        if value is not None:
            return float(value * scale)
    return None


def _cpu_percent(record: Record, iterations: list[Window]) -> float | None:
    run = record.run
    if iterations and all(w.cpu_s is not None for w in iterations):
        wall_s = sum(w.wall_s for w in iterations)
        return 100 * sum(w.cpu_s or 0 for w in iterations) / wall_s if wall_s else None
    return 100 * run.cpu_ns / run.wall_ns if run.wall_ns and run.cpu_ns is not None else None


def _busiest_cpu_share(record: Record, iterations: list[Window]) -> float | None:
    per_cpu = record.run.per_cpu_ns or []
    return max(per_cpu) / sum(per_cpu) if sum(per_cpu) else None


def _startup(record: Record, iterations: list[Window]) -> float | None:
    """Return the seconds of starting and ending: process wall minus the time from first to last window."""
    if not iterations or record.run.wall_ns is None:
        return None
    first = min(min(part.start_ns) for part in record.iterations if part.start_ns)
    last = max(max(part.end_ns) for part in record.iterations if part.end_ns)
    return (record.run.wall_ns - (last - first)) / 1e9


def _switches_per_iteration(record: Record, iterations: list[Window]) -> float | None:
    n = record.run.n_switches
    return None if n is None else n / max(1, len(iterations))


_DERIVED: Mapping[str, Callable[[Record, list[Window]], float | None]] = {
    "cpu_percent": _cpu_percent,
    "busiest_cpu_share": _busiest_cpu_share,
    "startup": _startup,
    "switches_per_iteration": _switches_per_iteration,
}
_DERIVED_UNITS = {"cpu_percent": "%", "busiest_cpu_share": "", "startup": "s", "switches_per_iteration": ""}
