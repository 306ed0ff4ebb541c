"""State the claim of a break-even search: from which size a version wins, where it never does, what is open."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import sqrt

from scalograph.analysis.estimate import Estimate
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import Level
from scalograph.questions.break_even.document import BreakEven, BreakEvenLine
from scalograph.text.cell_numbers import capitalize, claim_number, is_resolved, level_range
from scalograph.text.format import level_text, number, version_name
from scalograph.text.quantities import axis_value
from scalograph.text.short_names import is_counted, join_names
from scalograph.verdict.cause import COUNTED

# Pairs that differ by more, in percent, are noisier than the intervals were tried with.
NOISY = 12
# Share of open points below which this is a minor flag.
FEW = 0.05
# Lines that the formula names; the table has all.
NAMED_LINES = 4


def formula_sentence(table: Table, result: BreakEven | None) -> list[str]:
    """State which product of the sizes decides; none for one size, which the claim has stated."""
    if result is None or result.formula is None or len(result.formula.powers) < 2:
        return []
    powers = [(table.view.title(name), power) for name, power in result.formula.powers.items()]
    product = " x ".join(name if abs(power - 1) < 0.005 else f"{name}^{power:.2f}" for name, power in powers)
    limits = [(levels, work) for levels, work in result.formula.work if work is not None]
    shown = limits if len(limits) <= NAMED_LINES else [limits[0], limits[-1]]
    parts = [f"{axis_value(work)}{_levels_text(table, levels)}" for levels, work in shown]
    other = version_name(result.factor, result.other)
    return [f"As a formula: {other} is faster where {product} is above {', '.join(parts)}."]


def break_even_flags(result: BreakEven | None) -> list[str]:
    """Return quality flags, the gravest first: a few open points do not change the others."""
    if result is None:
        return ["nothing is known of break-even"]
    few = result.shares["undecided"] < FEW
    return [*_misfit_flags(result), *open_flags(result)] if few else [*open_flags(result), *_misfit_flags(result)]


def _misfit_flags(result: BreakEven) -> list[str]:
    flags = []
    if result.noise_percent > NOISY:
        flags.append(f"pairs differ by {result.noise_percent:.0f} %: intervals may be too narrow")
    if result.n_off:
        off = f"{result.n_off} of {result.n} pairs {'does' if result.n_off == 1 else 'do'} not fit a smooth surface"
        flags.append(f"{off}: there is a cliff, or runs were slowed")
    return flags


def _levels_text(table: Table, levels: Mapping[str, float]) -> str:
    named = ", ".join(f"{table.view.title(name)} {axis_value(level)}" for name, level in levels.items())
    return f" ({named})" if named else ""


def open_flags(result: BreakEven) -> list[str]:
    """Return what is not decided, and about how many more pairs would decide it."""
    if result.decided:
        return []
    if not (share := 100 * result.shares["undecided"]):
        return [f"{result.n} pairs of runs decide every point, {result.n_more} more would confirm it"]
    more = f"; about {result.n_more} more pairs would decide" if result.n_more else ""
    return [f"{share:.2g} % of the points are not decided after {result.n} pairs of runs{more}"]


# As many as stand beside each other in 80 columns; and as many rows as a claim may have.
MOST_COLUMNS, MOST_ROWS = 4, 24
WORDS = {
    "always": "always", "never": "never", "several": "in parts", "undecided": "not decided",
    "unmeasured": "not measured",
}  # fmt: skip


@dataclass(frozen=True)
class LineConfiguration:
    """One line, and the levels of the factors that its map does not draw."""

    group: dict[str, Level]
    line: BreakEvenLine


def line_estimate(line: BreakEvenLine) -> Estimate:
    """Return the location of a line with its interval."""
    return Estimate(line.location, line.low, line.high)


def break_even_matrix(
    table: Table, result: BreakEven, every: Sequence[LineConfiguration], is_alike: bool
) -> Matrix | None:
    """Make the matrix: a row for each group of factors, a column for each informative level of the second axis.

    `is_alike`: the sentence covers all lines, so that both ends are enough.
    """
    if len(every) < 2:
        return None
    first, columns, maps = result.maps[0], _columns(result, is_alike), result.maps[:MOST_ROWS]
    labels = [", ".join(level_text(_plain_level(x)) for x in m.group.values()) or "all" for m in maps]
    rows = [
        MatrixRow(label=label, cells=[_cell(m.lines[i]) for i in columns])
        for label, m in zip(labels, maps, strict=True)
    ]
    x, unit = table.view.title(first.x), table.view.unit(first.x)
    names = [table.view.title(first.y)] if first.y else []
    heads = [level_range(name, "", _plain_level(first.y_levels[i])) for name in names for i in columns] or [""]
    beats = f"{version_name(result.factor, result.other)} beats {version_name(result.factor, result.baseline)}"
    has_never = any(s.line.kind == "never" for s in every)
    return Matrix(
        title=f"{x}{f' ({unit})' if unit else ''} from which {beats}", columns=heads, rows=rows,
        rows_are=", ".join(table.view.title(name) for name in first.group),
        note=f"never: by no more than {100 * result.even:g} % anywhere" if has_never else "",
    )  # fmt: skip


def _columns(result: BreakEven, is_alike: bool) -> list[int]:
    n = len(result.maps[0].lines)
    if n <= MOST_COLUMNS:
        return list(range(n))
    if is_alike:
        return [0, n - 1]
    ends = {0, n - 1}
    for m in result.maps:
        placed = [(line.location, i) for i, line in enumerate(m.lines) if line.location is not None]
        ends |= {min(placed)[1], max(placed)[1]} if placed else set()
    even = [round(i * (n - 1) / (MOST_COLUMNS - 1)) for i in range(MOST_COLUMNS)]
    apart = sorted(even, key=lambda i: -min(abs(i - end) for end in ends))
    more = [i for i in apart if i not in ends][: max(MOST_COLUMNS - len(ends), 0)]
    return sorted([*ends, *more])[:12]


def _plain_level(level: Level) -> Level:
    return int(level) if isinstance(level, float) and level.is_integer() else level


def _cell(line: BreakEvenLine) -> MatrixCell:
    if line.location is None:
        return MatrixCell(text=WORDS[line.kind])
    text = f"up to {claim_number(line_estimate(line))}" if line.kind == "until" else ""
    return MatrixCell(estimate=line_estimate(line), text=text)


FIGURE = "even"
# Configurations of one kind that are named one by one.
NAMED = 3
# In the order of the sentences: the first is the claim, the next its exception.
KINDS = ("from", "until", "several", "never", "always")


def break_even_claim(table: Table, result: BreakEven | None) -> Claim:
    """State what the search has found, an open end too."""
    if result is None:
        n_lost = sum(row.verdict not in COUNTED for row in table.rows)
        text = f"Cannot be said: of {len(table.rows)} runs {n_lost} were disturbed or failed; too few pairs are left."
        return Claim(sentences=[text], answered=False)
    words = _LineSentences(table, result)
    matrix = break_even_matrix(table, result, words.every, words.is_one)
    sentences = [text for kind in KINDS for text in words.sentences(kind)]
    if not sentences:
        reason = next(iter(open_flags(result)), "no pair has two times")
        return Claim(sentences=[f"Cannot be said: {reason}."], answered=False, matrix=matrix, figure=FIGURE)
    return Claim(sentences=sentences[:3], matrix=matrix, figure=FIGURE)


def common_location(crossing: Sequence[LineConfiguration]) -> Estimate | None:
    """Return the common location of lines whose intervals all overlap; None where they differ."""
    if not crossing or max(s.line.low or 0 for s in crossing) > min(s.line.high or 0 for s in crossing):
        return None
    middles = [s.line.location or 0 for s in crossing]
    ends = min(s.line.low or 0 for s in crossing), max(s.line.high or 0 for s in crossing)
    location = Estimate(sqrt(min(middles) * max(middles)), *ends)
    return location if is_resolved(location) else None


class _LineSentences:
    def __init__(self, table: Table, result: BreakEven) -> None:
        self._table, self._result = table, result
        self.every = [LineConfiguration(m.group, line) for m in result.maps for line in m.lines]
        self._by_kind = {kind: [s for s in self.every if s.line.kind == kind] for kind in KINDS}
        self.is_one = len(self._by_kind["from"]) == len(self.every) and common_location(self.every) is not None
        self._first = next((kind for kind in KINDS if self._by_kind[kind]), None)
        baseline, self._even = version_name(result.factor, result.baseline), f"{100 * result.even:g} %"
        self._beats = f"{version_name(result.factor, result.other)} beats {baseline}"
        self._never = f"{version_name(result.factor, result.other)} never beats {baseline} by more than {self._even}"

    def sentences(self, kind: str) -> list[str]:
        """Return the sentence of one kind: the first with its subject, the others with their configurations."""
        some, is_first = self._by_kind[kind], kind == self._first
        if not some:
            return []
        if kind == "from":
            return [capitalize(f"{self._beats} {self._start_text(some)}.")]
        subject = self._beats if is_first else "it does"
        at, largest = self._configuration_list(some), max(some, key=_location)
        levels = [x for m in self._result.maps for x in m.x_levels]
        size_range = self._level_text(self._result.maps[0].x, min(levels), max(levels))
        texts = {
            "until": f"{subject} only up to {self._size_text(_location_text(largest))}{self._location_name(largest)}",
            "several": f"{subject} in a part of the range only{at}: the map shows where",
            "never": f"{self._never if is_first else 'never'}{at}, over {size_range}",
            "always": f"{subject}, or is within {self._even}{at}, over {size_range}",
        }
        return [capitalize(f"{texts[kind]}.")]

    def _start_text(self, crossing: Sequence[LineConfiguration]) -> str:
        sure = [s.line.sure_to for s in crossing if s.line.sure_to]
        as_far = f", for sure up to {number(float(f'{min(sure):.2g}'))}" if sure else ""
        common = common_location(crossing)
        if common:
            return f"from {self._size_text(claim_number(common))} on{self._agreement_text(crossing)}{as_far}"
        ends = [min(crossing, key=_location), max(crossing, key=_location)][: len(crossing)]
        sizes = [_location_text(s, ends=False) for s in ends]
        same = len({tuple(s.group.values()) for s in ends}) == 1
        group = f" ({self._group_text(ends[0])})" if same and ends[0].group and len(self._result.maps) > 1 else ""
        first = f"{self._size_text(sizes[0])}{self._location_name(ends[0], whole=not same)}"
        second = f", from {sizes[1]}{self._location_name(ends[1], whole=not same, bare=same)}" if len(ends) > 1 else ""
        return f"from {first}{second}{group}{as_far}"

    def _size_text(self, size: str) -> str:
        x = self._result.maps[0].x
        name, unit = self._table.view.title(x), self._table.view.unit(x)
        return f"{size} {name}" if is_counted(name) and not unit else f"{name} {size} {unit}".rstrip()

    def _location_name(self, s: LineConfiguration, whole: bool = True, bare: bool = False) -> str:
        """Name the configuration of a line; `bare`: its level alone, after another one."""
        y, level = self._result.maps[0].y, s.line.level
        named = [number(level) if bare else self._level_text(y, level)] if y and level is not None else []
        named += [self._group_text(s)] if whole and s.group else []
        how = "with" if not y or is_counted(self._table.view.title(y)) else "at"
        return f" {how} {', '.join(named)}" if named else ""

    def _group_text(self, s: LineConfiguration) -> str:
        return ", ".join(self._level_text(name, level) for name, level in s.group.items())

    def _level_text(self, name: str, *levels: Level) -> str:
        return level_range(self._table.view.title(name), self._table.view.unit(name), *map(_plain_level, levels))

    def _agreement_text(self, crossing: Sequence[LineConfiguration]) -> str:
        y, n = self._result.maps[0].y, len(self.every)
        if len(crossing) == 1:
            return self._location_name(crossing[0]) if n > 1 else ""
        if y and len(crossing) == n:
            levels = sorted({s.line.level or 0.0 for s in crossing})
            return f", alike with {self._level_text(y, levels[0], levels[-1])}"
        return f", alike at {len(crossing)} of {n} configurations"

    def _configuration_list(self, some: Sequence[LineConfiguration]) -> str:
        if len(some) == len(self.every):
            return ""
        names = []
        for group, members in groupby(some, key=lambda s: s.group):
            lines = list(members)
            whole = bool(group) and len(lines) == sum(s.group == group for s in self.every)
            names += [self._group_text(lines[0])] if whole else [self._location_name(s).split(" ", 2)[2] for s in lines]
        some_of_all = f"{len(some)} of {len(self.every)} configurations"
        return f" at {join_names(names) if len(names) <= NAMED else some_of_all}"


def _location(s: LineConfiguration) -> float:
    return s.line.location or 0.0


def _location_text(s: LineConfiguration, ends: bool = True) -> str:
    estimate = line_estimate(s.line)
    if is_resolved(estimate):
        return claim_number(estimate, ends=ends)
    bounds = [number(float(f"{x:.2g}")) for x in (estimate.low, estimate.high) if x]
    return f"between {bounds[0]} and {bounds[1]}" if len(bounds) > 1 else "an unknown number of"
