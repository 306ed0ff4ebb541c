"""Build the matrix of a claim: configurations that are alike share a row."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from scalograph.analysis.estimate import Estimate
from scalograph.findings.sample import Sample
from scalograph.findings.table import Table
from scalograph.protocol.findings import Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import Level
from scalograph.text.short_names import short_setting, shorten_titles

# Rows that are read at a glance, lines that are looked through to find them, and levels that a label has room for.
MOST_ROWS, MOST_LINES, MOST_NAMED = 8, 60, 3
MOST_COLUMNS = 4
# Settings that a label names all of.
MOST_SHORT = 2
Settings = dict[str, tuple[Level, ...]]


class _Group(NamedTuple):
    """Configurations that are alike: their levels, and for each column the cells of all of them."""

    levels: Settings
    cells: Sequence[Sequence[MatrixCell]]


class Line(NamedTuple):
    """A row before it is labelled: the levels of its configurations, a cell for each column."""

    levels: Settings
    cells: tuple[MatrixCell, ...]


def rows(table: Table, along: str, columns: Sequence[Level], cells: Iterable[tuple[Sample, MatrixCell]]) -> list[Line]:
    """Make the rows, joining those that are alike."""
    names = [name for name in table.view.varying if name != along]
    by_levels: dict[tuple[Level, ...], dict[Level, MatrixCell]] = {}
    for sample, cell in cells:
        if sample.configuration[along] in columns:
            key = tuple(sample.configuration[name] for name in names)
            by_levels.setdefault(key, {})[sample.configuration[along]] = cell
    lines = []
    for key, row in by_levels.items():
        levels: Settings = {name: (level,) for name, level in zip(names, key, strict=True)}
        lines.append(_Group(levels, [[row.get(column, MatrixCell())] for column in columns]))
    return [Line(group.levels, tuple(map(_cell, group.cells))) for group in _merge_lines(lines[:MOST_LINES])]


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
    return ", ".join([*_drop_repeats(named), *([f"{rest} more"] if rest > 0 else [])])


def _drop_repeats(named: Sequence[str]) -> list[str]:
    first, *rest = named
    head = first.rpartition(" ")[0]
    return [first, *(text.removeprefix(f"{head} ") if head and not head[0].isdigit() else text for text in rest)]


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
    return len(differ) == 1 and all(_alike(a, b) for ours, theirs in columns for a in ours for b in theirs)


def _alike(first: MatrixCell, second: MatrixCell) -> bool:
    if first.estimate is None or second.estimate is None:
        return first.estimate is second.estimate and first.text == second.text
    return overlaps(first.estimate, second.estimate)


def overlaps(first: Estimate, second: Estimate) -> bool:
    """Tell whether two intervals overlap."""
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return False
    return max(first.low, second.low) <= min(first.high, second.high)


def _join(first: _Group, second: _Group) -> _Group:
    levels = {name: tuple(dict.fromkeys((*first.levels[name], *second.levels[name]))) for name in first.levels}
    return _Group(levels, [[*ours, *theirs] for ours, theirs in zip(first.cells, second.cells, strict=True)])


def _cell(alike: Sequence[MatrixCell]) -> MatrixCell:
    estimates = [cell.estimate for cell in alike if cell.estimate is not None]
    if len(estimates) < 2:
        return alike[0]
    return MatrixCell(estimate=envelope(estimates), doubt=next((cell.doubt for cell in alike if cell.doubt), ""))


def envelope(estimates: Sequence[Estimate]) -> Estimate:
    """Return the middle of estimates above zero, with an interval that holds all of theirs."""
    values = [e.value for e in estimates if e.value]
    lows, highs = [e.low for e in estimates if e.low], [e.high for e in estimates if e.high]
    middle = (min(values) * max(values)) ** 0.5
    return Estimate(middle, min(lows), max(highs), estimates[0].confidence, min(e.n for e in estimates), "a group")


def choose_columns(levels: Sequence[Level], needed: Sequence[Level]) -> list[Level]:
    """Choose the levels that have a column: those that are needed, then such that divide the others evenly.

    Args:
        levels: of each configuration, in order.
        needed: those to have in any case.

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
