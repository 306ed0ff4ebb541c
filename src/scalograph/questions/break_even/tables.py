"""Break-even in tables: the line by levels, and the measured pairs."""

from collections.abc import Mapping, Sequence
from math import exp
from operator import itemgetter
from statistics import median

from scalograph.findings.answer import level_columns, tabulate
from scalograph.findings.table import Table
from scalograph.protocol.findings import TableDoc
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
    names, title, unit = [*first.group, *filter(None, [first.y])], table.view.title(first.x), table.view.unit(first.x)
    lines = [({**m.group, m.y: line.level}, line) for m in result.maps for line in m.lines]
    return tabulate("break-even-line", f"Where {other} breaks even", lines, [
        *level_columns(table.view, names, lambda x: {name: axis_value(level) for name, level in x[0].items() if name}),
        (f"{other} is faster", "text" if names else "label", lambda x: KIND_WORDS[x[1].kind]),
        (title, "number", lambda x: x[1].location, unit), ("not below", "number", lambda x: x[1].low, unit),
        ("not above", "number", lambda x: x[1].high, unit),
    ])  # fmt: skip


def _pairs(
    table: Table, space: ComparisonSpace, pairs: Mapping[int, Sequence[float]], surface: RatioSurface
) -> TableDoc:
    over = f"time of {version_name(space.factor, space.other)} over {version_name(space.factor, space.baseline)}"
    mean, sd = surface(space.coordinates()[[*pairs]])
    levels = [dict(zip(space.names, map(axis_value, space.points[index]), strict=True)) for index in pairs]
    items = zip(levels, pairs.values(), mean, sd, strict=True)
    return tabulate("break-even-pairs", "Pairs that were measured", items, [
        *level_columns(table.view, space.names, itemgetter(0)), ("pairs", "number", lambda x: len(x[1])),
        (f"{over}, measured", "number", lambda x: float(f"{exp(median(x[1])):.4g}")),
        (f"{over}, by all pairs", "text", lambda x: _ratio_text(*x[2:])),
    ])  # fmt: skip


def _ratio_text(mean: float, sd: float) -> str:
    return "{:.3g} [{:.3g}, {:.3g}]".format(*(exp(g) for g in (mean, mean - SURE * sd, mean + SURE * sd)))
