"""Break-even in tables: the line by levels, and the measured pairs."""

from collections.abc import Mapping, Sequence
from math import exp
from statistics import median

from scalograph.findings.table import Table
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.questions.break_even.document import BreakEven
from scalograph.questions.break_even.model import SURE, RatioSurface
from scalograph.questions.break_even.model_mean import ComparisonSpace
from scalograph.text.format import version_name
from scalograph.text.quantities import axis_value

KIND_WORDS = {
    "from": "from there on", "until": "up to there", "always": "always", "never": "never",
    "several": "in several regions", "undecided": "inconclusive", "unmeasured": "not measured",
}  # fmt: skip


def break_even_tables(
    table: Table, space: ComparisonSpace, pairs: Mapping[int, Sequence[float]], surface: RatioSurface, result: BreakEven
) -> list[TableDoc]:
    """Make a table of the line at every configuration, and one of the pairs (point index -> log ratios)."""
    return [_lines(table, result), _pairs(table, space, pairs, surface)]


def _lines(table: Table, result: BreakEven) -> TableDoc:
    first, other = result.maps[0], version_name(result.factor, result.other)
    x, names = first.x, [*first.group, *([first.y] if first.y else [])]
    unit = table.view.unit(x)
    columns = table.view.factor_columns(names)
    columns += [
        Column(name=f"{other} is faster", kind="label" if not names else "text"),
        *(Column(name=name, unit=unit) for name in (table.view.title(x), "not below", "not above")),
    ]
    rows: list[list[Cell]] = []
    for m in result.maps:
        for line in m.lines:
            levels = [*m.group.values(), *([line.level] if m.y else [])]
            rows.append([*map(axis_value, levels), KIND_WORDS[line.kind], line.location, line.low, line.high])
    return TableDoc(id="break-even-line", title=f"Where {other} breaks even", columns=columns, rows=rows)


def _pairs(
    table: Table, space: ComparisonSpace, pairs: Mapping[int, Sequence[float]], surface: RatioSurface
) -> TableDoc:
    columns = table.view.factor_columns(space.names)
    over = f"time of {version_name(space.factor, space.other)} over {version_name(space.factor, space.baseline)}"
    columns += [Column(name="pairs"), Column(name=f"{over}, measured")]
    columns += [Column(name=f"{over}, by all pairs", kind="text")]
    mean, sd = surface(space.coordinates()[[*pairs]])
    rows: list[list[Cell]] = []
    for (index, gs), m, s in zip(pairs.items(), mean, sd, strict=True):
        ends = "{:.3g} [{:.3g}, {:.3g}]".format(*(exp(g) for g in (m, m - SURE * s, m + SURE * s)))
        middle = float(f"{exp(median(gs)):.4g}")
        rows.append([*map(axis_value, space.points[index]), len(gs), middle, ends])
    return TableDoc(id="break-even-pairs", title="Pairs that were measured", columns=columns, rows=rows)
