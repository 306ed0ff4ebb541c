"""Draw the response along one factor, the others as the fastest has them."""

from math import log10
from typing import Any

from scalograph.protocol.figure import Figure, Plot, View
from scalograph.protocol.findings import Findings
from scalograph.questions.best.document import FIGURE, Best, BestLine
from scalograph.text.plots import area, axis, decades, fade_color, hover, line, log_range
from scalograph.text.scale import Scale, scale_for

CAPTION = (
    "Dots: runs of the search. Line: fit of all runs, shaded its 95%. Heavy: configurations that may be as fast as the "
    "fastest. Other factors are as the fastest has them."
)


def figures(findings: Findings) -> list[Figure]:
    """Draw the fit along its longest factor; nothing where there is none."""
    part = findings.document("best", Best)
    if part is None or part.line is None or len(part.line.levels) < 2:
        return []
    response = next(r for r in findings.study.responses if r.name == part.response)
    title = {factor.name: factor.title or factor.name for factor in findings.study.factors}[part.line.factor]
    scale = scale_for(response.unit, part.line.value)
    what = response.title or part.response
    plot = Plot(
        f"{what} along {title}", _traces(part.line, scale), _layout(part.line, scale, title, what), size="large"
    )
    return [Figure(FIGURE, f"{what} along {title}", CAPTION, [View([plot])], unit=scale.unit)]


def _traces(drawn: BestLine, scale: Scale) -> list[dict[str, Any]]:
    value, low, high = ([y * scale.factor for y in ys] for ys in (drawn.value, drawn.low, drawn.high))
    heavy = [y if x in drawn.members else None for x, y in zip(drawn.levels, value, strict=True)]
    xs, ys = [x for x, _ in drawn.runs], [y * scale.factor for _, y in drawn.runs]
    texts = [hover([f"{drawn.factor} {x:g}", f"{y:.4g} {scale.unit}"]) for x, y in zip(xs, ys, strict=True)]
    dots = {"mode": "markers", "marker": {"size": 6, "color": "line-1"}, "hoverinfo": "text", "text": texts}
    return [
        area(drawn.levels, low, high, fade_color("line-0", 0.18)), line(drawn.levels, value, "line-0", 1.4),
        line(drawn.levels, heavy, "line-0", 5.0), line(xs, ys, "line-1", 0, **dots),
    ]  # fmt: skip


def _layout(drawn: BestLine, scale: Scale, title: str, what: str) -> dict[str, Any]:
    ys = [y * scale.factor for y in (*drawn.value, *(y for _, y in drawn.runs))]
    whole = [y * scale.factor for y in (*drawn.low, *drawn.high)]
    first, last = drawn.levels[0], drawn.levels[-1]
    is_log = first > 0 and last / first > 8
    ends = (log10(first) - 0.03, log10(last) + 0.03) if is_log else (first - 0.5, last + 0.5)
    across = {"type": "log"} if is_log else {}
    unit = f" ({scale.unit})" if scale.unit else ""
    upward = {"title": {"text": f"{what}{unit}"}, "showgrid": False, **decades(*log_range(ys, whole))}
    return {"xaxis": axis(title, ends, **across), "yaxis": upward}
