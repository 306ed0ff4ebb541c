"""What curves say first: how much more workers gain, where they do not, and where it ends."""

from collections.abc import Iterator, Sequence
from statistics import median_low

from scalograph.design.stopping_rule import stopping
from scalograph.findings.answer import Samples
from scalograph.findings.names import curve_factor, short_levels, title, varying_levels
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import find_speedup_rule, primary_response
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

# Of the clean runs that were asked for, and that most have.
FEW = 0.8


def speedup_matrix(
    table: Table, curves: Sequence[Curve], points: Sequence[ComparedPoint], best: BestGain | None, past: Decline | None
) -> Matrix:
    """Show the levels that the claim names, and some between; most CPUs first."""
    factor, levels = curves[0].factor, sorted(point.level for point in points)
    last = past.level if past else levels[-1]
    chosen = choose_columns(levels, [best.level if best else levels[0], last])
    usual = median_low(_n_clean(point.sample) for point in points)
    doubts = [point.point.doubt or few_runs_flag(table, point.sample, usual) for point in points]
    cells = [
        (p.sample, MatrixCell(estimate=p.point.speedup, doubt=doubt)) for p, doubt in zip(points, doubts, strict=True)
    ]
    lines = rows(table, factor, chosen, cells)
    cpus = cpus_factor(table, factor)
    lines.sort(key=lambda line: (-_number(line, cpus), *_rank(line, chosen, best)))
    base = short_levels(table, {factor: table.study.baseline[factor]})
    texts = {"title": f"speedup over {base}", "better": "higher", "note": _baseline(table, curves, base)}
    return matrix(table, lines, [_head(table, factor, level, level == chosen[-1]) for level in chosen], **texts)


def few_runs_flag(table: Table, sample: Sample, usual: int) -> str:
    """Why a cell is marked; empty where it is not. A budget that ends the study early makes all of them few."""
    if sample.falls_back:
        return "rests on disturbed runs"
    n, asked = _n_clean(sample), table.study.protocol.runs
    return f"{n} clean runs, {asked} asked" if n <= FEW * min(asked, usual) and stopping(table.study) is None else ""


def _n_clean(sample: Sample) -> int:
    return sum(row.verdict in COUNTED for row in sample.succeeded)


def _number(line: Line, name: str) -> float:
    levels = line.levels.get(name, ())
    return max((float(level) for level in levels if is_number(level)), default=0.0)


def _rank(line: Line, columns: Sequence[Level], best: BestGain | None) -> tuple[bool, float]:
    """The best first, then the worst: what lies between them tells least."""
    cell = line.cells[columns.index(best.level) if best else 0]
    value = cell.estimate.value or 0.0 if cell.estimate else 0.0
    is_best = best is None or value >= min(point.low for point in best.members)
    return not is_best, -value if is_best else value


def _head(table: Table, factor: str, level: Level, is_last: bool) -> str:
    return (
        short_levels(table, {factor: level}) if is_last or not is_counted(title(table, factor)) else level_text(level)
    )


def _baseline(table: Table, curves: Sequence[Curve], base: str) -> str:
    """What a speedup of 1 is, in the unit of the study."""
    name = primary_response(table)
    level = table.study.baseline[curves[0].factor]
    base_values = [p.responses[name].estimate.value for curve in curves for p in curve.points if p.level == level]
    values = [value for value in base_values if value]
    if not values:
        return ""
    scale = scale_for(table.study.responses[name].unit, values)
    ends = dict.fromkeys(significant(value * scale.factor) for value in (min(values), max(values)))
    return f"{base}: {' to '.join(ends)} {scale.unit}".rstrip()


def claim(table: Table, taken: Samples, curves: Sequence[Curve]) -> Claim | None:
    """Say what curves gain; None where none of them has a speedup.

    Args:
        table: the study.
        taken: the runs of each configuration.
        curves: with their speedups.
    """
    points, reason = compare_points(table, taken, curves), why_unanswerable(table, taken)
    if not points:
        reason = reason or _incomparable(table, taken)
        return Claim(sentences=[f"Cannot be said: {reason}."], answered=False) if reason else None
    every = [*points, *missing_points(table, taken, curves)]
    best = find_best_gain(table, every)
    past = find_decline(table, taken, best, points) if best else None
    shown = speedup_matrix(table, curves, points, best, past)
    sentences = (
        [f"Cannot be said: {reason}."] if reason else limit_sentences(_sentences(_Sentences(table, every), best, past))
    )
    return Claim(sentences=sentences, answered=not sentences[0].startswith("Cannot"), matrix=shown)


def _sentences(words: "_Sentences", best: BestGain | None, past: Decline | None) -> Iterator[str]:
    if best is None:
        yield from words.nothing_faster()
        return
    yield words.lead(best)
    if past is not None:
        yield words.end(best, past)
    yield from words.elsewhere(best)


def _incomparable(table: Table, taken: Samples) -> str:
    """Why nothing has a speedup; empty where it has no meaning."""
    how = find_speedup_rule(table, curve_factor(table))
    if how is None:
        return ""
    factor, name = curve_factor(table), title(table, how.response)
    measured = [sample for sample in taken.values() if sample.scores(how.response)]
    if not measured:
        return missing_response(table, taken, how.response)
    if any(min(sample.scores(how.response)) <= 0 for sample in measured):
        return f"{name} of 0 or less has no speedup"
    return why_unpaired(table, measured, {factor: table.study.baseline[factor]})


class _Sentences:
    """The sentences of one study."""

    def __init__(self, table: Table, points: Sequence[ComparedPoint]) -> None:
        self._table, self._points = table, points
        self._factor = points[0].curve.factor
        self._title = title(table, self._factor)
        self._base = table.study.baseline[self._factor]

    def lead(self, best: BestGain) -> str:
        """How much the best ones gain, and which do not."""
        cpus = cpus_factor(self._table, self._factor)
        on = f" on {short_levels(self._table, {cpus: best.members[0].curve.group[cpus]})}" if cpus else ""
        only = f" with {join_names([self._named(*level) for level in best.only])}" if best.only else ""
        text = f"{self._count(best.level)}{on}{only} {self._gain(best.level, best.members)}"
        if best.unless:
            unless = join_names([self._named(*level) for level in best.unless], "or")
            text += self._many(best, unless) if best.unless[1:] else f", but not with {unless}{self._then(best.others)}"
        if best.left:
            who = join_names(
                [self._named(*level) for level in unresolved_levels(self._table, best)] or ["some configurations"]
            )
            text += f"; not resolved: {who}"
        return f"{text}."

    def _many(self, found: BestGain, unless: str) -> str:
        """With how many configurations it is so, and what becomes of the others."""
        n = len(found.members)
        text = f" in {n} of {n + len(found.others) + len(found.left)} settings"
        order = sorted(found.others, key=lambda p: -p.value)
        last = order[-1]
        if not all(map(is_resolved, order)):
            return f"{text}; less in {len(order)} others ({unless})"
        best, worst, low, high = (significant(x, 2) for x in (order[0].value, last.value, last.low, last.high))
        return f"{text}; in {len(order)} others {best}x down to {worst}x [{low}, {high}] ({unless})"

    def _then(self, others: Sequence[ComparedPoint]) -> str:
        """What becomes of the exceptions."""
        curves = {id(point.curve) for point in others}
        every = [point for point in self._points if id(point.curve) in curves]
        if all(point.state == "slower" for point in every):
            return f": then {self._more()} only {self._verb('make')} it slower"
        if all(map(is_resolved, others)):
            return f": then {times_of([p.point.speedup for p in others if p.point.speedup])}"
        return ""

    def end(self, best: BestGain, past: Decline) -> str:
        """What is left of it at more workers."""
        count, every = self._count(past.level), len(best.members)
        n = sum(map(len, past.parts))  # not every curve has so many workers among its levels
        if not past.setting:
            some = f"those {n}" if n == every else f"{n} of those {every}"
            who = f"{some} {'fall' if n > 1 else 'falls'}" if best.unless[1:] else "it falls"
            return f"At {count} {who} to {self._times(past.parts[0])}."
        parts = []
        for (name, level), part in zip(past.setting, past.parts, strict=True):
            plural = is_plural(title(self._table, name), level)
            keeps = min(p.value for p in part) >= 1
            verb = ("keep" if keeps else "fall to") if plural else ("keeps" if keeps else "falls to")
            parts.append(f"{self._named(name, level)} {verb} {self._times(part)}")
        at = f"at {count}," if n == every else f"{n} were measured at {count}:"
        where = f"Of those {every}, {at}" if best.unless[1:] else f"At {count},"
        return f"{where} {'; '.join(parts)}."

    def elsewhere(self, best: BestGain) -> Iterator[str]:
        """On how many CPUs more workers never help, where that is shown."""
        cpus = cpus_factor(self._table, self._factor)
        for level in sorted({p.curve.group[cpus] for p in self._points} if cpus else (), key=str):
            there = [point for point in self._points if point.curve.group[cpus] == level]
            if all(point.high <= NO_GAIN for point in there):
                yield f"On {short_levels(self._table, {cpus: level})} {self._more()} never {self._verb('help')}."

    def nothing_faster(self) -> Iterator[str]:
        """How much slower it becomes; that it stays the same, where that is shown; else how little could be seen."""
        resolved = [point for point in self._points if is_resolved(point)]
        slower = [point for point in resolved if point.state == "slower"]
        never = all(point.high <= NO_GAIN for point in self._points)
        base = f"{self._named(self._factor, self._base)}"
        if slower:
            worst = min(slower, key=lambda point: point.high)
            where = short_levels(self._table, varying_levels(self._table, worst.curve.group))
            at = f"{self._count(worst.level)}{f' ({where})' if where else ''}"
            head = f"{self._capital(self._more())} never {self._verb('help')}"
            head = head if never else f"None is shown to be faster than {base}"
            yield f"{head}: {self._alike(resolved)}{at} {self._verb('fall', worst.level)} to {times(worst.point.speedup)}."
            return
        if impossible := [point for point in self._points if not point.is_possible]:
            yield self._impossible(max(impossible, key=lambda point: point.value))
            return
        most = max((max(p.high, 1 / p.low) for p in resolved), default=0.0) - 1
        if never and len(resolved) == len(self._points) and most <= NO_GAIN - 1:
            how = f"at most {percent_at_most(most)}" if most else "all runs are alike to the last digit"
            yield f"{self._capital(self._more())} {self._verb('change')} nothing: {how}."
        elif resolved:
            possible = f"one of up to {percent_at_most(most)} is possible"
            yield f"Cannot be said: no difference from {base} is resolved; {possible}."
        else:
            is_one = all(point.contrast.df <= 0 for point in self._points)
            reason = "one run of each is too few" if is_one else "runs differ too much"
            yield f"Cannot be said: {reason} to compare with {base}."

    def _alike(self, resolved: Sequence[ComparedPoint]) -> str:
        """Of a single curve, the next level if it is as fast as the one that all are compared with."""
        base = self._base
        if len({id(point.curve) for point in self._points}) > 1 or isinstance(base, str):
            return ""
        after = sorted((point for point in resolved if point.level > base), key=lambda point: point.level)
        most = max(after[0].high, 1 / after[0].low) - 1 if after else NO_GAIN
        if most > NO_GAIN - 1 or after[0].state == "slower":
            return ""
        level = after[0].level
        return f"{self._count(level)} {self._verb('be', level)} as fast as {base}, within {percent_at_most(most)}; "

    def _impossible(self, point: ComparedPoint) -> str:
        where = short_levels(self._table, varying_levels(self._table, point.curve.group))
        at = f"{self._count(point.level)}{f' ({where})' if where else ''}"
        return f"Cannot be said: {times(point.point.speedup)} at {at} is more than the CPUs can give."

    def _gain(self, level: int, members: Sequence[ComparedPoint]) -> str:
        how, many = find_speedup_rule(self._table, self._factor), self._times(members)
        base = f"{self._base}" if is_counted(self._title) else self._named(self._factor, self._base)
        if how is not None and how.kind == "rate":
            return (
                f"{self._verb('reach', level)} {many} the {title(self._table, primary_response(self._table))} of {base}"
            )
        if how is not None and how.per_worker:
            return f"{self._verb('do', level)} {many} the work of {base} in the same time"
        return f"{self._verb('be', level)} {many} as fast as {base}"

    def _times(self, points: Sequence[ComparedPoint]) -> str:
        return times_of([point.point.speedup for point in points if point.point.speedup])

    def _count(self, level: int) -> str:
        return self._named(self._factor, level)

    def _more(self) -> str:
        return f"more {self._title}" if is_counted(self._title) else f"a higher {self._title}"

    def _verb(self, verb: str, level: Level = 2) -> str:
        plural = is_plural(self._title, level)
        if verb in ("be", "do"):
            return {"be": ("are", "is"), "do": ("do", "does")}[verb][not plural]
        return verb if plural else f"{verb}{'es' if verb.endswith('ch') else 's'}"

    def _named(self, name: str, level: Level) -> str:
        return short_levels(self._table, {name: level})

    @staticmethod
    def _capital(text: str) -> str:
        return f"{text[:1].upper()}{text[1:]}"
