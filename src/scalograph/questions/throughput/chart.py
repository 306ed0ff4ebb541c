"""Chart of throughput and response times over the load, with the bounds that meet at the knee."""

from collections.abc import Mapping, Sequence
from math import log10
from typing import Any

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.figure import Figure, Plot, View
from scalograph.protocol.findings import Findings
from scalograph.questions.throughput.document import LoadedGroup, LoadPoint, Throughputs
from scalograph.text.axes import Factors, Levels, axis_position
from scalograph.text.cell_numbers import is_inconclusive
from scalograph.text.format import estimate, significant
from scalograph.text.load_words import rate_unit
from scalograph.text.plots import MARGIN, axis, axis_ticks, decades, fade_color, hover, line, log_range, split_hollow
from scalograph.text.scale import PLAIN, Scale, scale_for

MOST = 16
CAPTION = "Bars: 95% CI over runs. Hollow: inconclusive."
BOUNDS = "Dashed: the rate without queueing, and the highest rate. They meet at the knee."
SHADED = "Shaded: where the plateau may begin (95% CI)."
SECONDS = "Each second of one run, that with the median rate. Gaps: no answer."
MOST_TIMED = 4  # groups whose seconds are drawn
NAMES = {"p50": "p50", "p90": "p90", "p99": "p99"}
TIMES = "Latency by percentile."


def figures(findings: Findings) -> list[Figure]:
    """Draw each group that has several loads, those with the highest rates first, and runs over time."""
    part = findings.document("throughput", Throughputs)
    groups, factors = part.groups if part else [], Factors(findings)
    response = next((r for r in findings.study.responses if r.name == findings.study.primary), None)
    rate = rate_unit(response.title, response.unit) if response else ""
    every = [_view(group, factors, rate) for group in groups if len(group.points_with_runs) > 1][:MOST]
    timed = [view for group in groups[:MOST_TIMED] for view in _timed_views(group, factors, rate)]
    title = f"Throughput and response times over {factors[groups[0].factor].title}" if groups else ""
    drawn = [Figure("throughput", title, CAPTION, every, choice="Curve")] if every else []
    if timed:
        drawn.append(
            Figure("throughput-time", "Throughput and response times over time", SECONDS, timed, choice="Load")
        )
    return drawn


def _timed_views(group: LoadedGroup, factors: Factors, unit: str) -> list[View]:
    """Draw the seconds of a run at each load, that of the claimed rate first."""
    order = sorted((p for p in group.points if p.seconds), key=lambda point: (point.level != group.at, point.level))
    along, setting = factors[group.factor], factors.group(group.group)
    return [
        View(_seconds(point, unit), name=", ".join(filter(None, [f"{along.title}: {point.level}", setting])))
        for point in order
    ]


def _seconds(point: LoadPoint, unit: str) -> list[Plot]:
    rates = point.seconds["rate"]
    times = {name: [x or None for x in xs] for name, xs in point.seconds.items() if name != "rate" and any(xs)}
    plots = [_second_plot(f"Rate ({unit})", {"rate": rates}, unit, {"rangemode": "tozero"}, PLAIN)]
    if times:
        values = [x for xs in times.values() for x in xs if x]
        scale = scale_for("s", values)
        scaled = decades(0.9 * min(values) * scale.factor, 1.1 * max(values) * scale.factor)
        plots.append(_second_plot(f"Response time ({scale.unit})", times, scale.unit, scaled, scale))
    return plots


def _second_plot(
    title: str, lines: Mapping[str, Sequence[float | None]], unit: str, scaled: Mapping[str, Any], scale: Scale
) -> Plot:
    data, words = list[dict[str, Any]](), list[dict[str, Any]]()
    n, (low, high) = max(map(len, lines.values())), scaled.get("range", (0.0, 0.0))
    gap = 0.06 * (high - low)  # between names
    for i, (name, values) in enumerate(lines.items()):
        shown = [x if x is None else x * scale.factor for x in values]
        texts = [hover([f"second {at + 1}", f"{name}: {significant(y or 0.0)} {unit}"]) for at, y in enumerate(shown)]
        data.append(line([at + 0.5 for at in range(len(shown))], shown, f"line-{i}", 2, hoverinfo="text", text=texts))
        last = next((y for y in reversed(shown) if y), None)
        if len(lines) > 1 and last:
            lowest = max([log10(last), *(word["y"] + gap for word in words)])
            words.append({"x": n, "y": round(lowest, 4), "text": name, "showarrow": False, "xanchor": "left",
                          "xshift": 4, "font": {"color": f"line-{i}", "size": 12}})  # fmt: skip
    layout = {"margin": MARGIN | {"r": 76}, "annotations": words, "xaxis": axis("seconds in the steady phase", (0, n)),
              "yaxis": {"title": {"text": unit}, **scaled}}  # fmt: skip
    return Plot(f"{title} in each second", data, layout, title=title, size="large")


def _view(group: LoadedGroup, factors: Factors, unit: str) -> View:
    along, label = factors[group.factor], factors.group(group.group)
    note = f"All with {label}." if label else ""
    return View([_rate(group, along, unit), *_times(group, along)], name=label, note=note)


def _rate(group: LoadedGroup, along: Levels, unit: str) -> Plot:
    rates = [(point, point.rate) for point in group.points_with_runs]
    ends = [e for _, rate in rates for e in (rate.value, rate.low, rate.high) if e and e > 0]
    bounds = _bounds(group, along)
    shapes = [_shade(group, along)] if group.plateau.low is not None and group.plateau.high is not None else []
    data = [*bounds, *_line(rates, along, 0, unit)]
    layout = {"margin": MARGIN, "shapes": shapes, **_axes(along, unit, ends)}
    key = " ".join([*([BOUNDS] if bounds else []), *([SHADED] if shapes else [])])
    label = f"rate over {along.title}; numbers in the table of throughput"
    return Plot(label, data, layout, title=f"Rate ({unit})", key=key, size="large")


def _times(group: LoadedGroup, along: Levels) -> list[Plot]:
    names = [name for name in NAMES if all(name in point.quantiles for point in group.points_with_runs)]
    values = [point.quantiles[name].value for point in group.points_with_runs for name in names]
    positive = [value for value in values if value]
    if not positive:
        return []
    scale = scale_for("s", positive)
    lines = [[(point, point.quantiles[name]) for point in group.points_with_runs] for name in names]
    data = [trace for i, each in enumerate(lines) for trace in _line(each, along, i, scale.unit, scale)]
    position, last = axis_position(along), group.points_with_runs[-1]
    words = [
        {"x": position(last.level), "y": _log(last.quantiles[name], scale), "text": NAMES[name], "showarrow": False,
         "xanchor": "left", "xshift": 8, "font": {"color": f"line-{i}", "size": 12}}
        for i, name in enumerate(names)
    ]  # fmt: skip
    layout = {"margin": MARGIN | {"r": 76}, "annotations": words}
    layout |= _axes(along, scale.unit, [value * scale.factor for value in positive])
    label = f"response times over {along.title}; numbers in the table of throughput"
    return [Plot(label, data, layout, title=f"Response time ({scale.unit})", key=TIMES, size="large")]


def _log(e: Estimate, scale: Scale) -> float:
    return round(log10((e.value or 1.0) * scale.factor), 4)


def _axes(along: Levels, unit: str, ends: Sequence[float]) -> dict[str, Any]:
    places = along.axis()["at"]
    spare = 0.04 * (max(places) - min(places) or 1.0)
    low, high = log_range(ends, ends)
    return {
        "xaxis": axis(along.title, (min(places) - spare, max(places) + spare), **axis_ticks(places, along.texts())),
        "yaxis": {"title": {"text": unit}, **decades(low / 1.05, high * 1.05)},
    }


def _line(
    values: Sequence[tuple[LoadPoint, Estimate]], along: Levels, index: int, unit: str, scale: Scale = PLAIN
) -> list[dict[str, Any]]:
    position, color = axis_position(along), f"line-{index}"
    drawn = [(p, e, (e.value or 0.0) * scale.factor) for p, e in values if e.value is not None]
    bars = {
        "type": "data", "symmetric": False, "thickness": 1.2, "width": 3, "color": color,
        "array": [(e.high or e.value or 0.0) * scale.factor - y for _, e, y in drawn],
        "arrayminus": [y - (e.low or e.value or 0.0) * scale.factor for _, e, y in drawn],
    }  # fmt: skip
    texts = [hover([f"{along.title}: {p.level}", f"{estimate(e, scale)} {unit}"]) for p, e, _ in drawn]
    more = {"hoverinfo": "text", "text": texts, "error_y": bars, "mode": "lines+markers"}
    marker = {"size": 6, "color": color}
    trace = line([position(p.level) for p, _, _ in drawn], [y for _, _, y in drawn], color, 2, marker=marker, **more)
    return split_hollow(trace, [is_inconclusive(e) for _, e, _ in drawn])


def _bounds(group: LoadedGroup, along: Levels) -> list[dict[str, Any]]:
    most = max(point.rate.value or 0.0 for point in group.points_with_runs)
    if group.knee is None or not group.knee.value:
        return []
    position = axis_position(along)
    asked = [(position(p.level), p.level * most / group.knee.value) for p in group.points_with_runs]
    both = [asked, [(x, most) for x, _ in asked]]
    return [line([x for x, _ in each], [y for _, y in each], "muted", 1.2, style={"dash": "dash"}) for each in both]


def _shade(group: LoadedGroup, along: Levels) -> dict[str, Any]:
    position = axis_position(along)
    low, high = (position(x or 0.0) for x in (group.plateau.low, group.plateau.high))
    edge = {"color": fade_color("line-0", 0.5), "width": 1}
    return {
        "type": "rect", "xref": "x", "yref": "paper", "x0": low, "x1": high, "y0": 0, "y1": 1, "layer": "below",
        "fillcolor": fade_color("line-0", 0.15), "line": edge,
    }  # fmt: skip
