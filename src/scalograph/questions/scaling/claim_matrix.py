"""The speedups that carry the claim."""

from collections.abc import Sequence
from statistics import median_low

from scalograph.design.stopping_rule import stopping
from scalograph.findings.names import short, title
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.claim import Matrix, MatrixCell
from scalograph.protocol.findings import Curve
from scalograph.protocol.plain import Level, is_number
from scalograph.questions.matrices import Line, columns_of, matrix, rows
from scalograph.questions.scaling.model_claim import End, Lead, cpus_factor
from scalograph.questions.scaling.model_contrasts import Compared
from scalograph.text.format import level_text, significant
from scalograph.text.scale import scale_for
from scalograph.text.short_names import is_counted
from scalograph.verdict.cause import COUNTED

# Of the clean runs that were asked for, and that most have.
FEW = 0.8


def speedup_matrix(
    table: Table, curves: Sequence[Curve], points: Sequence[Compared], found: Lead | None, past: End | None
) -> Matrix:
    """Show the levels that the claim names, and some between; most CPUs first."""
    factor, levels = curves[0].factor, sorted(point.level for point in points)
    last = past.level if past else levels[-1]
    chosen = columns_of(levels, [found.level if found else levels[0], last])
    usual = median_low(_n_clean(point.sample) for point in points)
    doubts = [point.point.doubt or few(table, point.sample, usual) for point in points]
    cells = [
        (p.sample, MatrixCell(estimate=p.point.speedup, doubt=doubt)) for p, doubt in zip(points, doubts, strict=True)
    ]
    lines = rows(table, factor, chosen, cells)
    cpus = cpus_factor(table, factor)
    lines.sort(key=lambda line: (-_number(line, cpus), *_rank(line, chosen, found)))
    base = short(table, {factor: table.study.baseline[factor]})
    texts = {"title": f"speedup over {base}", "better": "higher", "note": _baseline(table, curves, base)}
    return matrix(table, lines, [_head(table, factor, level, level == chosen[-1]) for level in chosen], **texts)


def few(table: Table, sample: Sample, usual: int) -> str:
    """Why a cell is marked; empty where it is not. A budget that ends the study early makes all of them few."""
    if sample.falls_back:
        return "rests on disturbed runs"
    n, asked = _n_clean(sample), table.study.protocol.runs
    return f"{n} clean runs, {asked} asked" if n <= FEW * min(asked, usual) and stopping(table.study) is None else ""


def _n_clean(sample: Sample) -> int:
    return sum(row.verdict in COUNTED for row in sample.every)


def _number(line: Line, name: str) -> float:
    levels = line.levels.get(name, ())
    return max((float(level) for level in levels if is_number(level)), default=0.0)


def _rank(line: Line, columns: Sequence[Level], found: Lead | None) -> tuple[bool, float]:
    """The best first, then the worst: what lies between them tells least."""
    cell = line.cells[columns.index(found.level) if found else 0]
    value = cell.estimate.value or 0.0 if cell.estimate else 0.0
    is_best = found is None or value >= min(point.low for point in found.members)
    return not is_best, -value if is_best else value


def _head(table: Table, factor: str, level: Level, is_last: bool) -> str:
    return short(table, {factor: level}) if is_last or not is_counted(title(table, factor)) else level_text(level)


def _baseline(table: Table, curves: Sequence[Curve], base: str) -> str:
    """What a speedup of 1 is, in the unit of the study."""
    name = primary(table)
    level = table.study.baseline[curves[0].factor]
    known = [p.responses[name].estimate.value for curve in curves for p in curve.points if p.level == level]
    values = [value for value in known if value]
    if not values:
        return ""
    scale = scale_for(table.study.responses[name].unit, values)
    ends = dict.fromkeys(significant(value * scale.factor) for value in (min(values), max(values)))
    return f"{base}: {' to '.join(ends)} {scale.unit}".rstrip()
