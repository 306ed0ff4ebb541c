"""The claim of a search for break-even: from where on a version is faster, where it never is, and what is open."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import sqrt

from scalograph.analysis.estimate import Estimate
from scalograph.findings.names import title
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import Level
from scalograph.questions.break_even.document import BreakEven, EvenFormula, EvenLine
from scalograph.text.cell_numbers import amount, is_resolved, sentence, spoken
from scalograph.text.format import level_text, number, version_name
from scalograph.text.quantities import place
from scalograph.text.short_names import is_counted, listed
from scalograph.verdict.cause import COUNTED

# Pairs that differ by more, in percent, are noisier than the intervals were tried with.
NOISY = 12
# Of the points: fewer that are open are no grave doubt.
FEW = 0.05
# Lines that the formula names; the table has all.
NAMED_LINES = 4


def formula_sentence(table: Table, found: BreakEven | None) -> list[str]:
    """Say which product of the sizes pays; with one size the claim has said it."""
    formula = found.formula if found else None
    return [_formula(table, found, formula)] if found and formula and len(formula.powers) > 1 else []


def open_break_even(one: BreakEven | None) -> list[str]:
    """Doubts of a search, the gravest first: a few open points change nothing of the others."""
    if one is None:
        return ["nothing is known of break-even"]
    few = one.shares["undecided"] < FEW
    return [*_misfits(one), *still_open(one)] if few else [*still_open(one), *_misfits(one)]


def _misfits(one: BreakEven) -> list[str]:
    """What a smooth surface with intervals does not carry."""
    found = []
    if one.noise_percent > NOISY:
        found.append(f"pairs differ by {one.noise_percent:.0f} %: intervals may be too narrow")
    if one.n_off:
        fit = "does" if one.n_off == 1 else "do"
        off = f"{one.n_off} of {one.n} pairs {fit} not fit a smooth surface"
        found.append(f"{off}: there is a cliff, or runs were slowed")
    return found


def _formula(table: Table, one: BreakEven, found: EvenFormula) -> str:
    product = " x ".join(_power(title(table, name), power) for name, power in found.powers.items())
    known = [(levels, work) for levels, work in found.work if work is not None]
    shown = known if len(known) <= NAMED_LINES else [known[0], known[-1]]
    parts = [f"{place(work)}{_for(table, levels)}" for levels, work in shown]
    return f"As a formula: {version_name(one.factor, one.other)} is faster where {product} is above {', '.join(parts)}."


def _power(name: str, power: float) -> str:
    return name if abs(power - 1) < 0.005 else f"{name}^{power:.2f}"


def _for(table: Table, levels: Mapping[str, float]) -> str:
    named = ", ".join(f"{title(table, name)} {place(level)}" for name, level in levels.items())
    return f" ({named})" if named else ""


def still_open(one: BreakEven) -> list[str]:
    """What is not decided, and what it would take; empty where all is."""
    if one.decided:
        return []
    if not (share := 100 * one.shares["undecided"]):
        return [f"{one.n} pairs of runs decide every point, {one.n_more} more would confirm it"]
    more = f"; about {one.n_more} more pairs would decide" if one.n_more else ""
    return [f"{share:.2g} % of the points are not decided after {one.n} pairs of runs{more}"]


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


FIGURE = "even"
# Settings of one kind that are named one by one.
NAMED = 3
# In the order in which they are told: the first is the claim, the next its exception.
KINDS = ("from", "until", "several", "never", "always")


def even_claim(table: Table, found: BreakEven | None) -> Claim:
    """Say what the search has found, an open end too."""
    if found is None:
        n_lost = sum(row.verdict not in COUNTED for row in table.rows)
        text = f"Cannot be said: of {len(table.rows)} runs {n_lost} were disturbed or failed; too few pairs are left."
        return Claim(sentences=[text], answered=False)
    words = _SizeWords(table, found)
    matrix = even_matrix(table, found, words.every, words.is_one())
    told = [text for kind in KINDS for text in words.told(kind)]
    if not told:
        why = next(iter(still_open(found)), "no pair has two times")
        return Claim(sentences=[f"Cannot be said: {why}."], answered=False, matrix=matrix, figure=FIGURE)
    return Claim(sentences=told[:3], matrix=matrix, figure=FIGURE)


def alike(crossing: Sequence[EvenSetting]) -> Estimate | None:
    """What configurations say together whose intervals all overlap; None where they differ."""
    if not crossing or max(s.line.low or 0 for s in crossing) > min(s.line.high or 0 for s in crossing):
        return None
    places = [s.line.location or 0 for s in crossing]
    ends = min(s.line.low or 0 for s in crossing), max(s.line.high or 0 for s in crossing)
    found = Estimate(sqrt(min(places) * max(places)), *ends)
    return found if is_resolved(found) else None


class _SizeWords:
    """All lines of a search by their kind, and how each kind is told."""

    def __init__(self, table: Table, found: BreakEven) -> None:
        self._table, self._found = table, found
        self.every = settings(found)
        self._known = {kind: [s for s in self.every if s.line.kind == kind] for kind in KINDS}
        self._first = next((kind for kind in KINDS if self._known[kind]), None)
        baseline, self._even = version_name(found.factor, found.baseline), f"{100 * found.even:g} %"
        self._beats = f"{version_name(found.factor, found.other)} beats {baseline}"
        self._never = f"{version_name(found.factor, found.other)} never beats {baseline} by more than {self._even}"

    def is_one(self) -> bool:
        """Whether all lines are one."""
        return len(self._known["from"]) == len(self.every) and alike(self.every) is not None

    def told(self, kind: str) -> list[str]:
        """Say one kind: the first with its subject and the range, the others with their configurations."""
        some, is_first = self._known[kind], kind == self._first
        if not some:
            return []
        if kind == "from":
            return [sentence(f"{self._beats} {self._from(some)}.")]
        subject = self._beats if is_first else "it does"
        at = self._listed(some)
        said = {
            "until": f"{subject} only up to {self._until(some)}",
            "several": f"{subject} in a part of the range only{at}: the map shows where",
            "never": f"{self._never if is_first else 'never'}{at}, over {self._range()}",
            "always": f"{subject}, or is within {self._even}{at}, over {self._range()}",
        }
        return [sentence(f"{said[kind]}.")]

    def _from(self, crossing: Sequence[EvenSetting]) -> str:
        """One place where the lines are alike, else the lowest and the highest."""
        sure = [s.line.sure_to for s in crossing if s.line.sure_to]
        as_far = f", for sure up to {number(float(f'{min(sure):.2g}'))}" if sure else ""
        one = alike(crossing)
        if one:
            return f"from {self._counted(spoken(one))} on{self._together(crossing)}{as_far}"
        ends = [min(crossing, key=_place), max(crossing, key=_place)][: len(crossing)]
        sizes = [_size(s, ends=False) for s in ends]
        same = len({tuple(s.group.values()) for s in ends}) == 1
        group = f" ({self._group(ends[0])})" if same and ends[0].group and len(self._found.maps) > 1 else ""
        first = f"{self._counted(sizes[0])}{self._at(ends[0], whole=not same)}"
        second = f", from {sizes[1]}{self._at(ends[1], whole=not same, bare=same)}" if len(ends) > 1 else ""
        return f"from {first}{second}{group}{as_far}"

    def _until(self, some: Sequence[EvenSetting]) -> str:
        largest = max(some, key=_place)
        return self._counted(_size(largest)) + self._at(largest)

    def _counted(self, size: str) -> str:
        """The size with what it counts."""
        x = self._found.maps[0].x
        name, unit = title(self._table, x), self._table.study.factors[x].unit
        return f"{size} {name}" if is_counted(name) and not unit else f"{name} {size} {unit}".rstrip()

    def _at(self, s: EvenSetting, whole: bool = True, bare: bool = False) -> str:
        """The setting of a line; `bare`: the level alone, after another one."""
        y, level = self._found.maps[0].y, s.line.level
        named = []
        if y and level is not None:
            named = [number(level) if bare else self._setting(y, level)]
        named += [self._group(s)] if whole and s.group else []
        how = "with" if not y or is_counted(title(self._table, y)) else "at"
        return f" {how} {', '.join(named)}" if named else ""

    def _group(self, s: EvenSetting) -> str:
        return ", ".join(self._setting(name, level) for name, level in s.group.items())

    def _setting(self, name: str, *levels: Level) -> str:
        plain = [int(x) if isinstance(x, float) and x.is_integer() else x for x in levels]
        return amount(title(self._table, name), self._table.study.factors[name].unit, *plain)

    def _together(self, crossing: Sequence[EvenSetting]) -> str:
        """Configurations whose lines cannot be told apart."""
        y, n = self._found.maps[0].y, len(self.every)
        if len(crossing) == 1:
            return self._at(crossing[0]) if n > 1 else ""
        if y and len(crossing) == n:
            levels = sorted({s.line.level or 0.0 for s in crossing})
            return f", alike with {self._setting(y, levels[0], levels[-1])}"
        return f", alike at {len(crossing)} of {n} configurations"

    def _listed(self, some: Sequence[EvenSetting]) -> str:
        """Name configurations; a whole group by its own levels only."""
        if len(some) == len(self.every):
            return ""
        names = []
        for group, members in groupby(some, key=lambda s: s.group):
            lines = list(members)
            whole = bool(group) and len(lines) == sum(s.group == group for s in self.every)
            names += [self._group(lines[0])] if whole else [self._at(s).split(" ", 2)[2] for s in lines]
        return f" at {listed(names)}" if len(names) <= NAMED else f" at {len(some)} of {len(self.every)} configurations"

    def _range(self) -> str:
        levels = [x for one in self._found.maps for x in one.x_levels]
        return self._setting(self._found.maps[0].x, min(levels), max(levels))


def _place(s: EvenSetting) -> float:
    return s.line.location or 0.0


def _size(s: EvenSetting, ends: bool = True) -> str:
    place = where_even(s.line)
    if is_resolved(place):
        return spoken(place, ends=ends)
    known = [number(float(f"{x:.2g}")) for x in (place.low, place.high) if x]
    return f"between {known[0]} and {known[1]}" if len(known) > 1 else "an unknown number of"
