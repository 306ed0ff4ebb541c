"""State the comparisons that a study declares because they answer its title: cases and their values."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import log
from typing import NamedTuple

from scalograph.analysis.comparisons import holm
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.speedup_points import PLAY
from scalograph.analysis.variance_moderation import moderate_variances
from scalograph.analysis.versus import classify_ratio
from scalograph.findings.answer import SampleMap
from scalograph.findings.curves import estimate_response
from scalograph.findings.sample import Sample
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import AnswerCase, Level
from scalograph.questions.claims import case, published_text, state, why_unanswerable
from scalograph.questions.levels.model import contrast_samples
from scalograph.questions.matrices import are_equivalent, mean_estimate
from scalograph.questions.terms import find_terms, term_text
from scalograph.study.model import DeclaredComparison, Study
from scalograph.text.answer_form import Quantity, value_text
from scalograph.text.cell_numbers import cell_number, is_resolved, matrix_scale
from scalograph.text.scale import scale_for
from scalograph.text.short_names import join_names

_WHERE = "[[, for {where:list}]]."
FORMS = {
    "same": "With {of}, {response} is equivalent to that with {over}, at {ratio:times}" + _WHERE,
    "differs": "With {of}, {response} is {ratio:times} that with {over}[[, {values:value}]]" + _WHERE,
    "beside": "It is[[; larger for {more:each}]][[; smaller for {less:each}]][[; equivalent for {same:each}]]"
    "[[; inconclusive for {left:list}]].",
    "open": "Inconclusive: with {of}, {response} may differ from that with {over} by up to {most:at_most}"
    "[[, for {where:list}]]. Add runs.",
    "too noisy": "Inconclusive: runs with {of} vary too much to give {response}. Add runs.",
    "value": "With {of}, {response} is {value:measured}" + _WHERE,
    "range": "With {of}, {response} is {least:value} for {low} and {most:value} for {high}.",
}
# Ratios within this share of 1 are equivalent, as they are for published claims.
ALIKE = 0.05
MOST_ROWS = 24  # those of three sentences, each with least and largest of four kinds
LONGEST_HEAD = 24  # letters of levels that head a column
MOST_SHARE = 1.0  # a larger difference is no percentage to read


class _Compared(NamedTuple):
    """The values of one context, which is the levels that a comparison leaves free, and the first over the second."""

    context: Mapping[str, Level]
    values: tuple[Estimate, ...]
    ratio: Estimate | None
    kind: str

    @property
    def key(self) -> Estimate:
        return self.ratio or self.values[0]


def declared_claim(table: Table, taken: SampleMap) -> Claim | None:
    """State the declared comparisons, those that are conclusive first; None where none was measured."""
    every = [_ComparisonCases(table, declared, taken) for declared in table.study.compare]
    measured = sorted((x for x in every if x.rows), key=lambda x: x.lead == "left")
    if not measured or why_unanswerable(table, taken):
        return None
    matrix = _matrix(table, measured)
    cases = [stated for comparison in measured for stated in comparison.cases(matrix)]
    stated = state(FORMS, cases, matrix, f"response {measured[0].response}")
    return stated.model_copy(update={"published": published_text([x.published_ratios(table.study) for x in measured])})


class _ComparisonCases:
    """The cases of one comparison; each number is that of a row, which is shown."""

    def __init__(self, table: Table, declared: DeclaredComparison, taken: SampleMap) -> None:
        self._view, self._declared = table.view, declared
        self.response = declared.response or table.view.primary
        self.unit = table.study.responses[self.response].unit
        self._names = [name for name in table.view.varying if name not in {**declared.of, **declared.where}]
        self._contexts = _compare(table, declared, taken, self.response, self._names)
        kinds = dict.fromkeys(x.kind for x in self._contexts)
        self.lead = max(kinds, key=lambda kind: (kind != "left", len(self._select(kind))), default="left")
        self.rows = {kind: self._rows(self._select(kind)) for kind in dict.fromkeys([self.lead, *kinds]) if kinds}
        self.of, self.over = (self._level_names(levels) for levels in (declared.of, declared.over))
        self._where = table.view.short_levels(table.view.varying_levels(declared.where))

    def _select(self, kind: str) -> list[_Compared]:
        return [x for x in self._contexts if x.kind == kind]

    def _level_names(self, levels: Mapping[str, Level]) -> str:
        return join_names([self._view.short_levels({name: level}) for name, level in levels.items()]) if levels else ""

    def _rows(self, some: Sequence[_Compared]) -> list[tuple[str, _Compared]]:
        """Make one named row where all are alike, else one for the least and one for the largest."""
        ordered = sorted(some, key=lambda x: x.key.value or 0.0)
        if all(_are_alike(a.key, b.key) for a, b in combinations(some, 2)):
            return [self._row(some)]
        low = [x for x in ordered if _are_alike(x.key, ordered[0].key)]
        high = [x for x in ordered if _are_alike(x.key, ordered[-1].key) and x not in low]
        return [self._row(low), self._row(high)]

    def _row(self, some: Sequence[_Compared]) -> tuple[str, _Compared]:
        columns = zip(*(x.values for x in some), strict=True)
        ratio = _mean([x.ratio for x in some if x.ratio]) if some[0].ratio else None
        return self._name(some), some[0]._replace(values=tuple(_mean(column) for column in columns), ratio=ratio)

    def _name(self, some: Sequence[_Compared]) -> str:
        terms = find_terms([x.context for x in some], [x.context for x in self._contexts], self._names)
        if terms is None:
            return f"{len(some)} of {len(self._contexts)} configurations"
        return " or ".join(term_text(self._view, term) for term in terms if term)

    def published_ratios(self, study: Study) -> list[float]:
        """Return the ratios of a paper of the same levels; one of the second over the first is inverted."""
        own, claims = self._declared, study.published.claims if study.published else []
        ratios = []
        for x in claims:
            is_same = x.kind == "ratio" and (x.response or self._view.primary) == self.response
            is_within = all(own.where.get(name, level) == level for name, level in x.where.items())
            values = [x.published] if isinstance(x.published, float) else x.published or []
            if is_same and is_within and own.over and (x.of, x.over) in ((own.of, own.over), (own.over, own.of)):
                ratios += [value if x.of == own.of else 1 / value for value in values if value]
        return ratios

    def labels(self, has_heads: bool, has_title: bool) -> Iterator[tuple[str, _Compared]]:
        """Yield the rows of the matrix with their labels; `has_heads` of it say what is compared."""
        title = self._view.title(self.response) if has_title else ""
        head = "" if has_heads else " / ".join(filter(None, [self.of, self.over]))
        for name, row in (pair for rows in self.rows.values() for pair in rows):
            yield "; ".join(filter(None, [title, head, self._where, name])) or "all", row

    def cases(self, matrix: Matrix) -> Iterator[AnswerCase]:
        """Yield the cases, the first one first."""
        rows = self.rows[self.lead]
        (first, row), (last, other) = rows[0], rows[-1]
        common = {"of": self.of, "over": self.over, "response": self._view.title(self.response)}
        where = list(filter(None, [self._where, first if len(rows) == 1 else ""]))
        least, most = (self._quantities(x.values, matrix) for x in (row, other))
        if self.lead == "left":
            share = _farthest(self._contexts)
            yield case("open", **common, most=share, where=where) if share else case("too noisy", **common)
        elif self.lead == "value" and len(rows) == 1:
            yield case("value", **common, value=least[0], where=where)
        elif self.lead == "value":
            yield case("range", **common, least=least[0], low=first, most=most[0], high=last)
        else:
            name = "same" if self.lead == "same" else "differs"
            values = least if len(rows) == 1 and name == "differs" else []
            yield case(name, **common, ratio=[x.ratio for _, x in rows], values=values, where=where)
        beside: dict[str, object] = {
            kind: [name if kind == "left" else (name, [x.ratio]) for name, x in others]
            for kind, others in self.rows.items() if kind != self.lead
        }  # fmt: skip
        if beside:
            yield case("beside", **beside)

    def _quantities(self, values: Sequence[Estimate], matrix: Matrix) -> list[Quantity]:
        """Return the values in the scale of their cells; none where one of several is inconclusive."""
        is_shown = len(values) == 1 or all(map(is_resolved, values))
        scale = matrix_scale(matrix) if matrix.unit else scale_for(self.unit, [e.value for e in values])
        return [Quantity(e, scale) for e in values] if is_shown else []


def _compare(
    table: Table, declared: DeclaredComparison, taken: SampleMap, response: str, names: Sequence[str]
) -> list[_Compared]:
    """Compare the samples of each context, corrected for their number."""
    wanted, pairs = {**declared.of, **declared.where}, list[list[Sample]]()
    for sample in taken.values():
        if wanted.items() <= sample.configuration.items():
            keys = [tuple({**sample.configuration, **levels}.values()) for levels in ({}, declared.over)]
            pair = [taken[key] for key in dict.fromkeys(keys) if key in taken]
            measured = [x for x in pair if x.scores(response)]
            pairs += [measured] if len(measured) == 1 + bool(declared.over) else []
    contexts = [{name: pair[0].configuration[name] for name in names} for pair in pairs]
    values = [tuple(estimate_response(table, x, response) for x in pair) for pair in pairs]
    if not declared.over:
        kinds = ["value" if is_resolved(e[0]) or not e[0].value else "left" for e in values]
        return [_Compared(c, e, None, kind) for c, e, kind in zip(contexts, values, kinds, strict=True)]
    usable = [all(min(x.scores(response)) > 0 for x in pair) for pair in pairs]
    contrasts = [contrast_samples(a, b, response) for (a, b), is_usable in zip(pairs, usable, strict=True) if is_usable]
    lent = moderate_variances(contrasts)
    p_values = holm([contrast.p_value(log(1 + PLAY)) for contrast in lent])
    ratios = [contrast.estimate(table.view.confidence) for contrast in lent]
    return [
        _Compared(context, own, ratio, _kind(ratio, p is not None and p <= 1 - table.view.confidence))
        for context, own, ratio, p in zip(
            *([x for x, is_usable in zip(some, usable, strict=True) if is_usable] for some in (contexts, values)),
            ratios, p_values, strict=True,
        )
    ]  # fmt: skip


def _kind(ratio: Estimate, is_sure: bool) -> str:
    if classify_ratio(ratio, ALIKE) == "equivalent":
        return "same"
    return ("more" if (ratio.value or 0.0) > 1 else "less") if is_sure and is_resolved(ratio) else "left"


def _farthest(contexts: Sequence[_Compared]) -> float | None:
    """Return the largest possible difference as a share; None where it is unknown or no percentage to read."""
    ends = [end for x in contexts if x.ratio for end in (x.ratio.low, x.ratio.high)]
    most = max((max(end, 1 / end) - 1 if end else MOST_SHARE for end in ends), default=MOST_SHARE)
    return most if most < MOST_SHARE else None


def _are_alike(first: Estimate, second: Estimate) -> bool:
    return first.value == second.value or are_equivalent(first, second)


def _mean(estimates: Sequence[Estimate]) -> Estimate:
    """Average estimates that are alike; of others there is no value."""
    if not all(_are_alike(a, b) for a, b in combinations(estimates, 2)):
        return Estimate()
    return estimates[0] if len({e.value for e in estimates}) == 1 else mean_estimate(estimates)


def _matrix(table: Table, measured: Sequence[_ComparisonCases]) -> Matrix:
    """Tabulate the values of each comparison and their ratio; with units of their own where responses differ."""
    first, has_over = measured[0], any(x.over for x in measured)
    is_single = len(measured) == 1 and max(len(first.of), len(first.over)) <= LONGEST_HEAD
    is_common = len({x.response for x in measured}) == 1
    rows = []
    for comparison in measured:
        for label, row in comparison.labels(is_single, not is_common):
            cells = [_value_cell(e, "" if is_common else comparison.unit, is_common) for e in row.values]
            ratio = [MatrixCell(estimate=row.ratio, text=cell_number(row.ratio))] if row.ratio else []
            blank = [MatrixCell(text="")] * (3 - len(cells) - len(ratio)) if has_over else []
            rows.append(MatrixRow(label=label, cells=[*cells, *blank, *ratio]))
    heads = [first.of, first.over] if is_single else ["compared", "over"]
    columns = [*heads, "ratio"] if has_over else heads[:1] if is_single else ["value"]
    response = table.study.responses[first.response]
    texts = {"title": table.view.title(first.response), "unit": response.unit, "better": response.better}
    return Matrix.model_validate(
        {**(texts if is_common else {"title": "values"}), "columns": columns, "rows": rows[:MOST_ROWS]}
    )


def _value_cell(estimate: Estimate, unit: str, is_common: bool) -> MatrixCell:
    if is_common:
        return MatrixCell(estimate=estimate)
    scale = scale_for(unit, [estimate.value])
    return MatrixCell(estimate=estimate, text=f"{value_text(estimate, scale)} {scale.unit}".rstrip())
