"""Build the matrix of a claim: configurations that are alike share a row."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from scalograph.analysis.estimate import Estimate
from scalograph.findings.sample import Sample
from scalograph.findings.table import Table
from scalograph.protocol.findings import Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import Level
from scalograph.text.cell_numbers import is_resolved
from scalograph.text.short_names import drop_repeats, short_setting, shorten_titles

# Rows that are read at a glance, lines that are compared to join them, and levels that a label has room for.
MOST_ROWS, MOST_LINES, MOST_NAMED = 8, 60, 3
MOST_COLUMNS = 4
# Settings that a label names all of.
MOST_SHORT = 2
MARGIN = 1.1  # ratio within which rows are shown as one
Settings = dict[str, tuple[Level, ...]]


class _Group(NamedTuple):
    """Configurations that are alike: their levels, and for each column the cells of all of them."""

    levels: Settings
    cells: Sequence[Sequence[MatrixCell]]
    kind: Hashable = None


class Line(NamedTuple):
    """A row before it is labelled: the levels of its configurations, a cell for each column."""

    levels: Settings
    cells: tuple[MatrixCell, ...]


def rows(
    table: Table, along: str, columns: Sequence[Level], cells: Iterable[tuple[Sample, MatrixCell]],
    apart: Callable[[Mapping[str, Level]], Hashable] = lambda levels: None,
) -> list[Line]:  # fmt: skip
    """Make the rows, joining those that are alike.

    `apart`: what tells configurations apart that an answer names: those of two kinds never share a row.
    """
    names = [name for name in table.view.varying if name != along]
    by_levels: dict[tuple[Level, ...], dict[Level, MatrixCell]] = {}
    for sample, cell in cells:
        if sample.configuration[along] in columns:
            key = tuple(sample.configuration[name] for name in names)
            by_levels.setdefault(key, {})[sample.configuration[along]] = cell
    lines = []
    for key, row in by_levels.items():
        levels: Settings = {name: (level,) for name, level in zip(names, key, strict=True)}
        kind = apart(dict(zip(names, key, strict=True)))
        lines.append(_Group(levels, [[row.get(column, MatrixCell())] for column in columns], kind))
    # What an answer names has a line, however many there are; to compare all of them would take too long.
    groups = [*_merge_lines(lines[:MOST_LINES]), *lines[MOST_LINES:]]
    return [Line(group.levels, tuple(map(_cell, group.cells))) for group in groups]


def matrix(table: Table, lines: Sequence[Line], columns: Sequence[str], **texts: str) -> Matrix:
    """Label the rows and cut them to those that have room; `texts` are the other fields of the matrix."""
    shown = lines[:MOST_ROWS]
    every = {name: {t[name] for t in table.configurations} for name in (lines[0].levels if lines else ())}
    usual = _usual(table, shown, [name for name, levels in every.items() if len(levels) > 1])
    labels = _labels(table, shown, every, usual)
    # The word that all labels begin with stands above them.
    words = {label.partition(" ")[0] for label in labels}
    is_one = len(words) == 1 < len(labels) and all(label.partition(" ")[2] for label in labels)
    head = words.pop() if is_one and words.isdisjoint("0123456789") else ""
    labels = [label.removeprefix(f"{head} ") if head else label for label in labels]
    matrix_rows = [MatrixRow(label=label, cells=list(line.cells)) for label, line in zip(labels, shown, strict=True)]
    otherwise = f"otherwise {table.view.short_levels(usual)}" if usual else ""
    note = "; ".join(text for text in (texts.pop("note", ""), otherwise) if text)
    fields = {"rows_are": head, "columns": list(columns), "rows": matrix_rows, "note": note}
    return Matrix.model_validate({**fields, **texts})


def _usual(table: Table, lines: Sequence[Line], names: Sequence[str]) -> dict[str, Level]:
    """Find levels that most rows have, where labels would be long; said once for all."""
    levels: dict[str, Level] = {}
    for name in names:
        level, n = Counter(line.levels[name] for line in lines).most_common(1)[0]
        is_most = 2 * n >= len(lines) and len(names) > MOST_SHORT and table.study.factors[name].control != "cpus"
        if len(level) == 1 and (is_most or n == len(lines) > 1):
            levels[name] = level[0]
    return levels


def _labels(
    table: Table, lines: Sequence[Line], every: Mapping[str, set[Level]], usual: Mapping[str, Level]
) -> list[str]:
    """Name what tells the rows apart, in the first words of each title: "lock none, cas; work 2 units"."""
    between = "; " if any(1 < len(v) < len(every[n]) for line in lines for n, v in line.levels.items()) else ", "
    first = dict(zip(every, shorten_titles(table.view.title(name) for name in every), strict=True))
    labels = []
    for line in lines:
        # A row of usual levels alone is named by them: the others are not among "all".
        named = {name: levels for name, levels in line.levels.items() if set(levels) != every[name]}
        rare = {name: levels for name, levels in named.items() if levels != (usual.get(name),)}
        parts = [_level_names(table, name, first[name], levels) for name, levels in (rare or named).items()]
        labels.append(between.join(parts) or "all")
    return labels


def _level_names(table: Table, name: str, first: str, levels: Sequence[Level]) -> str:
    unit, rest = table.view.unit(name), len(levels) - MOST_NAMED
    named = [short_setting(first, level, unit) for level in levels[:MOST_NAMED]]
    return ", ".join([*drop_repeats(named), *([f"{rest} more"] if rest > 0 else [])])


def _merge_lines(lines: list[_Group]) -> list[_Group]:
    while True:
        pair = next((pair for pair in combinations(lines, 2) if _joins(*pair)), None)
        if pair is None:
            return lines
        first, second = pair
        lines = [_join(first, second) if line is first else line for line in lines if line is not second]


def _joins(first: _Group, second: _Group) -> bool:
    """Tell whether one number stands for each pair of their cells: a chain of neighbors is not alike."""
    differ = [name for name in first.levels if first.levels[name] != second.levels[name]]
    columns = zip(first.cells, second.cells, strict=True)
    may_join = first.kind == second.kind and len(differ) == 1
    return may_join and all(_alike(a, b) for ours, theirs in columns for a in ours for b in theirs)


def _alike(first: MatrixCell, second: MatrixCell) -> bool:
    if first.estimate is None or second.estimate is None:
        return first.estimate is second.estimate and first.text == second.text
    return bool(first.doubt) == bool(second.doubt) and are_equivalent(first.estimate, second.estimate)


def are_equivalent(first: Estimate, second: Estimate) -> bool:
    """Tell whether the ratio of two independent estimates above zero is within MARGIN, with its interval.

    >>> are_equivalent(Estimate(1.9, 1.85, 1.95), Estimate(1.92, 1.87, 1.97))
    True
    >>> are_equivalent(Estimate(1.9, 1.7, 2.1), Estimate(1.92, 1.7, 2.2))
    False
    """
    if not (is_resolved(first) and is_resolved(second)):
        return False
    (a, half), (b, other) = _log_interval(first), _log_interval(second)
    return abs(a - b) + math.hypot(half, other) <= math.log(MARGIN)


def _log_interval(e: Estimate) -> tuple[float, float]:
    value, low, high = (math.log(x or 1.0) for x in (e.value, e.low, e.high))
    return value, max(value - low, high - value)


def _join(first: _Group, second: _Group) -> _Group:
    levels = {name: tuple(dict.fromkeys((*first.levels[name], *second.levels[name]))) for name in first.levels}
    cells = [[*ours, *theirs] for ours, theirs in zip(first.cells, second.cells, strict=True)]
    return _Group(levels, cells, first.kind)


def _cell(alike: Sequence[MatrixCell]) -> MatrixCell:
    estimates = [cell.estimate for cell in alike if cell.estimate is not None]
    if len(estimates) < 2:
        return alike[0]
    return MatrixCell(estimate=mean_estimate(estimates), doubt=next((cell.doubt for cell in alike if cell.doubt), ""))


def mean_estimate(estimates: Sequence[Estimate]) -> Estimate:
    """Return the geometric mean of independent estimates above zero, with an interval of its own.

    >>> mean = mean_estimate([Estimate(2.0, 1.9, 2.1), Estimate(2.0, 1.9, 2.1)])
    >>> mean.value, round(mean.low, 3)
    (2.0, 1.929)
    """
    logs, n = [_log_interval(e) for e in estimates], len(estimates)
    middle, half = sum(log for log, _ in logs) / n, math.hypot(*(half for _, half in logs)) / n
    value, low, high = (math.exp(x) for x in (middle, middle - half, middle + half))
    first = estimates[0]
    return Estimate(value, low, high, first.confidence, min(e.n for e in estimates), f"mean of {n} configurations")


def choose_columns(levels: Sequence[Level], needed: Sequence[Level]) -> list[Level]:
    """Choose the levels that have a column: those that are needed, then such that divide the others evenly.

    >>> choose_columns([1, 2, 3, 4, 5, 6, 7], [1, 7])
    [1, 3, 5, 7]
    """
    counts = Counter(levels)
    if len(counts) <= MOST_COLUMNS:
        return list(counts)
    chosen = list(dict.fromkeys(needed))[:MOST_COLUMNS]
    # What few settings have would leave the other rows empty.
    others = [level for level, n in counts.items() if level not in chosen and 2 * n >= max(counts.values())]
    n = min(MOST_COLUMNS - len(chosen), len(others))
    chosen += [others[(2 * i + 1) * len(others) // (2 * n)] for i in range(n)]
    return [level for level in counts if level in chosen]
