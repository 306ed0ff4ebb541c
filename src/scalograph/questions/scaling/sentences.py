"""The answer in words, most important first."""

from collections.abc import Sequence

from scalograph.findings.names import setting, title, varying
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve
from scalograph.questions.scaling.model_shape import (
    COLLAPSES,
    SCALES,
    Shape,
    told,
)
from scalograph.text.quantities import times

MAX_SENTENCES = 12


def sentences(table: Table, curves: Sequence[Curve]) -> list[str]:
    """What the study found."""
    shapes = [Shape.of(table, curve) for curve in curves]
    measured = [shape for shape in shapes if shape.points]
    found = [_summary(title(table, measured[0].curve.factor), measured)] if measured else []
    found += [_curve(table, shape) for shape in sorted(measured, key=lambda shape: -shape.most)]
    if len(found) > MAX_SENTENCES:
        found = [*found[:MAX_SENTENCES], f"{len(found) - MAX_SENTENCES} further curves are in the tables."]
    return found


def _summary(factor: str, shapes: Sequence[Shape]) -> str:
    on_many = [shape for shape in shapes if shape.most > 1]
    parts = []
    if on_many:
        reached = [shape.scales for shape in on_many]
        text = f"{reached.count(True)} of {len(on_many)} curves that can use more CPUs than their baseline reach "
        text += f"{100 * SCALES:.0f} % of what those CPUs can give"
        unclear = reached.count(None)
        parts.append(text + (f" ({unclear} undecided: their intervals are too wide)" if unclear else ""))
    n_slower, n_collapsed = sum(shape.slower for shape in shapes), sum(shape.collapsed for shape in shapes)
    text = f"{n_slower} of {len(shapes)} curves become slower than their baseline"
    parts.append(text + (f", {n_collapsed} of them below {100 * COLLAPSES:.0f} % of it" if n_slower else ""))
    return f"Along {factor}: " + "; ".join(parts) + "."


def _curve(table: Table, shape: Shape) -> str:
    curve = shape.curve
    where = setting(table, varying(table, curve.group)) or "Overall"
    text = f"{where}: at most {times(told(shape.best))} ({setting(table, {curve.factor: shape.best.level})})"
    if shape.fallen is not None:
        text += f", down to {times(told(shape.fallen))} ({setting(table, {curve.factor: shape.fallen.level})})"
    return text + "."
