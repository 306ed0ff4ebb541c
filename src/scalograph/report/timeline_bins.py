"""Timelines as they lie in findings: checked, in steps that fit into one page, and told in words."""

import math
from statistics import fmean
from typing import Any

from scalograph.text.escape import prose, visible
from scalograph.text.format import DASH, number, significant
from scalograph.text.scale import Scale, scale_for

MAX_TASKS = 12
# The one row of a run whose switches were too many to record each.
TREE = "all"
# Fewer tasks than this on CPUs are one at most, with what comes and goes beside it.
ALONE = 1.25


def drawable(timeline: dict[str, Any]) -> dict[str, Any] | None:
    """The timeline where its rows and bins agree, as protocol/probe.md has them, else None.

    Where switches were too many to record, the tree as a whole is one row, and nobody knows who waited.
    """
    tree = timeline.get("tree_busy_ns")
    if timeline.get("cpus") == [] and isinstance(tree, list):
        timeline = {**timeline, "cpus": [TREE], "busy_ns": [tree], "waiting_ns": None}
    cpus, busy, waiting = (timeline.get(name) for name in ("cpus", "busy_ns", "waiting_ns"))
    if not (isinstance(cpus, list) and isinstance(busy, list) and cpus and len(busy) == len(cpus)):
        return None
    rows = busy if waiting is None and cpus == [TREE] else [*busy, waiting]
    return timeline if _agree(rows) and _is_positive(timeline.get("bin_ns")) else None


def _agree(rows: list[Any]) -> bool:
    return all(isinstance(row, list) and row and len(row) == len(rows[0]) and _numeric(row) for row in rows)


def _is_positive(x: Any) -> bool:
    return isinstance(x, int | float) and x > 0


def _numeric(row: list[Any]) -> bool:
    return all(isinstance(x, int | float) and math.isfinite(x) for x in row)


class Bins:
    """A timeline in the steps in which it is drawn: percent of each CPU, and tasks that waited, where that is known."""

    def __init__(self, timeline: dict[str, Any], merge: int, scale: Scale) -> None:
        bin_ns = timeline["bin_ns"] * merge
        rows = [[x / bin_ns for x in merged(row, merge)] for row in timeline["busy_ns"]]
        waits = [x / bin_ns for x in merged(timeline["waiting_ns"] or [], merge)]
        self.bin_ns, self.width, self.unit = bin_ns, bin_ns * scale.factor, scale.unit
        self.cpus = [visible(str(cpu)) for cpu in timeline["cpus"]]
        self.busy: list[list[int]] = [[round(100 * x) for x in row] for row in rows]
        self.waiting = [float(f"{x:.3g}") for x in waits]
        self.words = in_words(rows, waits)
        self.tasks = _tasks(timeline.get("tasks"))

    @property
    def n(self) -> int:
        """How many steps there are."""
        return len(self.busy[0])

    def most(self) -> int:
        """CPUs that the axis holds: all rows, or what the tree as one row had at most."""
        return max(len(self.cpus), math.ceil(max(self.busy[0]) / 100))


def in_words(busy: list[list[float]], waiting: list[float]) -> str:
    """What a timeline shows, for who does not see it.

    Args:
        busy: for each CPU, the share of each bin for which a task ran there.
        waiting: tasks that waited in each bin; empty where that is not known.

    >>> in_words([[1, 1, 1, 1], [0, 1, 1, 0]], [0, 2, 0, 0])
    'On average 1.5 tasks are on a CPU; for 50 % of the time about one or none. On average 0.5 wait, at most 2.'
    """
    running = [sum(column) for column in zip(*busy, strict=True)]
    alone = sum(x < ALONE for x in running) / len(running)
    most = f"for {100 * alone:.0f} % of the time about one or none"
    told = f"On average {fmean(running):.3g} tasks are on a CPU; {most}."
    if not waiting:
        return f"{told} How many wait is not known: there were too many switches to record each."
    return f"{told} On average {fmean(waiting):.3g} wait, at most {max(waiting):.3g}."


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
