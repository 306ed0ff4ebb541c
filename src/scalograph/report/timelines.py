"""Timelines as figures take them: checked, and coarse enough for all of them to fit in one page."""

import math
from typing import Any

from scalograph.findings import Findings, TimelineDoc
from scalograph.report.axis import Factors
from scalograph.report.escape import prose, visible
from scalograph.report.format import DASH, number, significant
from scalograph.report.scale import Scale, scale_for

MAX_CELLS = 300_000  # CPUs x bins over all timelines: about 0.4 MB in the page
MAX_TASKS = 12


def timelines(findings: Findings, factors: Factors) -> list[dict[str, Any]]:
    """Every timeline that is whole; one that a degraded probe left empty is passed over."""
    whole = [t for t in findings.timelines if is_whole(t.timeline)]
    cells = sum(len(t.timeline["cpus"]) * len(t.timeline["busy_ns"][0]) for t in whole)
    merge = 1 if cells <= MAX_CELLS else 2 ** math.ceil(math.log2(cells / MAX_CELLS))
    ends = [t.timeline["bin_ns"] * len(t.timeline["waiting_ns"]) for t in whole]
    scale = scale_for("ns", ends)
    return [_timeline(t, merge, scale, factors) for t in whole]


def is_whole(timeline: dict[str, Any]) -> bool:
    """Whether rows and bins agree, as protocol/probe.md has them."""
    cpus, busy, waiting = (timeline.get(name) for name in ("cpus", "busy_ns", "waiting_ns"))
    if not all(isinstance(x, list) and x for x in (cpus, busy, waiting)):
        return False
    assert isinstance(cpus, list) and isinstance(busy, list) and isinstance(waiting, list)
    rows = [*busy, waiting]
    bin_ns = timeline.get("bin_ns")
    numbers = all(isinstance(row, list) and len(row) == len(waiting) and _numeric(row) for row in rows)
    return len(busy) == len(cpus) and numbers and isinstance(bin_ns, int | float) and bin_ns > 0


def _numeric(row: list[Any]) -> bool:
    return all(isinstance(x, int | float) and math.isfinite(x) for x in row)


def _timeline(doc: TimelineDoc, merge: int, scale: Scale, factors: Factors) -> dict[str, Any]:
    timeline = doc.timeline
    bin_ns = timeline["bin_ns"] * merge
    return {
        "title": factors.treatment(doc.treatment) or visible(doc.run),
        "run": visible(doc.run),
        "bin": bin_ns * scale.factor,
        "unit": scale.unit,
        "cpus": [visible(str(cpu)) for cpu in timeline["cpus"]],
        "busy": [[round(100 * x / bin_ns) for x in merged(row, merge)] for row in timeline["busy_ns"]],
        "waiting": [float(f"{x / bin_ns:.3g}") for x in merged(timeline["waiting_ns"], merge)],
        "tasks": _tasks(timeline.get("tasks")),
    }


def merged(row: list[float], merge: int) -> list[float]:
    """Neighboring bins added up.

    >>> merged([1, 2, 3, 4, 5], 2)
    [3, 7, 5]
    """
    return row if merge == 1 else [sum(row[i : i + merge]) for i in range(0, len(row), merge)]


def _tasks(tasks: Any) -> list[list[str]]:
    """Name, CPU time, waiting time and moves of the busiest tasks."""
    listed = [t for t in tasks if isinstance(t, dict)] if isinstance(tasks, list) else []
    cpu = scale_for("ns", [_number(t.get("cpu_ns")) for t in listed])
    wait = scale_for("ns", [_number(t.get("wait_ns")) for t in listed])
    return [
        [
            prose(f"{t.get('name', '')} ({t.get('tid', '?')})"),
            _figure(t.get("cpu_ns"), cpu.factor, cpu.unit),
            _figure(t.get("wait_ns"), wait.factor, wait.unit),
            number(_number(t.get("migrations"))),
        ]
        for t in listed[:MAX_TASKS]
    ]


def _number(x: Any) -> float | None:
    return float(x) if isinstance(x, int | float) and not isinstance(x, bool) else None


def _figure(x: Any, factor: float, unit: str) -> str:
    value = _number(x)
    return DASH if value is None else f"{significant(value * factor)} {unit}"
