"""State from which size a version wins, where it never does, and what is inconclusive: cases and their values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from scalograph.analysis.estimate import Estimate
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell
from scalograph.protocol.plain import AnswerCase, Level
from scalograph.questions.break_even.document import BreakEven, BreakEvenLine
from scalograph.questions.claims import state
from scalograph.questions.matrices import MOST_ROWS, Line, matrix
from scalograph.questions.terms import find_terms, is_covered, term_text
from scalograph.text.answer_form import place_ends
from scalograph.text.cell_numbers import level_range
from scalograph.text.format import number, version_name
from scalograph.text.quantities import axis_value
from scalograph.text.short_names import is_counted
from scalograph.verdict.cause import COUNTED

# What lines are called that have no place, in the order of the sentences.
WORDS = {
    "several": "in parts of the range", "never": "never", "always": "always", "undecided": "inconclusive",
    "unmeasured": "not measured",
}  # fmt: skip
# Words for lines with no place of their own in the first sentence: "with 16 clients, it never does".
_NAMED = {
    "until": "it does only up to some size", "several": "it does in parts of the range", "never": "it never does",
    "always": "it always does", "undecided": "it is inconclusive", "unmeasured": "it was not measured",
}  # fmt: skip
FORMS = {
    "from": "{other} beats {base} from {place:range}[[ with {who}]][[; inconclusive above {sure}]].",
    "from each": "{other} beats {base} from {least:place} with {first}, from {most:place} with {last}[[ ({shared})]]"
    "[[; inconclusive above {sure}]].",
    "overlap": "All {n} intervals overlap.",
    "until": "{other} beats {base} only up to {place:range}[[ with {who}]][[; inconclusive below {sure}]].",
    "until each": "{other} beats {base} only up to {least:place} with {first}, up to {most:place} with {last}"
    "[[ ({shared})]][[; inconclusive below {sure}]].",
    "several": "{other} beats {base} only in parts of {range}[[ with {who:list}]]"
    "[[ in {some} of {all} configurations]].",
    "never": "{other} never beats {base} by more than {even:percent} over {range}[[ with {who:list}]]"
    "[[ in {some} of {all} configurations]].",
    "always": "{other} beats {base}, or is within {even:percent}, over all of {range}[[ with {who:list}]]"
    "[[ in {some} of {all} configurations]].",
    "beside": "".join(
        f"[[; with {{{kind}:list}}, {words}]][[; in {{n_{kind}}} configurations, {words}]]"
        for kind, words in _NAMED.items()
    )
    + ".",
    "undecided": "Inconclusive: {n} pairs of runs do not show where {other} beats {base}."
    "[[ More pairs needed: {more}.]]",
    "unmeasured": "No answer: no pair of runs succeeded.",
    "no answer": "No answer: too few pairs; {lost} of {n} runs were disturbed or failed.",
}
FIGURE = "even"
# Pairs that differ by more, in percent, are noisier than the intervals were tried with.
NOISY = 12
# Share of open points below which this is a minor flag.
FEW = 0.05
# Lines that the formula names; the table has all.
NAMED_LINES = 4


@dataclass(frozen=True)
class _NamedLine:
    """A line and the levels of its configuration."""

    levels: dict[str, Level]
    line: BreakEvenLine

    @property
    def location(self) -> Estimate:
        return Estimate(self.line.location, self.line.low, self.line.high)


def break_even_claim(table: Table, result: BreakEven | None) -> Claim:
    if result is None:
        lost = sum(row.verdict not in COUNTED for row in table.rows)
        return state(FORMS, [AnswerCase(case="no answer", values={"lost": lost, "n": len(table.rows)})])
    answer = _LineCases(table, result)
    return state(FORMS, [*answer.all()], answer.matrix(), FIGURE)


class _LineCases:
    """The cases of a claim, and the rows that they name."""

    def __init__(self, table: Table, result: BreakEven) -> None:
        self._table, self._result = table, result
        self._x, y = result.maps[0].x, result.maps[0].y
        self._every = [
            _NamedLine({**m.group, **({y: _plain_level(line.level)} if y and line.level is not None else {})}, line)
            for m in result.maps for line in m.lines
        ]  # fmt: skip
        kinds = {kind: [s for s in self._every if s.line.kind == kind] for kind in ("from", *_NAMED)}
        self._by_kind = {kind: lines for kind, lines in kinds.items() if lines}
        self._first = next(iter(self._by_kind))

    def all(self) -> Iterator[AnswerCase]:
        result, kind = self._result, self._first
        levels = [x for m in result.maps for x in m.x_levels]
        common = {"other": version_name(result.factor, result.other), "even": result.even, "n": result.n}
        common |= {"base": version_name(result.factor, result.baseline), "more": result.n_more}
        ends = map(_plain_level, (min(levels), max(levels)))
        common |= {"range": level_range(self._table.view.title(self._x), self._table.view.unit(self._x), *ends)}
        if kind in WORDS:
            who, n, every = self._who(self._by_kind[kind]), len(self._by_kind[kind]), len(self._every)
            some = {"some": n, "all": every} if n < every and not who else {}
            yield AnswerCase(case=kind, values={**common, "who": who, **some})
        else:
            yield self._placed_case(kind, common)
        beside: dict[str, object] = {}
        for other, lines in self._by_kind.items():
            who = self._who(lines)
            beside |= {} if other == kind else {other: who} if who else {f"n_{other}": len(lines)}
        if beside:
            yield AnswerCase(case="beside", values=beside)
        places = [s.location for s in self._by_kind[kind]] if kind not in WORDS else []
        if len(places) > 1 and max(e.low or 0.0 for e in places) <= min(e.high or 0.0 for e in places):
            yield AnswerCase(case="overlap", values={"n": len(places)})

    def _placed_case(self, kind: str, common: Mapping[str, object]) -> AnswerCase:
        first, last = ends = self._ends(kind)
        values = {**common, "sure": self._sure_end(kind)}
        if first is last:
            (who,) = self._who([first]) or [""]
            return AnswerCase(case=kind, values={**values, "place": self._spot(first), "who": who})
        shared = {name: x for name, x in first.levels.items() if last.levels[name] == x}
        names = [self._table.view.short_levels({n: x for n, x in s.levels.items() if n not in shared}) for s in ends]
        varied = self._table.view.short_levels(self._table.view.varying_levels(shared))
        return AnswerCase(case=f"{kind} each", values={
            **values, "least": self._spot(first), "first": names[0], "most": self._spot(last), "last": names[1],
            "shared": varied,
        })  # fmt: skip

    def _sure_end(self, kind: str) -> str:
        """Return up to where (of `until`: down to where) all lines of a kind are sure; empty for the whole range."""
        sure = [s.line.sure_to for s in self._by_kind.get(kind, ()) if s.line.sure_to]
        return number(float(f"{(min if kind == 'from' else max)(sure):.2g}")) if sure else ""

    def _ends(self, kind: str) -> tuple[_NamedLine, _NamedLine]:
        lines = sorted(self._by_kind[kind], key=lambda s: s.line.location or 0.0)
        return lines[0], lines[-1]

    def _spot(self, s: _NamedLine) -> tuple[Estimate, str]:
        name, unit = self._table.view.title(self._x), self._table.view.unit(self._x)
        return s.location, f"{{}} {name}" if is_counted(name) and not unit else f"{name} {{}} {unit}".rstrip()

    def _terms(self, lines: Sequence[_NamedLine]) -> list[Mapping[str, tuple[Level, ...]]] | None:
        every = [s.levels for s in self._every]
        return find_terms([s.levels for s in lines], every, [*every[0]])

    def _who(self, lines: Sequence[_NamedLine]) -> list[str]:
        """Name lines by the narrowest terms; nothing where they are all there are, or would need too many."""
        terms = self._terms(lines) or []
        return [term_text(self._table.view, term) for term in terms if term] if len(lines) < len(self._every) else []

    def matrix(self) -> Matrix:
        """Tabulate what the sentences name and lines between: a row for each place, and for each term of the others."""
        result, named, rest = self._result, list[tuple[int, Line]](), list[tuple[int, Line]]()
        for kind, lines in self._by_kind.items():
            terms = self._terms(lines) if kind in WORDS else None
            named += [self._row(term, next(s for s in lines if is_covered(s.levels, term))) for term in terms or ()]
            for s in lines if terms is None else ():
                is_end = kind not in WORDS and s in self._ends(kind)
                (named if is_end else rest).append(self._row({name: (level,) for name, level in s.levels.items()}, s))
        n = min(max(MOST_ROWS - len(named), 0), len(rest))
        spread = [rest[(2 * i + 1) * len(rest) // (2 * n)] for i in range(n)]
        shown = sorted([*named[:MOST_ROWS], *spread], key=lambda row: row[0])
        x, unit = self._table.view.title(self._x), self._table.view.unit(self._x)
        beats = f"{version_name(result.factor, result.other)} beats {version_name(result.factor, result.baseline)}"
        title, note = f"{x}{f' ({unit})' if unit else ''} from which {beats}", "; ".join(self._notes())
        return matrix(self._table, [line for _, line in shown], [x], title=title, note=note)

    def _notes(self) -> Iterator[str]:
        if {"from", "until"} & {*self._by_kind}:
            yield "[ ]: 95% CI"
        for kind, side in (("from", "above"), ("until", "below")):
            if sure := self._sure_end(kind):
                yield f"inconclusive {side} {sure}"
        if "never" in self._by_kind:
            yield f"never: by no more than {100 * self._result.even:g}% anywhere"

    def _row(self, term: Mapping[str, tuple[Level, ...]], s: _NamedLine) -> tuple[int, Line]:
        levels = {name: term.get(name, tuple(dict.fromkeys(t.levels[name] for t in self._every))) for name in s.levels}
        return self._every.index(s), Line(levels, (_cell(s),))


def _cell(s: _NamedLine) -> MatrixCell:
    if s.line.location is None:
        return MatrixCell(text=WORDS[s.line.kind])
    return MatrixCell(estimate=s.location, text="up to " * (s.line.kind == "until") + place_ends(s.location))


def _plain_level(level: Level) -> Level:
    return int(level) if isinstance(level, float) and level.is_integer() else level


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


def _levels_text(table: Table, levels: Mapping[str, float]) -> str:
    named = ", ".join(f"{table.view.title(name)} {axis_value(level)}" for name, level in levels.items())
    return f" ({named})" if named else ""
