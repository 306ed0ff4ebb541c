"""Phases of a build, and its load from start to end."""

from scalograph.findings.names import title, varied
from scalograph.findings.table import Table
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.questions.parallel_build.document import Builds
from scalograph.questions.parallel_build.model_parallelism import N_PARTS

_PHASES = (
    "image: one call of make; modules: one call after another, each of one directory, so that no job of the next one "
    "begins before the last of this one has ended; runnable: tasks on a CPU, or waiting for one after a preemption"
)
_LOAD = (
    "tasks on a CPU, and those that were preempted and wait for one, in each tenth of the time from the start of the "
    "work to its end, mean of the runs that count: the load, before any smoothing; a task that was woken and has not "
    "run yet is not in it"
)


def phases_table(table: Table, found: Builds) -> TableDoc | None:
    """A row for each phase of each configuration; None where builds have no phases, or one only."""
    if len({one.phase for one in found.phases}) < 2:
        return None
    rows: list[list[Cell]] = [
        [
            *(one.treatment[name] for name in _shown(table)),
            one.phase,
            one.share,
            one.cpu_percent,
            one.tasks,
            one.runnable,
        ]
        for one in found.phases
    ]
    columns = [
        *_labels(table),
        Column(name="phase", kind="label"),
        Column(name="share of the wall time", kind="estimate"),
    ]
    columns += [Column(name="CPU %", unit="%", kind="estimate"), Column(name="tasks on a CPU", kind="estimate")]
    columns.append(Column(name="runnable tasks", kind="estimate"))
    return TableDoc(id="phases", title="Phases of a build", note=_PHASES, columns=columns, rows=rows)


def load_table(table: Table, found: Builds) -> TableDoc | None:
    """The load of each configuration by tenth; None where no timeline tells of waits."""
    if not found.loads:
        return None
    rows: list[list[Cell]] = [
        [*(one.treatment[name] for name in _shown(table)), *(round(tasks, 2) for tasks in one.course)]
        for one in found.loads
    ]
    columns = [*_labels(table), *(Column(name=f"to {100 * (part + 1) // N_PARTS} %") for part in range(N_PARTS))]
    return TableDoc(id="load", title="Runnable tasks from start to end", note=_LOAD, columns=columns, rows=rows)


def _labels(table: Table) -> list[Column]:
    return [
        Column(name=title(table, name), unit=table.study.factors[name].unit, kind="label") for name in _shown(table)
    ]


def _shown(table: Table) -> list[str]:
    return varied(table) or list(table.study.factors)
