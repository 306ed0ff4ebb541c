"""State what more workers gain, where they gain less, and where speedup falls again: cases and their values."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median_low

from scalograph.analysis.estimate import Estimate
from scalograph.design.stopping_rule import stopping
from scalograph.findings.answer import SampleMap
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import find_speedup_rule, outgrows_cpus, waiting_share
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Curve, Matrix, MatrixCell
from scalograph.protocol.plain import AnswerCase, Level, is_number
from scalograph.questions.claims import missing_response, state, why_unanswerable, why_unpaired
from scalograph.questions.matrices import Line, choose_columns, matrix, rows
from scalograph.questions.scaling.model_claim import (
    NO_GAIN,
    BestGain,
    ComparedPoint,
    Decline,
    compare_points,
    cpus_factor,
    find_best_gain,
    find_decline,
    is_resolved,
    missing_points,
)
from scalograph.questions.terms import Term, find_terms, is_covered, term_text
from scalograph.text.answer_form import Quantity
from scalograph.text.cell_numbers import is_resolved as is_narrow
from scalograph.text.format import level_text, significant
from scalograph.text.scale import Scale, scale_for
from scalograph.text.short_names import is_counted
from scalograph.text.warning_catalog import CATALOG
from scalograph.verdict.cause import COUNTED

FORMS = {
    "gain": "Speedup[[ over {base}]] reaches {gain:times} at {level}[[ on {cpus}]][[ with {who:list}]]"
    "[[ in {n} of {all} configurations]].",
    "weak": "Weak scaling: {efficiency:measured} efficiency at {level}[[; serial share {serial:measured}"
    " (Gustafson)]].",
    "beside": "It is[[; lower with {lower:each}]][[; lower in {n_lower} configurations ({range:times})]]"
    "[[; perhaps lower with {near:each}]][[; perhaps lower in {n_near}]]"
    "[[; inconclusive with {left:list}]][[; inconclusive in {n_left}]].",
    "decline": "Speedup falls to {speedup:times} at {level}[[ in {n} of {all} configurations]].",
    "split decline": "At {level} speedup is {better:times} with {first}, {worse:times} with {second}"
    "[[; {n} of {all} configurations]].",
    "waits": "The program waits for {share:percent} of its time, so more {factor} than CPUs add speed.",
    "no gain there": "There is no speedup on {cpus}.",
    "slower": "No level of {factor} is measurably faster than {base}; the lowest speedup is {gain:times} at {level}"
    "[[ with {who:list}]].",
    "no gain": "No level of {factor} is more than {least:percent} faster than {base}; the lowest speedup is"
    " {gain:times} at {level}[[ with {who:list}]].",
    "equivalent": "All levels of {factor} are equivalent, within {most:at_most} of {base}.",
    "identical": "All runs have the same value, at every level of {factor}.",
    "impossible": "Inconclusive: a speedup of {gain:times} at {level}[[ with {who:list}]] is more than"
    " the CPUs can give.",
    "open": "Inconclusive: no difference from {base} is significant among all comparisons; up to {most:at_most}"
    " is possible.",
    "one run": "Inconclusive: one run per configuration is too few to compare with {base}.",
    "too noisy": "Inconclusive: runs vary too much to compare with {base}. Add runs.",
    "no answer": "No answer: {reason}.",
}
FEW = 0.8  # of the clean runs that were asked for, and that most have


def claim(table: Table, taken: SampleMap, curves: Sequence[Curve]) -> Claim | None:
    """State what curves gain; None where none of them has a speedup."""
    points, reason = compare_points(table, taken, curves), why_unanswerable(table, taken)
    if not points:
        reason = reason or _incomparable(table, taken)
        return state(FORMS, [AnswerCase(case="no answer", values={"reason": reason})]) if reason else None
    every = [*points, *missing_points(table, taken, curves)]
    best = find_best_gain(table, every)
    past = find_decline(table, taken, best, points) if best else None
    answer = _Cases(table, taken, every, best, past)
    cases = [*answer.all()]
    if reason:
        cases = [AnswerCase(case="no answer", values={"reason": reason})]
    return state(FORMS, cases, answer.lines.matrix(curves)).model_copy(update={"about": answer.about})


def _incomparable(table: Table, taken: SampleMap) -> str:
    how = find_speedup_rule(table, table.view.curve_factor)
    if how is None:
        return ""
    factor, name = table.view.curve_factor, table.view.title(how.response)
    measured = [sample for sample in taken.values() if sample.scores(how.response)]
    if not measured:
        return missing_response(table, taken, how.response)
    if any(min(sample.scores(how.response)) <= 0 for sample in measured):
        return f"{name} of 0 or less has no speedup"
    return why_unpaired(table, measured, {factor: table.study.baseline[factor]})


def _serial_share(speedup: Estimate, n: float) -> Estimate | None:
    """Return the serial share s of Gustafson's law, S(n) = n - s (n - 1), not below 0; None where it surely is none.

    Source: Gustafson (1988), Reevaluating Amdahl's law; `n` is how many times the work of the baseline is done.
    """
    ends = speedup.value, speedup.high, speedup.low
    value, low, high = (None if end is None else (n - end) / (n - 1) for end in ends)
    if value is None or low is None or high is None or high <= 0:
        return None
    return replace(speedup, value=max(0.0, value), low=max(0.0, low), high=high)


class _Cases:
    """The cases of a claim; every number is that of a row, which is shown."""

    def __init__(
        self, table: Table, taken: SampleMap, points: Sequence[ComparedPoint], best: BestGain | None,
        past: Decline | None,
    ) -> None:  # fmt: skip
        self._table, self._taken, self._points, self._best, self._past = table, taken, points, best, past
        self._factor = points[0].curve.factor
        self._cpus = cpus_factor(table, self._factor)
        self._names = [n for n in table.view.varying if n in points[0].curve.group and n != self._cpus]
        self._worst = None if best else min(self._slower(), key=lambda point: point.high, default=None)
        level, last = (best.level, past.level if past else None) if best else (None, None)
        needed = [x for x in (level, last, self._worst.level if self._worst else None) if x is not None]
        self.lines = _Lines(table, self._factor, [p for p in points if p.point.speedup], needed, self._kind)

    def all(self) -> Iterator[AnswerCase]:
        """Yield the cases, the first one first."""
        best = self._best
        if best is None:
            yield self._nothing_faster()
            return
        base = self._table.study.baseline[self._factor]
        n, beside = len(best.members), len(best.peers)
        terms = self._terms(best.members)
        yield AnswerCase(case="gain", values={
            "base": self._level(base) if base != 1 else "", "gain": self.lines.cells(best.members, best.level),
            "level": self._level(best.level), "cpus": self._place(best.members[0]),
            "who": [*map(self._text, terms)] if terms and terms != [{}] else [],
            "n": n if terms is None else None, "all": beside,
        })  # fmt: skip
        yield from self._weak_scaling(best)
        yield from self._exceptions(best)
        if self._past is not None:
            yield self._decline(best, self._past)
        yield from self._waits(best)
        yield from self._no_gain()

    def _weak_scaling(self, best: BestGain) -> Iterator[AnswerCase]:
        """Name efficiency and Gustafson's serial share with most nodes of a cluster, where each has as much work."""
        study = self._table.study
        last = max((p for p in self._points if p.curve is best.members[0].curve), key=lambda point: point.level)
        is_weak = study.work == "per-worker" and (study.factors[self._factor].control or "").startswith("cluster:")
        if not is_weak or last.point.speedup is None or last.level == study.baseline[self._factor]:
            return
        n = last.level / int(study.baseline[self._factor])
        percent, speedup = Scale(100.0, "%"), last.point.speedup
        serial = _serial_share(speedup, n)
        yield AnswerCase(case="weak", values={
            "efficiency": Quantity(speedup.rescale(1 / n), percent), "level": self._level(last.level),
            "serial": None if serial is None else Quantity(serial, percent),
        })  # fmt: skip

    @property
    def about(self) -> list[dict[str, Level]]:
        """Return the configurations whose speedup the first sentence states."""
        points = self._best.members if self._best else [self._worst] if self._worst else []
        return [{**point.curve.group, point.curve.factor: point.level} for point in points]

    def _exceptions(self, best: BestGain) -> Iterator[AnswerCase]:
        """Name what gains less, and what is inconclusive: one sentence, so that neither is dropped."""
        values: dict[str, object] = {}
        for name, points in (("lower", best.others), ("near", best.near), ("left", best.left)):
            terms = self._terms(points)
            if terms is None:
                values |= {f"n_{name}": len(points)} | ({"range": self._cells(points)} if name == "lower" else {})
            else:
                cells = [(self._text(term), self._cells(self._points_of(points, term))) for term in terms]
                values[name] = [text for text, _ in cells] if name == "left" else cells
        if any(values.values()):
            yield AnswerCase(case="beside", values=values)

    def _cells(self, points: Sequence[ComparedPoint]) -> list[Estimate]:
        return self.lines.cells(points, points[0].level)

    def _decline(self, best: BestGain, past: Decline) -> AnswerCase:
        n, every = sum(map(len, past.parts)), len(best.members)  # some have not so many workers, or are inconclusive
        common = {"level": self._level(past.level), "n": n if n < every else None, "all": every}
        if not past.setting:
            return AnswerCase(case="decline", values={"speedup": self.lines.cells(past.parts[0], past.level), **common})
        (first, second), (better, worse) = past.setting, past.parts
        return AnswerCase(case="split decline", values={
            "first": self._table.view.short_levels(dict([first])), "better": self.lines.cells(better, past.level),
            "second": self._table.view.short_levels(dict([second])), "worse": self.lines.cells(worse, past.level),
            **common,
        })  # fmt: skip

    def _waits(self, best: BestGain) -> Iterator[AnswerCase]:
        curve, names = best.members[0].curve, [*self._table.study.factors]
        group = [s for s in self._taken.values() if all(s.configuration[n] == x for n, x in curve.group.items())]
        if names and outgrows_cpus(self._table, self._factor, group):
            share = waiting_share(self._table, self._factor, group)
            yield AnswerCase(case="waits", values={"share": share, "factor": self._table.view.title(self._factor)})

    def _no_gain(self) -> Iterator[AnswerCase]:
        for level in sorted({p.curve.group[self._cpus] for p in self._points} if self._cpus else (), key=str):
            there = [point for point in self._points if point.curve.group[self._cpus] == level]
            if all(point.high <= NO_GAIN for point in there):
                self.lines.show(there[:1])
                yield AnswerCase(case="no gain there", values={"cpus": self._place(there[0])})

    def _nothing_faster(self) -> AnswerCase:
        resolved = [point for point in self._points if is_resolved(point)]
        never = all(point.high <= NO_GAIN for point in self._points)
        common = {"factor": self._table.view.title(self._factor), "base": self._base}
        if self._worst is not None:
            values = {**common, "least": NO_GAIN - 1, **self._details(self._worst)}
            return AnswerCase(case="no gain" if never else "slower", values=values)
        if invalid := [point for point in self._points if not point.is_possible]:
            return AnswerCase(case="impossible", values=self._details(max(invalid, key=lambda point: point.value)))
        most = max((max(p.high, 1 / p.low) for p in resolved), default=0.0) - 1
        if never and len(resolved) == len(self._points) and most <= NO_GAIN - 1:
            return AnswerCase(case="equivalent" if most else "identical", values={**common, "most": most})
        if resolved:
            return AnswerCase(case="open", values={**common, "most": most})
        is_one = all(point.contrast.df <= 0 for point in self._points)
        return AnswerCase(case="one run" if is_one else "too noisy", values=common)

    def _details(self, point: ComparedPoint) -> Mapping[str, object]:
        own = self._table.view.short_levels(self._table.view.varying_levels(point.curve.group))
        cells = self.lines.cells([point], point.level)
        return {"gain": cells, "level": self._level(point.level), "who": [own] if own else []}

    def _slower(self) -> list[ComparedPoint]:
        return [point for point in self._points if point.state == "slower" and is_resolved(point)]

    def _kind(self, levels: Mapping[str, Level]) -> Hashable:
        """Tell apart what the claim names: the term of a configuration, and its part of a decline."""
        best, past = self._best, self._past
        if best is None:
            return self._worst is not None and _has(self._worst, levels)
        if self._cpus and levels[self._cpus] != best.members[0].curve.group[self._cpus]:
            return ("elsewhere", levels[self._cpus])
        part = tuple(levels[name] for name, _ in (past.setting if past else ())[:1])
        for name, points in best.parts.items():
            if any(_has(point, levels) for point in points):
                terms = self._terms(points) or []
                return name, part, next((i for i, term in enumerate(terms) if is_covered(levels, term)), None)
        return "unmeasured"

    def _terms(self, points: Sequence[ComparedPoint]) -> list[Term] | None:
        if not points:
            return []
        assert self._best is not None
        return find_terms([p.curve.group for p in points], [p.curve.group for p in self._best.peers], self._names)

    def _points_of(self, points: Sequence[ComparedPoint], term: Term) -> list[ComparedPoint]:
        return [point for point in points if is_covered(point.curve.group, term)]

    def _text(self, term: Term) -> str:
        return term_text(self._table.view, term)

    def _place(self, point: ComparedPoint) -> str:
        return self._table.view.short_levels({self._cpus: point.curve.group[self._cpus]}) if self._cpus else ""

    @property
    def _base(self) -> str:
        return self._level(self._table.study.baseline[self._factor])

    def _level(self, level: Level) -> str:
        return self._table.view.short_levels({self._factor: level})


@dataclass
class _Lines:
    """The rows of the matrix, and those that the claim names."""

    table: Table
    factor: str
    points: Sequence[ComparedPoint]
    needed: Sequence[int]
    kind: Callable[[Mapping[str, Level]], Hashable]
    _shown: list[Line] = field(default_factory=list)

    def __post_init__(self) -> None:
        levels = sorted({point.level for point in self.points} | set(self.needed))
        self.columns = choose_columns(sorted(point.level for point in self.points), [*self.needed, levels[-1]][:2])
        usual = median_low(_n_clean(point.sample) for point in self.points)
        cells = []
        for point in self.points:
            doubt = point.point.doubt or few_runs_flag(self.table, point.sample, usual)
            cells.append((point.sample, MatrixCell(estimate=point.point.speedup, doubt=doubt)))
        self._lines = rows(self.table, self.factor, self.columns, cells, self.kind)

    def cells(self, points: Sequence[ComparedPoint], level: int) -> list[Estimate]:
        """Return the resolved cells of these configurations, the least and the largest of several; their rows show."""
        lines = [line for line in self._lines if any(_holds(line, point) for point in points)]
        at = self.columns.index(level)
        pairs = [(line, e) for line in lines if (e := line.cells[at].estimate) is not None and e.value]
        pairs = [pair for pair in pairs if pair[1].low is None or is_narrow(pair[1])]
        pairs.sort(key=lambda pair: pair[1].value or 0.0)
        ends = pairs if len(pairs) < 2 else [pairs[0], pairs[-1]]
        self._show([line for line, _ in ends] or lines[:1])
        return [e for _, e in ends]

    def show(self, points: Sequence[ComparedPoint]) -> None:
        """Show a row of these configurations."""
        lines = [line for line in self._lines if any(_holds(line, point) for point in points)]
        self._show([] if any(line is shown for line in lines for shown in self._shown) else lines[:1])

    def _show(self, lines: Sequence[Line]) -> None:
        self._shown += [line for line in lines if not any(line is shown for shown in self._shown)]

    def matrix(self, curves: Sequence[Curve]) -> Matrix:
        """Tabulate the levels that the claim names, and some between; the rows that it names first."""
        table, factor, chosen = self.table, self.factor, self.columns
        cpus = cpus_factor(table, factor)
        rest = [line for line in self._lines if not any(line is shown for shown in self._shown)]
        rest.sort(key=lambda line: _rank(line, cpus))
        base = table.view.short_levels({factor: table.study.baseline[factor]})
        texts = {"title": f"speedup over {base}", "better": "higher", "note": _baseline(table, curves, base)}
        is_full = not is_counted(table.view.title(factor))
        heads = [table.view.short_levels({factor: x}) if is_full or x == chosen[-1] else level_text(x) for x in chosen]
        return matrix(table, [*self._shown, *rest], heads, **texts)


def _has(point: ComparedPoint, levels: Mapping[str, Level]) -> bool:
    return all(point.curve.group[name] == level for name, level in levels.items())


def _holds(line: Line, point: ComparedPoint) -> bool:
    return all(point.curve.group[name] in levels for name, levels in line.levels.items())


def _rank(line: Line, cpus: str) -> tuple[float, float]:
    n_cpus = max((float(level) for level in line.levels.get(cpus, ()) if is_number(level)), default=0.0)
    values = [cell.estimate.value for cell in line.cells if cell.estimate and cell.estimate.value]
    return -n_cpus, -max(values, default=0.0)


def few_runs_flag(table: Table, sample: Sample, usual: int) -> str:
    """Flag a cell with few clean runs; not where a budget ended the study early: then all have few."""
    if sample.is_uncorrected:
        return CATALOG["uncorrected"].flag
    if sample.falls_back:
        return "includes disturbed runs"
    n, asked = _n_clean(sample), table.study.protocol.runs
    return f"{n} clean runs, {asked} asked" if n <= FEW * min(asked, usual) and stopping(table.study) is None else ""


def _n_clean(sample: Sample) -> int:
    return sum(row.verdict in COUNTED for row in sample.succeeded)


def _baseline(table: Table, curves: Sequence[Curve], base: str) -> str:
    name = table.view.primary
    level = table.study.baseline[curves[0].factor]
    base_values = [p.responses[name].estimate.value for curve in curves for p in curve.points if p.level == level]
    values = [value for value in base_values if value]
    if not values:
        return ""
    scale = scale_for(table.view.response.unit, values)
    ends = dict.fromkeys(significant(value * scale.factor) for value in (min(values), max(values)))
    return f"{base}: {' to '.join(ends)} {scale.unit}".rstrip()
