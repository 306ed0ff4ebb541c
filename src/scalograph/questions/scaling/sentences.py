"""The answer in words, most important first."""

from collections import Counter
from collections.abc import Sequence

from scalograph.analysis.estimate import Estimate
from scalograph.findings.names import setting, title, varying
from scalograph.findings.published import REPRODUCES
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve, TableDoc
from scalograph.questions.scaling.curve_shape import (
    COLLAPSES,
    SCALES,
    Shape,
    told,
)

MAX_SENTENCES = 12


def sentences(table: Table, curves: Sequence[Curve], published: TableDoc | None) -> list[str]:
    """What the study found."""
    shapes = [Shape.of(table, curve) for curve in curves]
    measured = [shape for shape in shapes if shape.points]
    found = [_summary(title(table, measured[0].curve.factor), measured)] if measured else []
    found += [_curve(table, shape) for shape in sorted(measured, key=lambda shape: -shape.most)]
    if len(found) > MAX_SENTENCES:
        found = [*found[:MAX_SENTENCES], f"{len(found) - MAX_SENTENCES} further curves are in the tables."]
    return found + _reproduced(published)


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
    text = f"{where}: at most {_times(told(shape.best))} ({setting(table, {curve.factor: shape.best.level})})"
    if shape.fallen is not None:
        text += f", down to {_times(told(shape.fallen))} ({setting(table, {curve.factor: shape.fallen.level})})"
    return text + "."


def _times(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return "unknown"
    if estimate.low is None or estimate.high is None or estimate.low == estimate.high:
        return f"{estimate.value:.3g}x"
    return f"{estimate.value:.3g}x [{estimate.low:.3g}, {estimate.high:.3g}]"


def _reproduced(published: TableDoc | None) -> list[str]:
    """How many of the published scaling factors were found again; the baselines are 1 by definition and say nothing."""
    if published is None or published.columns[-1].name != REPRODUCES:
        return []
    answers = Counter(str(row[-1]) for row in published.rows)
    words = {
        "no: published lower": "published lower than here",
        "no: published higher": "published higher than here",
        "undecided": "undecided (too few runs here, or too wide an interval)",
    }
    n = answers["yes"] + sum(answers[answer] for answer in words)
    if not n:
        return ["None of the published treatments was run here."]
    text = f"Of {n} published scaling factors that have a treatment here, {answers['yes']} reproduce"
    return [
        "; ".join([text, *(f"{answers[answer]} {what}" for answer, what in words.items() if answers[answer])]) + "."
    ]
