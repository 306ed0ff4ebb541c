"""The numbers of a claim about break-even: the size from which a version is faster, by the other factors."""

from collections.abc import Sequence
from dataclasses import dataclass

from scalograph.analysis.estimate import Estimate
from scalograph.findings.names import title
from scalograph.findings.table import Table
from scalograph.protocol.claim import Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import Level
from scalograph.questions.break_even.document import BreakEven, EvenLine
from scalograph.text.format import level_text, version_name
from scalograph.text.spoken import amount, spoken

# As many as stand beside each other in 80 columns; and as many rows as a claim may have.
MOST_COLUMNS, MOST_ROWS = 4, 24
WORDS = {
    "always": "always", "never": "never", "several": "in parts", "undecided": "not decided",
    "unmeasured": "not measured",
}  # fmt: skip


@dataclass(frozen=True)
class EvenSetting:
    """One line, and the levels of all other factors."""

    group: dict[str, Level]
    levels: dict[str, Level]
    line: EvenLine


def settings(found: BreakEven) -> list[EvenSetting]:
    """Every line of every map."""
    return [
        EvenSetting(one.group, one.group | ({one.y: line.level} if one.y and line.level is not None else {}), line)
        for one in found.maps
        for line in one.lines
    ]


def where_even(line: EvenLine) -> Estimate:
    """The place of a line with the ends that hold it."""
    return Estimate(line.location, line.low, line.high)


def even_matrix(table: Table, found: BreakEven, every: Sequence[EvenSetting], is_alike: bool) -> Matrix | None:
    """A row for each group of the factors that vary, a column for each level of the second axis that tells something.

    Args:
        table: names.
        found: what the search has found.
        every: all lines.
        is_alike: whether the sentence holds all there is, as where all lines are one.
    """
    if len(every) < 2:
        return None
    first = found.maps[0]
    columns = _chosen(found, is_alike)
    maps = found.maps[:MOST_ROWS]
    rows = [MatrixRow(label=_label(one.group) or "all", cells=[_cell(one.lines[i]) for i in columns]) for one in maps]
    x, unit = title(table, first.x), table.study.factors[first.x].unit
    names = [title(table, first.y)] if first.y else []
    heads = [amount(name, "", _plain(first.y_levels[i])) for name in names for i in columns] or [""]
    beats = f"{version_name(found.factor, found.other)} beats {version_name(found.factor, found.baseline)}"
    return Matrix(
        title=f"{x}{f' ({unit})' if unit else ''} from which {beats}", columns=heads, rows=rows,
        rows_are=", ".join(title(table, name) for name in first.group),
        note=f"never: by no more than {100 * found.even:g} % anywhere" if _has(every, "never") else "",
    )  # fmt: skip


def _has(every: Sequence[EvenSetting], kind: str) -> bool:
    return any(s.line.kind == kind for s in every)


def _chosen(found: BreakEven, is_alike: bool) -> list[int]:
    """Both ends, where lines begin and end, and what lies evenly between."""
    n = len(found.maps[0].lines)
    if n <= MOST_COLUMNS:
        return list(range(n))
    if is_alike:
        return [0, n - 1]
    ends = {0, n - 1}
    for one in found.maps:
        placed = [(line.location, i) for i, line in enumerate(one.lines) if line.location is not None]
        ends |= {min(placed)[1], max(placed)[1]} if placed else set()
    even = [round(i * (n - 1) / (MOST_COLUMNS - 1)) for i in range(MOST_COLUMNS)]
    apart = sorted(even, key=lambda i: -min(abs(i - end) for end in ends))
    more = [i for i in apart if i not in ends][: max(MOST_COLUMNS - len(ends), 0)]
    return sorted([*ends, *more])[:12]


def _label(group: dict[str, Level]) -> str:
    return ", ".join(level_text(_plain(x)) for x in group.values())


def _plain(level: Level) -> Level:
    return int(level) if isinstance(level, float) and level.is_integer() else level


def _cell(line: EvenLine) -> MatrixCell:
    if line.location is None:
        return MatrixCell(text=WORDS[line.kind])
    text = f"up to {spoken(where_even(line))}" if line.kind == "until" else ""
    return MatrixCell(estimate=where_even(line), text=text)
