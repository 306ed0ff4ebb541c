"""The answer in words, most important first."""

from collections.abc import Sequence

from scalograph.answer.tables import title, varied
from scalograph.findings import Curve, EstimateDoc, Point, TableDoc
from scalograph.table import Table

MAX_SENTENCES = 12
# A curve scales when it reaches this share of what its CPUs can give, and collapses when it falls below the other.
SCALES, COLLAPSES = 0.8, 0.8


def sentences(table: Table, curves: Sequence[Curve], published: TableDoc | None) -> list[str]:
    """What the study found."""
    measured = [curve for curve in curves if any(point.speedup and point.speedup.value for point in curve.points)]
    found = [_summary(table, measured)] if measured else []
    ranked = sorted(measured, key=lambda curve: -max((p.n_cpus or 1) for p in curve.points))
    found += [_curve(table, curve) for curve in ranked]
    if len(found) > MAX_SENTENCES:
        found = [*found[:MAX_SENTENCES], f"{len(found) - MAX_SENTENCES} further curves are in the tables."]
    return found + _reproduced(published)


def _summary(table: Table, curves: Sequence[Curve]) -> str:
    on_many = [curve for curve in curves if max((p.n_cpus or 1) for p in curve.points) > 1]
    scaling = sum(_best(curve)[1] >= SCALES * max((p.n_cpus or 1) for p in curve.points) for curve in on_many)
    falling = sum(_worst(curve)[1] <= COLLAPSES for curve in curves)
    factor = title(table, curves[0].factor)
    parts = []
    if on_many:
        parts.append(
            f"{scaling} of {len(on_many)} curves on more than one CPU reach {100 * SCALES:.0f} % of what it can give"
        )
    parts.append(
        f"{falling} of {len(curves)} curves end slower than {100 * COLLAPSES:.0f} % of their baseline somewhere"
    )
    return f"Along {factor}: " + "; ".join(parts) + "."


def _curve(table: Table, curve: Curve) -> str:
    fixed = [f"{title(table, name)} {curve.group[name]}" for name in varied(table) if name in curve.group]
    where = ", ".join(fixed) or "Overall"
    point, _ = _best(curve)
    low_point, low = _worst(curve)
    factor = title(table, curve.factor)
    text = f"{where}: at most {_times(point.speedup)} ({factor} {point.level})"
    if low <= COLLAPSES and low_point.level != point.level:
        text += f", down to {_times(low_point.speedup)} ({factor} {low_point.level})"
    return text + "."


def _best(curve: Curve) -> tuple[Point, float]:
    points = [(p, p.speedup.value) for p in curve.points if p.speedup and p.speedup.value is not None]
    return max(points, key=lambda item: item[1])


def _worst(curve: Curve) -> tuple[Point, float]:
    points = [(p, p.speedup.value) for p in curve.points if p.speedup and p.speedup.value is not None]
    return min(points, key=lambda item: item[1])


def _times(estimate: EstimateDoc | None) -> str:
    if estimate is None or estimate.value is None:
        return "unknown"
    if estimate.low is None or estimate.high is None or estimate.low == estimate.high:
        return f"{estimate.value:.3g}x"
    return f"{estimate.value:.3g}x [{estimate.low:.3g}, {estimate.high:.3g}]"


def _reproduced(published: TableDoc | None) -> list[str]:
    """How many of the published scaling factors were found again."""
    if published is None:
        return []
    answers = [str(row[-1]) for row in published.rows if row[-1] != "not measured"]
    if not answers:
        return ["None of the published treatments was run here."]
    n_yes = sum(answer == "yes" for answer in answers)
    text = f"Of {len(answers)} published scaling factors that have a treatment here, {n_yes} reproduce"
    lower, higher = answers.count("no: lower"), answers.count("no: higher")
    if lower:
        text += f"; {lower} published ones are lower than here"
    if higher:
        text += f"; {higher} are higher than here"
    return [text + "."]
