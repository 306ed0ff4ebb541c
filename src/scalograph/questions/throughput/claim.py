"""State the maximum throughput, the load from which it is reached, and the bottleneck: cases and their values."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scalograph.findings.answer import SampleMap
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import AnswerCase, Level
from scalograph.questions.claims import case, missing_response, state, why_unanswerable
from scalograph.questions.matrices import Line, choose_columns, matrix, rows
from scalograph.questions.terms import find_terms, is_covered, term_text
from scalograph.questions.throughput.document import LIMITS, LoadedGroup, LoadPoint, PartUse
from scalograph.questions.throughput.model_bottleneck import WAITED
from scalograph.questions.throughput.model_driven import WRONG
from scalograph.text.answer_form import quantity_text
from scalograph.text.cell_numbers import INCONCLUSIVE, claim_number, is_resolved
from scalograph.text.format import DASH
from scalograph.text.load_words import rate_unit, small_percent, used_of_granted
from scalograph.text.scale import scale_for
from scalograph.text.short_names import join_names
from scalograph.text.units import format_duration

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
    "bottleneck": "The bottleneck is the {part}[[ ({use})]][[, e.g. {cause}]][[, shared with the {driver}]].",
    "generator first": "The load generator saturates first, so the service may reach more.",
    "low load": "The load does not saturate the service; test a higher one.",
    "elsewhere": "No CPU is saturated, so requests wait elsewhere, e.g. for {what}.",
    "either": "Inconclusive: the bottleneck is {parts:or}.",
    "holders": "Inconclusive: the bottleneck is the {part} ({use}), or the CPUs that its holders wait for.",
    "unknown": "Inconclusive: the bottleneck is unknown; no CPU is saturated[[, yet tasks wait for {what}]].",
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
KINDS = {
    "cpu": "CPU", "quota": "CPU quota", "tasks": "tasks", "io": "I/O", "memory": "memory", "pool": "pool",
    "driver": "load generator", "clients": "load", "wrong": "failed requests", "backlog": "dropped connections",
}  # fmt: skip
# Kind of bottleneck -> case; the others are parts that are used up.
CASES = {"driver": "generator first", "clients": "low load", "inside": "elsewhere"}
CAUSES = {"connect": "refused connections", "closed": "lost connections", "timeout": "timeouts"}


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
            failed = _request_share(last.errors) if last.errors >= WRONG else ""
            yield AnswerCase(case="falls", values={**fallen, "failed": failed})
        yield from self._others()
        if main != "open":
            yield from bottleneck_case(group)
        if main in ("open", "full"):
            yield AnswerCase(case="from" if main == "full" else "test more")
        for other in self._elsewhere:
            yield AnswerCase(case="rises elsewhere", values=self._values(other, "elsewhere"))

    def _lost(self) -> Iterator[AnswerCase]:
        """State the requests without a right answer, and the clients without any, at the load that is claimed."""
        group, point = self._first, self._first.top
        values: dict[str, Any] = {}
        if point.errors >= WRONG and group.ends != "wrong":
            values |= {"failed": _request_share(point.errors), "cause": CAUSES.get(point.cause, "wrong answers")}
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


def bottleneck_case(group: LoadedGroup) -> Iterator[AnswerCase]:
    """Yield the case of the bottleneck; none where nothing was measured that could show it."""
    parts = group.ended_by
    values = [{"part": part_name(group, part), "use": use_text(part, group.fullest)} for part in parts]
    own: dict[str, Any] = values[0] if values else {}
    if group.ends != "inconclusive":
        if group.ends == "inside":
            own["what"] = "a lock" if any(part.kind == "pool" for part in group.ruled_out) else "a lock or a pool"
        elif group.ends == "wrong":
            own["cause"] = CAUSES.get(parts[0].names[0], "wrong answers")
        elif parts and parts[0].of_driver:
            own["driver"] = KINDS["driver"]
        if group.ends != "not known":
            yield AnswerCase(case=CASES.get(group.ends, "bottleneck"), values=own)
    elif len(parts) > 1:
        named = [f"{x['part']} ({x['use']})" if x["use"] else x["part"] for x in values]
        yield AnswerCase(case="either", values={"parts": named})
    elif group.state != "rising":
        waits = group.waited is not None and group.waited >= WAITED
        yield AnswerCase(case="holders" if parts else "unknown", values={**own, "what": "one" if waits else ""})


def part_name(group: LoadedGroup, part: PartUse) -> str:
    """Name a part: "database CPU"; by its kind alone where there is one service."""
    services = {name for p in (*group.ended_by, *group.ruled_out) if p.kind == "cpu" for name in p.names}
    has_owner = len(services) > 1 and part.kind in ("cpu", "quota", "tasks", "io", "memory")
    return f"{join_names(part.names)} " * has_owner + KINDS[part.kind]


def use_text(part: PartUse, point: LoadPoint | None) -> str:
    """State how full a part is at a load: "1.95 of 2 used"; empty where this has no number."""
    if point is None or part.kind in ("backlog", "wrong"):
        share = (point.dropped if part.kind == "backlog" else point.errors) if point else None
        return _request_share(share)
    alike = [x for x in point.parts if x.kind == part.kind != "driver" and {*x.names} & {*part.names}]
    here = max(alike, key=lambda x: (x.granted == part.granted, len({*x.names} & {*part.names})), default=None)
    if here is None or here.used is None:
        return f"waited for {small_percent(here.share)} of the time" if here else ""
    wait = f"; wait {format_duration(here.wait_s)}" if here.wait_s else ""
    return f"{used_of_granted(here.used, here.granted or 0.0)} used{wait}"


def _request_share(share: float | None) -> str:
    return "" if share is None else f"{small_percent(share)} of requests"


def _add_rows(shown: Matrix, group: LoadedGroup, points: Sequence[LoadPoint | None]) -> Matrix:
    """Add response times and the use of the bottleneck, or of CPUs: those of the first row."""
    parts = group.ended_by or [part for part in group.ruled_out if part.kind == "cpu"]
    texts = {"p50 / p99": [_times(point) for point in points]}
    texts |= {part_name(group, part): [use_text(part, point) for point in points] for part in parts}
    if group.points_with_runs[-1].errors >= WRONG:
        texts[KINDS["wrong"]] = [_request_share(point.errors if point else None) for point in points]
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
