"""Tables of loads: rate, response times, use, and problems, a row for each level; seconds by part."""

from collections.abc import Sequence
from math import floor, log10
from statistics import fmean

from scalograph.analysis.estimate import Estimate
from scalograph.findings.answer import tabulate
from scalograph.findings.driven_runs import QUANTILES, WHOLE, WRONG, RunPart
from scalograph.findings.table import Table
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.questions.throughput.document import LIMITS, LoadedGroup, LoadPoint
from scalograph.text.load_words import used_of_granted
from scalograph.text.quantities import count_noun
from scalograph.text.short_names import join_names

_NOTE = (
    "rate: right answers per second; mean, p50, p90, p99: response times of a run, typical of runs; of all: over all "
    "runs; used: CPUs in use of those available, in the steady window; driver: CPU use of the load generator. "
    "Runs that miss Little's law by more than 5% are excluded"
)
_MAY_LACK = ("mean", "late")  # what some load generators do not report
MOST = 16  # groups that have a table each


def load_tables(table: Table, groups: Sequence[LoadedGroup]) -> list[TableDoc]:
    return [_group_table(table, group, index) for index, group in enumerate(groups[:MOST])]


def _group_table(table: Table, group: LoadedGroup, index: int) -> TableDoc:
    quantiles = [name for name in QUANTILES if any(name in point.quantiles for point in group.points)]
    together = list(dict.fromkeys(name for point in group.points for name in point.together))
    columns = [
        Column(name=table.view.title(group.factor), kind="label"),
        Column(name="rate", unit=table.view.response.unit, kind="estimate"),
        Column(name="mean", unit="s", kind="estimate"),
        *(Column(name=name, unit="s", kind="estimate") for name in quantiles),
        *(Column(name=f"{name} of all", unit="s") for name in together),
        Column(name="wrong", unit="%"), Column(name="late", unit="%"), Column(name="driver", unit="%"),
        Column(name="used", kind="text"), Column(name="flags", kind="text"),
    ]  # fmt: skip
    setting = table.view.group_prefix(group.group).removesuffix(": ")
    heading = "Throughput and response times" + (f", {setting}" if setting else "")
    rows = [_line(point, quantiles, together) for point in group.points]
    values = [[cell.value if isinstance(cell, Estimate) else cell for cell in row] for row in rows]
    needed = [column.name not in _MAY_LACK for column in columns]
    shown = [at for at, needs in enumerate(needed) if needs or any(row[at] is not None for row in values)]
    columns, rows = [columns[at] for at in shown], [[row[at] for at in shown] for row in rows]
    return TableDoc(id=f"throughput-{index}", title=heading, note=_NOTE, columns=columns, rows=rows)


def _line(point: LoadPoint, quantiles: Sequence[str], together: Sequence[str]) -> list[Cell]:
    parts = [(x.names, x.used, x.granted) for x in point.parts if x.kind == "cpu"]
    both = [(names, used, granted) for names, used, granted in parts if used is not None and granted is not None]
    used = [f"{join_names(names)} {used_of_granted(part, granted)}" for names, part, granted in both]
    return [
        point.level, point.rate, point.response, *(point.quantiles.get(name) for name in quantiles),
        *(round(x, 2 - floor(log10(x))) if x else x for x in map(point.together.get, together)),
        round(100 * point.errors, 2), _percent(point.late), _percent(point.driver), "; ".join(used), _flags(point),
    ]  # fmt: skip


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 1)


def _flags(point: LoadPoint) -> str:
    flags = [LIMITS[point.driver_limits]] if point.driver_limits else []
    if point.errors >= WRONG:
        flags.append("wrong answers")
    if point.n_unlawful:
        flags.append(f"{count_noun(point.n_unlawful, 'run')} against Little's law")
    if point.n_unchecked:
        flags.append("Little's law not checked")
    return "; ".join(flags)


ID = "seconds-by-part"
_PARTS_NOTE = (
    "over all runs that succeeded: mean, shortest and longest; copies of a process come up and are ended one after the "
    "other, and count together; what a service restores before it is ready is part of its start"
)


def parts_table(runs: Sequence[Sequence[RunPart]]) -> list[TableDoc]:
    """Tabulate the seconds of these runs by part; empty where no run has any."""
    longest = max(runs, key=len, default=[])
    order = dict.fromkeys((part.process, part.what) for run in (longest, *runs) for part in run)
    keys = sorted(order, key=lambda key: key[1] == WHOLE)  # their sum is the last
    seconds = {key: [part.seconds for run in runs for part in run if (part.process, part.what) == key] for key in keys}
    if not seconds:
        return []
    return [tabulate(ID, "Seconds of a run, by part", seconds.items(), [
        ("process", "text", lambda x: x[0][0] or "all"), ("part", "text", lambda x: x[0][1]),
        ("mean", "number", lambda x: round(fmean(x[1]), 3), "s"),
        ("shortest", "number", lambda x: round(min(x[1]), 3), "s"),
        ("longest", "number", lambda x: round(max(x[1]), 3), "s"), ("runs", "number", lambda x: len(x[1])),
    ], _PARTS_NOTE)]  # fmt: skip
