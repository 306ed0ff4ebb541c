"""The claim of a search for break-even: from where on a version is faster, where it never is, and what is open."""

from collections.abc import Sequence
from itertools import groupby
from math import sqrt

from scalograph.analysis.estimate import Estimate
from scalograph.findings.names import title
from scalograph.findings.table import Table
from scalograph.protocol.claim import Claim
from scalograph.protocol.plain import Level
from scalograph.questions.break_even.claim_beside import still_open
from scalograph.questions.break_even.claim_matrix import EvenSetting, even_matrix, settings, where_even
from scalograph.questions.break_even.document import BreakEven
from scalograph.text.format import number, version_name
from scalograph.text.short_names import is_counted, listed
from scalograph.text.spoken import amount, is_resolved, sentence, spoken
from scalograph.verdict.cause import COUNTED

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
