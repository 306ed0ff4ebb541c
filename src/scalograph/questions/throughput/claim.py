"""State the maximum throughput, the load from which it is reached, and the bottleneck: cases and their values."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scalograph.findings.answer import SampleMap
from scalograph.findings.driven_runs import WRONG
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import AnswerCase, Level
from scalograph.questions import saturation
from scalograph.questions.claims import case, missing_response, state, why_unanswerable
from scalograph.questions.matrices import Line, choose_columns, matrix, rows
from scalograph.questions.saturation import (
    CASES,
    CAUSES,
    KINDS,
    PartUse,
    bottleneck_case,
    part_name,
    part_use,
    request_share,
)
from scalograph.questions.terms import find_terms, is_covered, term_text
from scalograph.questions.throughput.document import LIMITS, LoadedGroup, LoadPoint
from scalograph.text.answer_form import quantity_text
from scalograph.text.cell_numbers import INCONCLUSIVE, claim_number, is_resolved
from scalograph.text.format import DASH
from scalograph.text.load_words import rate_unit, small_percent
from scalograph.text.scale import scale_for

FORMS = {
    "plateau": "Maximum throughput is {rate:quantity} at {level}[[ with {who}]]; no gain beyond.",
    "plateau range": "Maximum throughput is {rate:quantity}, reached between {low} and {level}[[ with {who}]].",
    "peak": "Maximum throughput is {rate:quantity} at {level}[[ with {who}]].",
    "full": "Throughput reaches {rate:quantity} at {level}[[ with {who}]], the highest measured.",
    "rising": "Throughput reaches {rate:quantity} at {level}[[ with {who}]] and still rises there.",
    "only": "Throughput is {rate:quantity} at {level}.",
    "lost": "[[{failed} fail ({cause}).]][[ {starved} of the clients get no answer in the window.]]",
    "falls": "Throughput falls to {fallen:quantity} at {last}[[, where {failed} fail]].",
    "beside": "It is[[; perhaps lower with {near:list}]][[; perhaps lower in {n_near} configurations]]"
    "[[; inconclusive with {left:list}]][[; inconclusive in {n_left} configurations]].",
    "rises elsewhere": "With {who} throughput rises up to {level}, to {rate:quantity}.",
    **saturation.FORMS,
    "open": "Inconclusive: the maximum throughput is unknown; the highest measured is {rate:quantity}"
    " at {level}[[ with {who}]].",
    "test more": "Test higher loads, or add runs.",
    "from": "It is inconclusive from which load on. Add runs.",
    "generator": "Inconclusive: the load generator saturates first[[, at {rate:quantity}]] with {level}."
    " Give it more CPUs.",
    "one run": "Inconclusive: one run per configuration is too few for a throughput. Add runs.",
    "too noisy": "Inconclusive: runs vary too much to give a throughput. Add runs.",
    "no answer": "No answer: {reason}.",
}


def throughput_claim(table: Table, taken: SampleMap, groups: Sequence[LoadedGroup]) -> Claim:
    """State the claim for the group with the highest rate, or why it cannot be stated."""
    reason = why_unanswerable(table, taken)
    if not groups and not reason:
        is_recorded = any(sample.scores(table.view.primary) for sample in taken.values())
        missing = missing_response(table, taken, table.view.primary)
        reason = "no factor counts the load" if is_recorded else missing
    figure = f"response {table.view.primary}"
    if reason:
        return state(FORMS, [case("no answer", reason=reason)], figure=figure)
    answer = _ThroughputCases(table, groups)
    return state(FORMS, [*answer.all()], answer.matrix(taken), figure)


class _ThroughputCases:
    """The cases of a claim; every number is that of a row, which is shown."""

    def __init__(self, table: Table, groups: Sequence[LoadedGroup]) -> None:
        self._table, self._groups = table, groups
        self._first = next((group for group in groups if is_resolved(group.top.rate)), groups[0])
        self._unit = rate_unit(table.view.primary_title, table.view.response.unit)
        names = [name for name in table.view.varying if name != self._first.factor]
        every = [{name: levels[name] for name in names} for levels in table.configurations]
        self._every = [levels for at, levels in enumerate(every) if levels not in every[:at]]
        others, low = [group for group in groups if group is not self._first], self._first.top.rate.low or 0.0
        self._elsewhere = _rises_elsewhere(self._first, others)
        self._near = [group for group in others if _has_rate(group) and (group.top.rate.high or 0.0) >= low]
        measured = [self._first, *(group for group in others if _has_rate(group))]
        chosen = {"first": measured[:1], "elsewhere": self._elsewhere, "near": self._near}
        own = {name: [{n: x.group[n] for n in names} for x in some] for name, some in chosen.items()}
        own["left"] = [x for x in self._every if not any(x.items() <= group.group.items() for group in measured)]
        self._named = own
        self._terms = {name: find_terms(some, self._every, names) if some else [] for name, some in own.items()}

    def all(self) -> Iterator[AnswerCase]:
        group, point = self._first, self._first.top
        values = self._values(group, "first")
        if point.driver_limits in ("late", "CPU"):
            rate = values["rate"] if is_resolved(point.rate) else None
            yield AnswerCase(case="generator", values={**values, "rate": rate})
            yield from self._lost()
            return
        if not is_resolved(point.rate):
            is_one = all(x.n < 2 for each in self._groups for x in each.points)
            yield AnswerCase(case="one run" if is_one else "too noisy")
            yield from self._lost()
            return
        main = self._main()
        yield AnswerCase(case=main, values={**values, "low": int(group.plateau.low or 0)})
        yield from self._lost()
        last = group.points_with_runs[-1]
        if group.falls is not None and is_resolved(last.rate):
            fallen = {"fallen": (last.rate, self._unit), "last": self._level(group, last), "gain": [group.falls]}
            failed = request_share(last.errors) if last.errors >= WRONG else ""
            yield AnswerCase(case="falls", values={**fallen, "failed": failed})
        yield from self._others()
        if main != "open":
            uses = [use_text(part, group.fullest) for part in group.ended_by]
            yield from bottleneck_case(group, uses, group.state == "rising")
        if main in ("open", "full"):
            yield AnswerCase(case="from" if main == "full" else "test more")
        for other in self._elsewhere:
            yield AnswerCase(case="rises elsewhere", values=self._values(other, "elsewhere"))

    def _lost(self) -> Iterator[AnswerCase]:
        """State the requests without a right answer, and the clients without any, at the load that is claimed."""
        group, point = self._first, self._first.top
        values: dict[str, Any] = {}
        if point.errors >= WRONG and group.ends != "wrong":
            values |= {"failed": request_share(point.errors), "cause": CAUSES.get(point.cause, "wrong answers")}
        if (point.starved or 0.0) >= WRONG:
            values["starved"] = small_percent(point.starved or 0.0)
        if values:
            yield AnswerCase(case="lost", values=values)

    def _main(self) -> str:
        group = self._first
        if len(group.points_with_runs) == 1:
            return "only" if len(self._every) == 1 else "peak"
        if group.state == "inconclusive":
            is_full = group.ends in KINDS and group.ends not in CASES
            return "peak" if group.falls is not None else "full" if is_full else "open"
        return {"found": "plateau", "between": "plateau range", "rising": "rising"}[group.state]

    def _values(self, group: LoadedGroup, name: str) -> dict[str, Any]:
        who = " or ".join(self._texts(name))
        return {"rate": (group.top.rate, self._unit), "level": self._level(group, group.top), "who": who}

    def _others(self) -> Iterator[AnswerCase]:
        """Name what may carry as much, and what is inconclusive: one sentence, so that neither is dropped."""
        values: dict[str, Any] = {}
        for name in ("near", "left"):
            is_named = self._terms[name] is not None
            values |= {name: self._texts(name)} if is_named else {f"n_{name}": len(self._named[name])}
        if any(values.values()):
            yield AnswerCase(case="beside", values=values)

    def _texts(self, name: str) -> list[str]:
        return [term_text(self._table.view, term) for term in self._terms[name] or []]

    def _level(self, group: LoadedGroup, point: LoadPoint) -> str:
        return self._table.view.short_levels({group.factor: point.level})

    def matrix(self, taken: SampleMap) -> Matrix | None:
        """Tabulate rates at the loads that the claim names, and some between; then what shows the bottleneck."""
        table, first, factor = self._table, self._first, self._first.factor
        lowest, ends = int(first.plateau.low or first.top.level), [first.points_with_runs[at].level for at in (-1, 0)]
        others = [group.top.level for group in (*self._elsewhere, *self._near)]
        needed = [first.top.level, lowest, first.fullest.level, *others, *ends]
        chosen = choose_columns(sorted(point.level for group in self._groups for point in group.points), needed)
        points = [({**group.group, factor: x.level}, x) for group in self._groups for x in group.points]
        by_key = {tuple(levels[name] for name in table.study.factors): point for levels, point in points}
        cells = [(sample, _rate_cell(by_key.get(key))) for key, sample in taken.items()]
        lines = sorted(rows(table, factor, chosen, cells, self._place), key=self._rank)
        if not lines:
            return None
        heads = [table.view.short_levels({factor: level}) for level in chosen]
        shown = matrix(table, lines, heads, title="throughput", unit=self._unit, better="higher")
        return _add_rows(shown, first, [first.point(level) for level in chosen])

    def _place(self, levels: Mapping[str, Level]) -> int:
        """Tell apart what the claim names."""
        terms = [term for some in self._terms.values() for term in some or []]
        return next((i for i, term in enumerate(terms) if is_covered(levels, term)), len(terms))

    def _rank(self, line: Line) -> tuple[int, float]:
        values = [cell.estimate.value or 0.0 for cell in line.cells if cell.estimate]
        return self._place({name: levels[0] for name, levels in line.levels.items()}), -max(values, default=0.0)


def _rate_cell(point: LoadPoint | None) -> MatrixCell:
    return MatrixCell(estimate=point.rate, doubt=LIMITS.get(point.driver_limits, "")) if point else MatrixCell()


def _has_rate(group: LoadedGroup) -> bool:
    return is_resolved(group.top.rate) and group.top.driver_limits not in ("late", "CPU")


def _rises_elsewhere(first: LoadedGroup, others: Sequence[LoadedGroup]) -> list[LoadedGroup]:
    """Find a group, one factor away, that gains from more load: the plateau may hold for the first alone."""
    higher = [x for x in others if x.top.level > first.top.level and x.state in ("found", "rising") and _has_rate(x)]
    near = [x for x in higher if sum(first.group.get(name) != level for name, level in x.group.items()) == 1]
    return near[:1] if first.state == "found" else []


def use_text(part: PartUse, point: LoadPoint | None) -> str:
    """State how full a part is at a load: "1.95 of 2 used"; empty where this has no number."""
    if point is None or part.kind in ("backlog", "wrong"):
        return request_share((point.dropped if part.kind == "backlog" else point.errors) if point else None)
    return part_use(part.find_alike(point.parts))


def _add_rows(shown: Matrix, group: LoadedGroup, points: Sequence[LoadPoint | None]) -> Matrix:
    """Add response times and the use of the bottleneck, or of CPUs: those of the first row."""
    parts = group.ended_by or [part for part in group.ruled_out if part.kind == "cpu"]
    texts = {"p50 / p99": [_times(point) for point in points]}
    texts |= {part_name(group, part): [use_text(part, point) for point in points] for part in parts}
    if group.points_with_runs[-1].errors >= WRONG:
        texts[KINDS["wrong"]] = [request_share(point.errors if point else None) for point in points]
    texts = {name: row for name, row in texts.items() if any(c.isdigit() for text in row for c in text)}
    more = [MatrixRow(label=x, cells=[MatrixCell(text=text or DASH) for text in row]) for x, row in texts.items()]
    head = f"{shown.rows_are} ".lstrip()
    own = [x.model_copy(update={"label": shown.unit if x.label == "all" else head + x.label}) for x in shown.rows]
    notes = [shown.note, f"{', '.join(texts)}: of {own[0].label}" if more and len(own) > 1 else ""]
    if group.knee is not None and is_resolved(group.knee):
        notes.append(f"requests queue from {quantity_text((group.knee, 'clients'))}")
    return shown.model_copy(update={"rows": [*own, *more], "note": "; ".join(filter(None, notes)), "rows_are": ""})


def _times(point: LoadPoint | None) -> str:
    values = [point.quantiles[name] for name in ("p50", "p99") if name in point.quantiles] if point else []
    if len(values) < 2:
        return DASH
    if not all(map(is_resolved, values)):
        return INCONCLUSIVE
    scale = scale_for("s", [e.value for e in values])
    return f"{' / '.join(claim_number(e, scale, ends=False) for e in values)} {scale.unit}"
