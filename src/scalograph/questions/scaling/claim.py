"""State the claim of a sweep: how much more workers gain, where they do not, and where it declines."""

from collections.abc import Iterator, Sequence
from statistics import median_low

from scalograph.design.stopping_rule import stopping
from scalograph.findings.answer import SampleMap
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import find_speedup_rule
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Curve, Matrix, MatrixCell
from scalograph.protocol.plain import Level, is_number
from scalograph.questions.claims import limit_sentences, missing_response, why_unanswerable, why_unpaired
from scalograph.questions.matrices import Line, choose_columns, matrix, rows
from scalograph.questions.scaling.model_claim import (
    NO_GAIN,
    BestGain,
    ComparedPoint,
    Decline,
    FactorLevel,
    compare_points,
    cpus_factor,
    find_best_gain,
    find_decline,
    is_resolved,
    missing_points,
    unresolved_levels,
)
from scalograph.text.format import level_text, significant
from scalograph.text.quantities import percent_at_most, times, times_of
from scalograph.text.scale import scale_for
from scalograph.text.short_names import is_counted, is_plural, join_names
from scalograph.verdict.cause import COUNTED

FEW = 0.8  # of the clean runs that were asked for, and that most have


def speedup_matrix(
    table: Table, curves: Sequence[Curve], points: Sequence[ComparedPoint], best: BestGain | None, past: Decline | None
) -> Matrix:
    """Tabulate the levels that the claim names, and some between; most CPUs first."""
    factor, levels = curves[0].factor, sorted(point.level for point in points)
    last = past.level if past else levels[-1]
    chosen = choose_columns(levels, [best.level if best else levels[0], last])
    usual = median_low(_n_clean(point.sample) for point in points)
    cells = []
    for point in points:
        doubt = point.point.doubt or few_runs_flag(table, point.sample, usual)
        cells.append((point.sample, MatrixCell(estimate=point.point.speedup, doubt=doubt)))
    lines, cpus = rows(table, factor, chosen, cells), cpus_factor(table, factor)
    lines.sort(key=lambda line: _rank(line, chosen, cpus, best))
    base = table.view.short_levels({factor: table.study.baseline[factor]})
    texts = {"title": f"speedup over {base}", "better": "higher", "note": _baseline(table, curves, base)}
    is_full = not is_counted(table.view.title(factor))
    heads = [table.view.short_levels({factor: x}) if is_full or x == chosen[-1] else level_text(x) for x in chosen]
    return matrix(table, lines, heads, **texts)


def few_runs_flag(table: Table, sample: Sample, usual: int) -> str:
    """Flag a cell with few clean runs; not where a budget ended the study early: then all have few."""
    if sample.falls_back:
        return "rests on disturbed runs"
    n, asked = _n_clean(sample), table.study.protocol.runs
    return f"{n} clean runs, {asked} asked" if n <= FEW * min(asked, usual) and stopping(table.study) is None else ""


def _n_clean(sample: Sample) -> int:
    return sum(row.verdict in COUNTED for row in sample.succeeded)


def _rank(line: Line, columns: Sequence[Level], cpus: str, best: BestGain | None) -> tuple[float, bool, float]:
    n_cpus = max((float(level) for level in line.levels.get(cpus, ()) if is_number(level)), default=0.0)
    cell = line.cells[columns.index(best.level) if best else 0]
    value = cell.estimate.value or 0.0 if cell.estimate else 0.0
    is_best = best is None or value >= min(point.low for point in best.members)
    return -n_cpus, not is_best, -value if is_best else value


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


def claim(table: Table, taken: SampleMap, curves: Sequence[Curve]) -> Claim | None:
    """State what curves gain; None where none of them has a speedup."""
    points, reason = compare_points(table, taken, curves), why_unanswerable(table, taken)
    if not points:
        reason = reason or _incomparable(table, taken)
        return Claim(sentences=[f"Cannot be said: {reason}."], answered=False) if reason else None
    every = [*points, *missing_points(table, taken, curves)]
    best = find_best_gain(table, every)
    past = find_decline(table, taken, best, points) if best else None
    sentences = [f"Cannot be said: {reason}."] if reason else limit_sentences(_Sentences(table, every).all(best, past))
    answered, shown = not sentences[0].startswith("Cannot"), speedup_matrix(table, curves, points, best, past)
    return Claim(sentences=sentences, answered=answered, matrix=shown)


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


class _Sentences:
    def __init__(self, table: Table, points: Sequence[ComparedPoint]) -> None:
        self._table, self._points = table, points
        self._factor = points[0].curve.factor
        self._title = table.view.title(self._factor)
        self._base = table.study.baseline[self._factor]

    def all(self, best: BestGain | None, past: Decline | None) -> Iterator[str]:
        """Yield the sentences of the claim, the first one first."""
        if best is None:
            yield from self._nothing_faster()
            return
        yield self._best_gain(best)
        if past is not None:
            yield self._decline(best, past)
        yield from self._no_gain()

    def _best_gain(self, best: BestGain) -> str:
        cpus = cpus_factor(self._table, self._factor)
        on = f" on {self._level_name(cpus, best.members[0].curve.group[cpus])}" if cpus else ""
        only = f" with {join_names(self._names(best.only))}" if best.only else ""
        text = f"{self._count(best.level)}{on}{only} {self._gain(best.level, best.members)}"
        if best.unless:
            unless = join_names(self._names(best.unless), "or")
            text += self._many(best, unless) if best.unless[1:] else f", but not with {unless}{self._then(best.others)}"
        if best.left:
            unresolved = self._names(unresolved_levels(self._table, best))
            text += f"; not resolved: {join_names(unresolved or ['some configurations'])}"
        return f"{text}."

    def _many(self, best: BestGain, unless: str) -> str:
        n = len(best.members)
        text = f" in {n} of {n + len(best.others) + len(best.left)} settings"
        order = sorted(best.others, key=lambda p: -p.value)
        last = order[-1]
        if not all(map(is_resolved, order)):
            return f"{text}; less in {len(order)} others ({unless})"
        most, worst, low, high = (significant(x, 2) for x in (order[0].value, last.value, last.low, last.high))
        return f"{text}; in {len(order)} others {most}x down to {worst}x [{low}, {high}] ({unless})"

    def _then(self, others: Sequence[ComparedPoint]) -> str:
        curves = {id(point.curve) for point in others}
        every = [point for point in self._points if id(point.curve) in curves]
        if all(point.state == "slower" for point in every):
            return f": then {self._more()} only {self._verb('make')} it slower"
        if all(map(is_resolved, others)):
            return f": then {times_of([p.point.speedup for p in others if p.point.speedup])}"
        return ""

    def _decline(self, best: BestGain, past: Decline) -> str:
        count, every = self._count(past.level), len(best.members)
        n = sum(map(len, past.parts))  # not every curve has so many workers among its levels
        if not past.setting:
            some = f"those {n}" if n == every else f"{n} of those {every}"
            who = f"{some} {'fall' if n > 1 else 'falls'}" if best.unless[1:] else "it falls"
            return f"At {count} {who} to {self._times(past.parts[0])}."
        parts = []
        for (name, level), part in zip(past.setting, past.parts, strict=True):
            plural = is_plural(self._table.view.title(name), level)
            keeps = min(p.value for p in part) >= 1
            verb = ("keep" if keeps else "fall to") if plural else ("keeps" if keeps else "falls to")
            parts.append(f"{self._level_name(name, level)} {verb} {self._times(part)}")
        at = f"at {count}," if n == every else f"{n} were measured at {count}:"
        where = f"Of those {every}, {at}" if best.unless[1:] else f"At {count},"
        return f"{where} {'; '.join(parts)}."

    def _no_gain(self) -> Iterator[str]:
        cpus = cpus_factor(self._table, self._factor)
        for level in sorted({p.curve.group[cpus] for p in self._points} if cpus else (), key=str):
            there = [point for point in self._points if point.curve.group[cpus] == level]
            if all(point.high <= NO_GAIN for point in there):
                yield f"On {self._level_name(cpus, level)} {self._more()} never {self._verb('help')}."

    def _nothing_faster(self) -> Iterator[str]:
        resolved = [point for point in self._points if is_resolved(point)]
        slower = [point for point in resolved if point.state == "slower"]
        never = all(point.high <= NO_GAIN for point in self._points)
        base = self._level_name(self._factor, self._base)
        more = self._more()
        head = f"{more[:1].upper()}{more[1:]}"
        if slower:
            worst = min(slower, key=lambda point: point.high)
            head = f"{head} never {self._verb('help')}" if never else f"None is shown to be faster than {base}"
            falls = f"{self._place_name(worst)} {self._verb('fall', worst.level)} to {times(worst.point.speedup)}"
            yield f"{head}: {self._alike(resolved)}{falls}."
            return
        if invalid := [point for point in self._points if not point.is_possible]:
            largest = max(invalid, key=lambda point: point.value)
            text = f"{times(largest.point.speedup)} at {self._place_name(largest)} is more than the CPUs can give"
            yield f"Cannot be said: {text}."
            return
        most = max((max(p.high, 1 / p.low) for p in resolved), default=0.0) - 1
        if never and len(resolved) == len(self._points) and most <= NO_GAIN - 1:
            how = f"at most {percent_at_most(most)}" if most else "all runs are alike to the last digit"
            yield f"{head} {self._verb('change')} nothing: {how}."
        elif resolved:
            possible = f"one of up to {percent_at_most(most)} is possible"
            yield f"Cannot be said: no difference from {base} is resolved; {possible}."
        else:
            is_one = all(point.contrast.df <= 0 for point in self._points)
            reason = "one run of each is too few" if is_one else "runs differ too much"
            yield f"Cannot be said: {reason} to compare with {base}."

    def _alike(self, resolved: Sequence[ComparedPoint]) -> str:
        base = self._base
        if len({id(point.curve) for point in self._points}) > 1 or isinstance(base, str):
            return ""
        after = sorted((point for point in resolved if point.level > base), key=lambda point: point.level)
        most = max(after[0].high, 1 / after[0].low) - 1 if after else NO_GAIN
        if most > NO_GAIN - 1 or after[0].state == "slower":
            return ""
        level = after[0].level
        return f"{self._count(level)} {self._verb('be', level)} as fast as {base}, within {percent_at_most(most)}; "

    def _place_name(self, point: ComparedPoint) -> str:
        where = self._table.view.short_levels(self._table.view.varying_levels(point.curve.group))
        return f"{self._count(point.level)}{f' ({where})' if where else ''}"

    def _gain(self, level: int, members: Sequence[ComparedPoint]) -> str:
        how, many = find_speedup_rule(self._table, self._factor), self._times(members)
        base = f"{self._base}" if is_counted(self._title) else self._level_name(self._factor, self._base)
        if how is not None and how.kind == "rate":
            rate = self._table.view.primary_title
            return f"{self._verb('reach', level)} {many} the {rate} of {base}"
        if how is not None and how.per_worker:
            return f"{self._verb('do', level)} {many} the work of {base} in the same time"
        return f"{self._verb('be', level)} {many} as fast as {base}"

    def _times(self, points: Sequence[ComparedPoint]) -> str:
        return times_of([point.point.speedup for point in points if point.point.speedup])

    def _count(self, level: int) -> str:
        return self._level_name(self._factor, level)

    def _more(self) -> str:
        return f"more {self._title}" if is_counted(self._title) else f"a higher {self._title}"

    def _verb(self, verb: str, level: Level = 2) -> str:
        plural = is_plural(self._title, level)
        if verb in ("be", "do"):
            return {"be": ("are", "is"), "do": ("do", "does")}[verb][not plural]
        return verb if plural else f"{verb}{'es' if verb.endswith('ch') else 's'}"

    def _level_name(self, name: str, level: Level) -> str:
        return self._table.view.short_levels({name: level})

    def _names(self, levels: Sequence[FactorLevel]) -> list[str]:
        return [self._level_name(name, level) for name, level in levels]
