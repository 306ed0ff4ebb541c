"""The answer of `compare`: cases and their values, and the ratios they rest on."""

from collections.abc import Iterator, Sequence
from typing import Any

from scalograph.analysis.estimate import Estimate
from scalograph.exchange.compare.result_answer import farthest, lost_text
from scalograph.protocol.compared_results import (
    ComparisonAnswer,
    ConfigurationRatio,
    LawChange,
    ResultComparison,
    ResultComparisons,
    sort_configurations,
    split_curves,
)
from scalograph.protocol.findings import Cell, Claim, Column, Matrix, MatrixCell, MatrixRow, TableDoc, Trust
from scalograph.protocol.plain import AnswerCase, Level
from scalograph.questions.claims import state
from scalograph.questions.terms import find_terms, is_covered, term_text
from scalograph.text.cell_numbers import cell_number, is_resolved
from scalograph.text.format import level_text
from scalograph.text.quantities import count_noun
from scalograph.text.scale import SECONDS
from scalograph.text.short_names import join_first, short_setting, shorten_titles

FORMS = {
    "different": "{other!s} is {answer} than {reference}: {gain:change} {noun}[[ with {who}]]{gain:change_ci}.",
    "alike": "{other!s} is {answer} than {reference}: {gain:change} {noun} in the mean of {n} configurations"
    "{gain:change_ci}. Each is within {most:at_most} of this mean.",
    "mean": "{other!s} is {answer} than {reference}: {gain:change} {noun} in the mean of {n} configurations"
    "[[ from {begin} on]]{gain:change_ci}. No single difference is significant.",
    "uncertain": "{other!s} is {answer} than {reference}[[ with {who}]] (size uncertain).",
    "equivalent": "{other!s} is equivalent to {reference}: {noun} differs by at most {most:at_most}"
    "[[ in {n} of {all} configurations]]; the margin is {margin:exact}.",
    "open": "Inconclusive: {other} vs. {reference} may differ by up to {most:at_most}[[ with {left:list}]]"
    "[[ in {n_left} of {all} configurations]]; the margin is {margin:exact}.[[ {remedy}.]]",
    "few runs": "Inconclusive: {reason}. Add runs.",
    "disturbed": "Inconclusive: {reason}. Rerun with --wait-quiet 10m[[, or compare both {pairs}]].",
    "refused": "Inconclusive: {reason}.[[ Compare both {pairs}.]]",
    "lost": "Inconclusive: {reason}.",
    "values": "Without intervals, {noun} of {other} is {values:times} that of {reference}.",
    "missing": "[[{lost}]][[; as allowed, {allowed} failed or is missing]].",
    "beside": "It is[[; {answer} in {n} of {all} configurations]][[; faster with {faster:each_change}]]"
    "[[; faster in {n_faster}]][[; equivalent with {equivalent:list}]][[; equivalent in {n_equivalent}]]"
    "[[; inconclusive with {left:list}]][[; inconclusive in {n_left}]].",
    "law": "The scaling law changes: {changes:names}.",
    "no law": "Scaling laws are compared only for the primary response over whole curves.",
    "added": "New in {other}, without a baseline: {added}.",
    "excluded": "[[Only one result has {unmatched}]][[; disturbed runs exclude {disturbed}]].",
}
MOST_ROWS, MOST_COLUMNS, MOST_SENTENCES, MOST_LOST = 8, 6, 3, 4
PROGRAM = "study or program"
_NOTE = "all intervals hold at once"
_MEAN = "mean"
_SEVERITY: tuple[ComparisonAnswer, ...] = ("slower", "inconclusive", "faster", "equivalent")


_IN_PAIRS = "in pairs (scalograph ab)"
_REMEDY = f"Add runs, or compare both {_IN_PAIRS}"


def compare_claim(comparisons: ResultComparisons, remedy: str | None = None) -> Claim:
    """State which result is faster and by how much, as far as the intervals show.

    `remedy` narrows an interval of paired runs; None: results of different times, for which `ab` is named.
    """
    results = sorted(comparisons.results, key=lambda result: _SEVERITY.index(result.answer))
    answers = [_ResultCases(result, remedy, len(results) > 1) for result in results]
    cases = [*answers[0].all()] if len(results) == 1 else [answer.first() for answer in answers[:MOST_SENTENCES]]
    claim = state(FORMS, cases, _matrix(comparisons, answers))
    return claim.model_copy(update={"answered": comparisons.answer != "inconclusive"})


class _ResultCases:
    """The cases of one result; what they name is shown."""

    def __init__(self, result: ResultComparison, remedy: str | None, is_one_of_several: bool) -> None:
        self._result, self._has_mean = result, not is_one_of_several
        self._remedy = _REMEDY if remedy is None else remedy
        self._pairs = _IN_PAIRS if remedy is None else None
        self._rows = result.configurations
        first = self._rows[0].levels if self._rows else ()
        self._varied = [n for n in first if len({row.levels[n] for row in self._rows}) > 1]
        self.shown: list[ConfigurationRatio] = []
        self.mean: Estimate | None = None

    def title(self, name: str) -> str:
        return self._result.titles.get(name) or name

    def unit(self, factor: str) -> str:
        """Return the unit of a factor's levels."""
        return self._result.units.get(factor, "")

    def all(self) -> Iterator[AnswerCase]:
        """Yield the cases, the first one first."""
        first = self.first()
        yield first
        yield from self._missing()
        if any(row.ratio.low is not None or row.doubt for row in self._rows):
            yield from self._exceptions(first)
        elif values := [row for row in self._rows if row.ratio.value]:
            ends = [pick(values, key=lambda row: row.ratio.value or 0.0) for pick in (min, max)]
            self.shown += ends
            yield self._case("values", values=[row.ratio for row in ends[: len(values)]])
        yield from self._laws()
        n_disturbed = sum(bool(row.doubt) for row in self._rows)
        if self._result.added:
            yield self._case("added", added=join_first(self._result.added, MOST_LOST))
        n_unmatched = self._result.unmatched - len(self._result.lost) - len(self._result.added)
        if self._result.answer != "inconclusive" and (n_disturbed or n_unmatched > 0):
            unmatched = count_noun(n_unmatched, "configuration") if n_unmatched > 0 else None
            yield self._case("excluded", unmatched=unmatched, disturbed=n_disturbed or None)

    def first(self) -> AnswerCase:
        result, n = self._result, len(self._rows)
        if result.case == "open":
            left = self._rows_that_are("inconclusive")
            most = farthest([row.ratio for row in left]) or 0.0
            return self._case("open", most=most, all=n, remedy=self._remedy, **self._names("left", left, n))
        if result.answer == "inconclusive":
            return self._case(result.case or "refused", reason=result.why, pairs=self._pairs)
        if result.answer == "equivalent":
            n_seen = n - result.n_inconclusive
            return self._case("equivalent", most=result.reach or 0.0, n=n_seen if n_seen < n else None, all=n)
        return self._different(n)

    def _different(self, n: int) -> AnswerCase:
        """State a difference: the mean where all configurations have it alike, or where none shows it alone."""
        result, deciding = self._result, self._rows_that_are(self._result.answer)
        is_alike = result.shift and result.alike is not None and result.alike < _size(result.shift) - 1
        if is_alike and (self._has_mean or not deciding):
            self.mean = result.shift
            return self._case("alike", gain=result.shift, n=n, most=result.alike)
        if deciding:
            row = max(deciding, key=lambda row: (is_resolved(row.ratio), _size(row.ratio)))
            self.shown.append(row)
            who = ", ".join(short_setting(self.title(n), row.levels[n], self.unit(n)) for n in self._varied)
            return self._case("different" if is_resolved(row.ratio) else "uncertain", gain=row.ratio, who=who)
        is_upper = result.upper is not None and not (result.shift and not result.shift.contains(1.0))
        self.mean = result.upper if is_upper else result.shift
        begin = level_text(result.upper_from or "", self.unit(result.along)) if is_upper else ""
        begin = f"{self.title(result.along)} {begin}" if begin else ""
        return self._case("mean", gain=self.mean, n=n, begin=begin)

    def _exceptions(self, first: AnswerCase) -> Iterator[AnswerCase]:
        """Name what is not as the first sentence says."""
        n = len(self._rows)
        values: dict[str, Any] = {}
        deciding = self._rows_that_are(self._result.answer)
        if first.case == "different" and n > 1:
            values = {"n": len(deciding), "all": n}
        for name, outcome in (("faster", "faster"), ("equivalent", "equivalent"), ("left", "inconclusive")):
            rows = self._rows_that_are(outcome)
            is_named = outcome == self._result.answer or (name == "left" and first.case == "open")
            if first.case in ("different", "uncertain", "open") and not is_named:
                values |= self._names(name, rows, n)
        if values:
            yield self._case("beside", **values)

    def _names(self, name: str, rows: Sequence[ConfigurationRatio], n: int) -> dict[str, Any]:
        """Name configurations, or count them where they are too many; empty for all."""
        if not rows or len(rows) == n:
            return {}
        terms = find_terms([row.levels for row in rows], [row.levels for row in self._rows], self._varied)
        if terms is None:
            return {f"n_{name}": len(rows)}
        texts = [term_text(self, term) for term in terms]
        members = [[row for row in rows if is_covered(row.levels, term)] for term in terms]
        ends = [sorted(every, key=lambda row: row.ratio.value or 0.0)[:: max(1, len(every) - 1)] for every in members]
        self.shown += [row for every in ends for row in (every if name == "faster" else every[:1])]
        ratios = [[row.ratio for row in every] for every in ends]
        return {name: [*zip(texts, ratios, strict=True)] if name == "faster" else texts}

    def _missing(self) -> Iterator[AnswerCase]:
        result = self._result
        text = lost_text(result.lost, result.other)
        allowed = [row.name for row in result.lost if row.allowed]
        if (text and text != result.why) or allowed:
            named = join_first(allowed, MOST_LOST) if allowed else ""
            yield self._case("missing", lost="" if text == result.why else text, allowed=named)

    def _laws(self) -> Iterator[AnswerCase]:
        if self._result.laws_left_out:
            yield self._case("no law")
        elif self._result.laws and len([*split_curves(self._result)]) == 1:
            yield self._case("law", changes=[*map(_law_text, self._result.laws)])

    def _rows_that_are(self, outcome: str) -> list[ConfigurationRatio]:
        return [row for row in self._rows if row.shown == outcome and not row.doubt and row.ratio.low is not None]

    def _case(self, name: str, **values: Any) -> AnswerCase:
        result = self._result
        common = {"other": result.other, "reference": result.reference, "noun": noun(result), "margin": result.margin}
        return AnswerCase(case=name, values={"answer": result.answer, **common, **values})


def _law_text(change: LawChange) -> str:
    return f"{change.coefficient} {'rises' if (change.other.value or 0) > (change.reference.value or 0) else 'falls'}"


def _size(ratio: Estimate) -> float:
    """Return a ratio, or one over it, whichever is above 1."""
    value = ratio.value or 1.0
    return max(value, 1 / value)


def compare_trust(comparisons: ResultComparisons) -> Trust | None:
    """Return the caveats of the studies as a verdict; None where there are none."""
    doubts = list(dict.fromkeys(text for result in comparisons.results for text in result.doubts))
    return Trust(level="caution", sentence=doubts[0], points=doubts[1:3]) if doubts else None


def differences(comparisons: ResultComparisons) -> str:
    """List the differences of the environments in one line."""
    several = len(comparisons.results) > 1
    every = [(f"{result.other}: " * several, d) for result in comparisons.results for d in result.differences]
    if not every:
        unrecorded = {label: None for result in comparisons.results for label in result.unrecorded}
        of = "" if all(len(result.unrecorded) > 1 for result in comparisons.results) else f" of {', '.join(unrecorded)}"
        missing = f"machine and settings{of} are not recorded"
        return missing if unrecorded else "no difference of machine, kernel or JVM is known"
    # Of a digest only the difference is worth showing.
    change_texts = (f" {d.reference} \N{RIGHTWARDS ARROW} {d.other}" * (d.what != PROGRAM) for _, d in every)
    texts = [f"{whose}{d.what}{text}" for (whose, d), text in zip(every, change_texts, strict=True)]
    return f"differs: {'; '.join(dict.fromkeys(texts))}"


def noun(result: ResultComparison) -> str:
    """Return the noun for the response in a sentence."""
    title = result.response_title or result.response.replace("_", " ")
    is_time = result.unit in SECONDS and result.better == "lower"
    if result.per == "clock":
        return "clock cycles" if is_time else f"{title} per clock cycle"
    if result.per == "cpu":
        return "CPU seconds" if is_time else f"{title} per CPU"
    return "time" if is_time and title in ("wall time", "time") else title


def _matrix(comparisons: ResultComparisons, answers: Sequence[_ResultCases]) -> Matrix | None:
    """Return a row per curve and result, a column per level; None without common configurations."""
    results, first = comparisons.results, comparisons.results[0]
    if not any(result.configurations for result in results):
        return None
    if len(results) == len(first.configurations) == 1 and not first.per:
        return _pair_matrix(first)
    columns = _columns(results, {row.levels.get(first.along, "") for each in answers for row in each.shown})
    mean = answers[0].mean if len(results) == 1 else None
    shown = {id(row) for each in answers for row in each.shown}
    rows = sorted(_rows(results, columns, shown), key=lambda row: row[0], reverse=True)
    most = max(MOST_ROWS, sum(rank[0] for rank, _ in rows))
    every = [row for _, row in rows[:most]]
    names = [level_text(level, first.units.get(first.along, "")) if level != "" else "ratio" for level in columns]
    if mean is not None:
        if len(every) > 1:
            every.append(MatrixRow(label=_MEAN, cells=[MatrixCell() for _ in names]))
        cells = [*(MatrixCell() for _ in every[1:]), MatrixCell(estimate=mean)]
        every = [row.model_copy(update={"cells": [*row.cells, x]}) for row, x in zip(every, cells, strict=True)]
        names.append(_MEAN)
    over = first.reference if len(results) > 1 else f"{first.other} / {first.reference}"
    return Matrix(
        title=f"{noun(first)}, {over}" if len(results) == 1 else f"{noun(first)} over that of {over}",
        better=first.better, rows_are=first.titles.get(first.along, "") if len(columns) > 1 else "",
        columns=names, rows=every, note=_NOTE if first.reach is not None and len(first.configurations) > 1 else "",
    )  # fmt: skip


def _pair_matrix(result: ResultComparison) -> Matrix:
    """Tabulate the only configuration: both values, and their ratio."""
    (row,) = result.configurations
    ratio = MatrixCell(estimate=row.ratio, text=cell_number(row.ratio))
    ends = [(result.reference, row.reference, MatrixCell()), (result.other, row.other, ratio)]
    return Matrix(
        title=noun(result), unit=result.unit, better=result.better, columns=[noun(result), f"vs. {result.reference}"],
        rows=[
            MatrixRow(label=label, cells=[MatrixCell(estimate=e, doubt=row.doubt), over]) for label, e, over in ends
        ],
    )  # fmt: skip


def _columns(results: Sequence[ResultComparison], named: set[Level]) -> list[Level]:
    """Choose the levels that are shown: those that sentences name, and some between."""
    every = (row for result in results for row in sort_configurations(result))
    levels = list(dict.fromkeys(row.levels.get(results[0].along, "") for row in every))
    last, room = len(levels) - 1, max(2, MOST_COLUMNS - len(named))
    if last < MOST_COLUMNS:
        return levels
    spread = {round(i * last / (room - 1)) for i in range(room)}
    return [level for i, level in enumerate(levels) if level in named or i in spread]


def _rows(
    results: Sequence[ResultComparison], columns: Sequence[Level], shown: set[int]
) -> Iterator[tuple[tuple[bool, float], MatrixRow]]:
    """Yield each row with its rank: those that sentences name first, then by the largest difference."""
    for result in results:
        if not (parts := list(split_curves(result))):
            continue
        varied = [n for n in parts[0][0] if len({group[n] for group, _ in parts}) > 1]
        first = dict(zip(varied, shorten_titles(result.titles.get(n, n) for n in varied), strict=True))
        for group, curve in parts:
            named = [short_setting(first[n], group[n], result.units.get(n, "")) for n in varied]
            label = ", ".join([*([result.other] if len(results) > 1 else []), *named]) or "ratio"
            by_level = {t.levels.get(result.along, ""): t for t in curve.configurations}
            most = max((_size(t.ratio) for t in curve.configurations if t.shown in ("slower", "faster")), default=0.0)
            rank = any(id(t) in shown for t in curve.configurations), most
            yield rank, MatrixRow(label=label, cells=[_cell(by_level.get(column)) for column in columns])


def _cell(row: ConfigurationRatio | None) -> MatrixCell:
    if row is None:
        return MatrixCell()
    ratio = row.ratio
    if ratio.low and not is_resolved(ratio) and row.shown in ("slower", "faster"):
        return MatrixCell(text=f"{'>' if ratio.low > 1 else '<'} 1", doubt=row.doubt)
    return MatrixCell(text=cell_number(ratio) if ratio.low is None else "", estimate=ratio, doubt=row.doubt)


_TABLES_NOTE = (
    "ratio: the second over the first, Welch t on log scores; its all intervals hold together; those "
    "of the values beside it are of each alone"
)


def compare_tables(comparisons: ResultComparisons) -> list[TableDoc]:
    """Return the ratios of each result, what is missing, the environment differences, and changed laws."""
    results = enumerate(comparisons.results)
    tables = [_table(r, f"ratios-{i}" if i else "ratios") for i, r in results if r.configurations]
    tables += _compare_tables_lost(comparisons)
    rows: list[list[Cell]] = [
        [result.other, d.what, d.reference, d.other] for result in comparisons.results for d in result.differences
    ]
    columns = [Column(name=name, kind="text") for name in ("result", "what", comparisons.results[0].reference, "there")]
    tables += [TableDoc(id="differences", title="What differs", columns=columns, rows=rows)] if rows else []
    return tables + _law_rows(comparisons)


def _compare_tables_lost(comparisons: ResultComparisons) -> list[TableDoc]:
    rows: list[list[Cell]] = [
        [r.other, row.name, row.why, row.n_failed, row.n_runs, "yes" if row.allowed else "no"]
        for r in comparisons.results
        for row in r.lost
    ]
    columns = [Column(name=name, kind="label") for name in ("result", "configuration", "is")]
    columns += [Column(name="failed"), Column(name="runs"), Column(name="allowed", kind="label")]
    title = f"Failed or missing, and measured in {comparisons.results[0].reference}"
    return [TableDoc(id="lost", title=title, columns=columns, rows=rows)] if rows else []


def _law_rows(comparisons: ResultComparisons) -> list[TableDoc]:
    rows: list[list[Cell]] = [
        [result.other, ", ".join(f"{k} {v}" for k, v in law.group.items()), law.coefficient, law.reference, law.other]
        for result in comparisons.results
        for law in result.laws
    ]
    columns = [Column(name=name, kind="label") for name in ("result", "curve", "coefficient")]
    columns += [Column(name=name, kind="estimate") for name in (comparisons.results[0].reference, "there")]
    title = "Coefficients of the scaling law whose intervals do not overlap"
    return [TableDoc(id="laws", title=title, columns=columns, rows=rows)] if rows else []


def _table(result: ResultComparison, name: str) -> TableDoc:
    factors = list(result.configurations[0].levels)
    columns = [Column(name=result.titles.get(n, n), unit=result.units.get(n, ""), kind="label") for n in factors]
    columns += [Column(name=who, unit=result.unit, kind="estimate") for who in (result.reference, result.other)]
    columns += [Column(name="ratio", kind="estimate"), Column(name="is", kind="text")]
    rows: list[list[Cell]] = [
        [*(row.levels[n] for n in factors), row.reference, row.other, row.ratio, row.doubt or row.shown]
        for row in sort_configurations(result)
    ]
    title = f"{noun(result)}: {result.other} vs. {result.reference}"
    return TableDoc(id=name, title=title, note=_TABLES_NOTE, columns=columns, rows=rows)
