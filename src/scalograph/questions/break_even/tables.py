"""Break-even in tables: the line by levels, and the pairs that were measured."""

from collections.abc import Mapping, Sequence
from math import exp
from statistics import median

from scalograph.findings.names import title
from scalograph.findings.table import Table
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.questions.break_even.document import BreakEven, EvenLine
from scalograph.questions.break_even.model import SURE, RatioSurface
from scalograph.questions.break_even.model_mean import Pairs
from scalograph.text.format import version_name
from scalograph.text.quantities import place


def break_even_tables(
    table: Table, space: Pairs, pairs: Mapping[int, Sequence[float]], surface: RatioSurface, one: BreakEven
) -> list[TableDoc]:
    """Make a table of the line at every setting, and one of the pairs that were measured.

    Args:
        table: the runs.
        space: what was compared.
        pairs: index of a point -> the score of each pair there: log of the time over the baseline's.
        surface: what these say.
        one: what the search has found.
    """
    return [_lines(table, one), _pairs(table, space, pairs, surface)]


def _lines(table: Table, one: BreakEven) -> TableDoc:
    first, other = one.maps[0], version_name(one.factor, one.other)
    x, names = first.x, [*first.group, *([first.y] if first.y else [])]
    unit = table.study.factors[x].unit
    columns = [Column(name=title(table, n), unit=table.study.factors[n].unit, kind="label") for n in names]
    columns += [
        Column(name=f"{other} is faster", kind="label" if not names else "text"),
        Column(name=title(table, x), unit=unit),
        Column(name="not below", unit=unit),
        Column(name="not above", unit=unit),
    ]
    rows: list[list[Cell]] = []
    for m in one.maps:
        for line in m.lines:
            levels = [*m.group.values(), *([line.level] if m.y else [])]
            rows.append([*map(place, levels), _kind(line), line.location, line.low, line.high])
    return TableDoc(id="break-even-line", title=f"Where {other} breaks even", columns=columns, rows=rows)


def _kind(line: EvenLine) -> str:
    return {
        "from": "from there on",
        "until": "up to there",
        "always": "always",
        "never": "never",
        "several": "in several regions",
        "undecided": "not decided",
        "unmeasured": "not measured",
    }[line.kind]


def _pairs(table: Table, space: Pairs, pairs: Mapping[int, Sequence[float]], surface: RatioSurface) -> TableDoc:
    columns = [Column(name=title(table, n), unit=table.study.factors[n].unit, kind="label") for n in space.names]
    over = f"time of {version_name(space.factor, space.other)} over {version_name(space.factor, space.against)}"
    columns += [
        Column(name="pairs"),
        Column(name=f"{over}, measured"),
        Column(name=f"{over}, by all pairs", kind="text"),
    ]
    mean, sd = surface(space.at()[[*pairs]])
    rows: list[list[Cell]] = []
    for (index, gs), m, s in zip(pairs.items(), mean, sd, strict=True):
        ends = "{:.3g} [{:.3g}, {:.3g}]".format(*(exp(g) for g in (m, m - SURE * s, m + SURE * s)))
        middle = float(f"{exp(median(gs)):.4g}")
        rows.append([*map(place, space.points[index]), len(gs), middle, ends])
    return TableDoc(id="break-even-pairs", title="Pairs that were measured", columns=columns, rows=rows)
