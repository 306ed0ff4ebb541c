"""Throughput and response times over the load, a line for each setting, and what more load would ask for."""

from collections.abc import Sequence
from typing import Any

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.figure import Figure, Plot, View
from scalograph.protocol.findings import Findings
from scalograph.questions.throughput.document import LoadedGroup, LoadPoint, Throughputs
from scalograph.text.axes import Factors, Levels, place_of
from scalograph.text.format import estimate
from scalograph.text.plots import COLORS, MARGIN, at, axis, decades, faded, hover, line, reach
from scalograph.text.scale import PLAIN, Scale, scale_for

RATE = "Bars: intervals. Shaded: levels that may be the least one beyond which nothing is gained."
TIMES = "Full: half of the requests take less. Dotted: one in 100 takes more."
LATEST = "p99"


def figures(findings: Findings) -> list[Figure]:
    """Draw the settings of the highest rates, as many as have a color; none where there is one load only."""
    part = findings.document("throughput", Throughputs)
    drawn = [one for one in part.groups if len(one.points) > 1][:COLORS] if part else []
    if not drawn:
        return []
    factors = Factors(findings)
    along = factors[drawn[0].factor]
    unit = next((r.unit for r in findings.study.responses if r.name == findings.study.primary), "")
    name = "requests/s" if unit in ("", "1/s") else unit
    plots = [_rates(drawn, along, factors, name), *_times(drawn, along, factors)]
    return [Figure("throughput", f"Throughput over {along.title}", RATE, [View(plots)], unit=name)]


def _rates(drawn: Sequence[LoadedGroup], along: Levels, factors: Factors, unit: str) -> Plot:
    data = [_line(one, along, factors, i, "", unit) for i, one in enumerate(drawn)]
    ends = [e for one in drawn for p in one.points for e in (p.rate.value, p.rate.low, p.rate.high) if e and e > 0]
    shapes = [_plateau(one, along, i) for i, one in enumerate(drawn) if len(drawn) == 1 and one.plateau.value]
    layout = {"margin": MARGIN, "shapes": shapes, **_axes(along, unit, ends)}
    return Plot(f"rate over {along.title}; numbers in the tables", data, layout, title="Rate", key=RATE, size="large")


def _times(drawn: Sequence[LoadedGroup], along: Levels, factors: Factors) -> list[Plot]:
    known = [p for one in drawn for p in one.points if LATEST in p.quantiles]
    values = [e.value for p in known for e in p.quantiles.values() if e.value]
    if not values:
        return []
    scale = scale_for("s", values)
    half = [_line(one, along, factors, i, "p50", scale.unit, scale) for i, one in enumerate(drawn)]
    late = [_line(one, along, factors, i, LATEST, scale.unit, scale, "dot") for i, one in enumerate(drawn)]
    layout = {"margin": MARGIN, **_axes(along, scale.unit, [value * scale.factor for value in values])}
    return [Plot(f"response times over {along.title}; numbers in the tables", [*half, *late], layout,
                 title=f"Response time ({scale.unit})", key=TIMES, size="large")]  # fmt: skip


def _axes(along: Levels, unit: str, ends: Sequence[float]) -> dict[str, Any]:
    places = along.axis()["at"]
    spare = 0.04 * (max(places) - min(places) or 1.0)
    low, high = reach(ends, ends)
    return {
        "xaxis": axis(along.title, (min(places) - spare, max(places) + spare), **at(places, along.texts())),
        "yaxis": {"title": {"text": unit}, **decades(low, high)},
    }


def _line(
    one: LoadedGroup, along: Levels, factors: Factors, index: int, quantile: str, unit: str, scale: Scale = PLAIN,
    dash: str = "solid",
) -> dict[str, Any]:  # fmt: skip
    """The rate, or a quantile, with its intervals."""
    known = [(p, e) for p in one.points if (e := _of(p, quantile)).value is not None]
    place = place_of(along)
    name = factors.treatment(one.group) or along.title
    texts = [hover([name, f"{along.title}: {p.level}", f"{estimate(e, scale)} {unit}"]) for p, e in known]
    bars = {
        "type": "data", "symmetric": False, "thickness": 1.2, "width": 3, "color": f"line-{index}",
        "array": [((e.high or e.value or 0.0) - (e.value or 0.0)) * scale.factor for _, e in known],
        "arrayminus": [((e.value or 0.0) - (e.low or e.value or 0.0)) * scale.factor for _, e in known],
    }  # fmt: skip
    x, y = [place(p.level) for p, _ in known], [(e.value or 0.0) * scale.factor for _, e in known]
    more = {"name": name, "hoverinfo": "text", "text": texts, "error_y": bars, "mode": "lines+markers"}
    return line(x, y, f"line-{index}", 2, style={"dash": dash}, marker={"size": 6, "color": f"line-{index}"}, **more)


def _of(point: LoadPoint, quantile: str) -> Estimate:
    return point.quantiles.get(quantile, Estimate()) if quantile else point.rate


def _plateau(one: LoadedGroup, along: Levels, index: int) -> dict[str, Any]:
    """Shade from the first level that may be on the plateau to the first that is."""
    place = place_of(along)
    low, high = (place(x or 0.0) for x in (one.plateau.low, one.plateau.high))
    return {
        "type": "rect", "xref": "x", "yref": "paper", "x0": low, "x1": high, "y0": 0, "y1": 1,
        "layer": "below", "fillcolor": faded(f"line-{index}", 0.15), "line": {"color": f"line-{index}", "width": 1},
    }  # fmt: skip
