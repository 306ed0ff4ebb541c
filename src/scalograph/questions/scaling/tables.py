"""Tables of scaling laws and of isoefficiency, and sentences about levels that are slower than both neighbors."""

from collections.abc import Iterator, Sequence
from math import exp, log
from typing import NamedTuple

from scalograph.analysis.estimate import BEYOND_CPUS, Estimate, join_flags
from scalograph.findings.answer import level_columns, tabulate
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve, LawDoc, TableDoc
from scalograph.protocol.plain import Level
from scalograph.questions.scaling.document import LocalSlowdown, Swept, SweptCurve
from scalograph.text.cell_numbers import INCONCLUSIVE
from scalograph.text.format import significant
from scalograph.text.quantities import change
from scalograph.text.short_names import is_plural

_NOTE = (
    "universal scalability law, throughput = gamma n / (1 + sigma (n - 1) + kappa n (n - 1)), fitted to the runs of "
    "each curve with relative errors; intervals from the profile likelihood; twice as far: speedup at twice the "
    "largest size, a bracket, on further CPUs of the kind that was measured; refused where they would be of another; "
    "if the same law goes on: a limit that was not reached yet is not in it"
)


def laws_table(table: Table, curves: Sequence[Curve]) -> TableDoc | None:
    """Tabulate the law of each curve; None where no curve has one."""
    shown = [name for name in table.view.varying if name != table.view.curve_factor]
    laws = [(curve.group, curve.law) for curve in curves if curve.law]
    return tabulate("laws", "Scaling laws", laws, [
        *level_columns(table.view, shown, lambda x: x[0]),
        ("serial share sigma", "estimate", lambda x: _serial_share(x[1])),
        ("coherency kappa", "estimate", lambda x: x[1].kappa), ("largest at", "estimate", lambda x: x[1].optimum),
        ("twice as far", "estimate", lambda x: x[1].twice), ("flags", "text", lambda x: join_flags(x[1].flags)),
    ], _NOTE) if laws else None  # fmt: skip


def _serial_share(law: LawDoc) -> Estimate | None:
    """Return sigma; with more workers than CPUs it is no serial share, as the flags say."""
    return None if any(flag.code == BEYOND_CPUS for flag in law.flags) else law.sigma


KEPT = 0.8  # the efficiency for which the size is sought
_FEWEST = 3  # sizes


class _SizeRow(NamedTuple):
    """The efficiency of one number of workers at sizes in order: low end, value, high end."""

    group: dict[str, Level]
    level: Level
    sizes: tuple[float, ...]
    low: tuple[float, ...]
    value: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def text(self) -> str:
        """Return the size from which the efficiency is kept, with its interval."""
        ends = (_reach(self.sizes, self.high), _reach(self.sizes, self.low))
        last, ends = f"over {significant(self.sizes[-1])}", (self.low, self.value, self.high)
        reached = (_reach(self.sizes, each) for each in ends)
        high, value, low = (last if size is None else significant(size) for size in reached)
        return value if value == last else f"{value} [{low}\N{EN DASH}{high}]"


def isoefficiency_table(table: Table, curves: Sequence[Curve]) -> TableDoc | None:
    """Tabulate the problem size that each number of workers needs for an efficiency of 80%.

    The size is the factor of numbers that has the most levels, at least three, beside that of the curves. Sizes between
    measured ones are interpolated, by their logs. Source: Grama, Gupta, and Kumar (1993), Isoefficiency.
    """
    size = _size_factor(table)
    rows = [*_rows_by_workers(curves, size)] if size else []
    if not size or not any(_reach(row.sizes, row.value) is not None for row in rows):
        return None
    shown = [name for name in table.view.varying if name not in (table.view.curve_factor, size)]
    return tabulate(
        "isoefficiency",
        f"Isoefficiency: {table.view.title(size)} needed",
        rows,
        [
            *level_columns(table.view, shown, lambda row: row.group),
            *level_columns(table.view, [table.view.curve_factor], lambda row: {table.view.curve_factor: row.level}),
            (f"{table.view.title(size)} for {KEPT:.0%} efficiency", "text", lambda row: row.text),
        ],
        "smallest size from which the efficiency stays above; interpolated between measured sizes, by their logs",
    )


def _size_factor(table: Table) -> str | None:
    factors = table.study.factors
    levels = {name: {row.configuration[name] for row in table.rows} for name in table.view.varying}
    able = [
        name for name, each in levels.items()
        if name != table.view.curve_factor and factors[name].control is None and len(each) >= _FEWEST
        and all(isinstance(level, int | float) and level > 0 for level in each)
    ]  # fmt: skip
    return max(able, key=lambda name: len(levels[name]), default=None)


def _rows_by_workers(curves: Sequence[Curve], size: str) -> Iterator[_SizeRow]:
    """Yield a row for each number of workers and each group of the other factors."""
    cells: dict[tuple[tuple[tuple[str, Level], ...], Level], list[tuple[float, Estimate]]] = {}
    for curve in curves:
        others = tuple((name, level) for name, level in curve.group.items() if name != size)
        for point in curve.points:
            if point.efficiency and point.efficiency.low is not None and point.efficiency.low != point.efficiency.high:
                cells.setdefault((others, point.level), []).append((float(curve.group[size]), point.efficiency))
    for (others, level), each in cells.items():
        sizes, efficiencies = zip(*sorted(each, key=lambda cell: cell[0]), strict=True)
        ends = [(e.low, e.value, e.high) for e in efficiencies]
        if len(sizes) >= _FEWEST:
            yield _SizeRow(dict(others), level, sizes, *zip(*ends, strict=True))


def _reach(sizes: Sequence[float], efficiency: Sequence[float]) -> float | None:
    """Return the size from which on the efficiency is kept; None if it is not at the largest.

    >>> round(_reach([1, 10, 100], [0.5, 0.7, 0.9]), 1)
    31.6
    """
    first = next((i for i in reversed(range(len(sizes))) if efficiency[i] < KEPT), -1)
    if first == len(sizes) - 1:
        return None
    if first < 0:
        return sizes[0]
    below, above = efficiency[first], efficiency[first + 1]
    share = (KEPT - below) / (above - below)
    return exp(log(sizes[first]) + share * log(sizes[first + 1] / sizes[first]))


# More would be a pattern of the whole curve, which its figure shows.
MOST = 2


def neighbor_sentences(table: Table, levels: Swept | None) -> Iterator[str]:
    """Name levels that are slower than the one below and the one above, the most pronounced first."""
    by_level: dict[int, list[tuple[SweptCurve, LocalSlowdown]]] = {}
    for curve in levels.curves if levels else ():
        for bump in (bump for bump in curve.bumps if bump.shown):
            by_level.setdefault(bump.level, []).append((curve, bump))
    order = sorted(by_level.values(), key=lambda group: -max(bump.slower.low or 0.0 for _, bump in group))
    for group in order[:MOST]:
        yield _sentence(table, group, len(levels.curves) if levels else 0)


def _sentence(table: Table, group: Sequence[tuple[SweptCurve, LocalSlowdown]], n_curves: int) -> str:
    group = sorted(group, key=lambda pair: -(pair[1].slower.low or 0.0))
    curve, bump = group[0]
    who, beside = (table.view.short_levels({curve.factor: level}) for level in (bump.level, bump.above))
    verb = "are" if is_plural(table.view.title(curve.factor), bump.level) else "is"
    text = f"{who} {verb} slower than both {bump.below} and {beside}"
    how, setting = change(bump.slower, "time"), table.view.short_levels(table.view.varying_levels(curve.group))
    more = f"by how much is {INCONCLUSIVE}" if how == INCONCLUSIVE else how
    if n_curves == 1 or not setting:
        return f"{text}: {more}."
    if len(group) == 1:
        return f"{text} with {setting}: {more}."
    return f"{text} in {len(group)} of {n_curves} curves, most with {setting}: {more}."
