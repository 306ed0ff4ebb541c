"""What lies under and beside the curves, in plotly's terms: a law with its band, Amdahl's, the ideal, published values.

A curve gets color and name by what tells lines apart, and that is chosen in the page: `OWN` stands for the one, `NAME`
for the other.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any

from scalograph.protocol.figure import Details, Figure, Plot, TextTable, View
from scalograph.protocol.findings import Curve, Findings
from scalograph.protocol.published_claim import PublishedCurve
from scalograph.text.axes import Factors, Levels, level_key
from scalograph.text.escape import one_line
from scalograph.text.format import significant
from scalograph.text.plots import area, axis, axis_ticks, escape_markup, fade_color, hover, line

OWN, NAME = "line-own", "{line}"
# With more lines per panel, fitted laws are hidden at first.
MANY_LAWS = 3
# Name, dash in the legend, and whether it is shown at first.
LAWS = {
    "fitted": ("fitted law", "none", True),
    "amdahl": ("Amdahl\N{RIGHT SINGLE QUOTATION MARK}s law", "6 2 1 2", False),
    "ideal": ("ideal", "3 3", True),
    "wall": ("wall time, as measured", "0 40", True),
}


def legend(drawn: Sequence[dict[str, Any]], n_lines: int, papers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Name what can be shown and hidden, and whether it is shown at first; `n_lines` is per panel."""
    kinds = {layer["of"] for curve in drawn for layer in curve["under"]}
    laws = [
        {"of": of, "name": name, "dash": dash, "shown": is_shown and (of != "fitted" or n_lines <= MANY_LAWS)}
        | ({"symbol": PAPER_MARKS[0]} if of == "wall" else {})
        for of, (name, dash, is_shown) in LAWS.items()
        if of in kinds
    ]
    return [*laws, *papers]


def speedup_underlays(law: dict[str, Any] | None, ideal: Iterable[tuple[float, float | None]]) -> list[dict[str, Any]]:
    """Return the underlays of a speedup curve; `ideal` is the position of each point with its ideal speedup."""
    layers = []
    if law:
        note = "dotted: beyond the data" if law["inside"] < len(law["at"]) else ""
        ends = reach(law["fitted"], [*law["low"], *law["high"]])
        n, last = len(law["at"]), max(law["inside"] - 1, 0)
        within, beyond = _part(law, range(law["inside"]), 0.1, "solid"), _part(law, range(last, n), 0.05, "2px,3px")
        traces = [*within, *beyond, *_optimum(law)]
        layers.append({"of": "fitted", "traces": traces, "reach": ends, "end": law["at"][-1], "said": note})
    if law and law["amdahl"]:
        drawn = line(law["at"], law["amdahl"], OWN, 1.1, style={"dash": "6px,2px,1px,2px"})
        layers.append({"of": "amdahl", "traces": [drawn], "reach": reach(law["amdahl"]), "end": law["at"][-1]})
    points = [(x, y) for x, y in ideal if y is not None]
    if len(points) > 1:
        ys = [y for _, y in points]
        drawn = line([x for x, _ in points], ys, "muted", 1.2, style={"dash": "3px,3px"})
        layers.append({"of": "ideal", "traces": [drawn], "reach": reach(ys)})
    return [layer | {"measure": "speedup"} for layer in layers]


def wall_marks(
    curve: Curve, wall: str, measure: dict[str, Any], axis: dict[str, Any], levels: Levels
) -> dict[str, Any]:
    """Mark the median wall time of each point, gray and small, under its undisturbed time."""
    factor = measure["scale"].factor
    timed = [(point.level, point.responses[wall].scores) for point in curve.points if wall in point.responses]
    medians = {levels.index(level): median(scores) for level, scores in timed if scores}
    xs, ys = [axis["at"][i] for i in medians], [factor * y for y in medians.values()]
    texts = [NAME + hover([f"wall time, as measured: {significant(y)} {measure['unit']}"]) for y in ys]
    marker = {"color": "muted", "size": 8, "symbol": PAPER_MARKS[0], "line": {"color": "muted", "width": 1.5}}
    drawn = line(xs, ys, "muted", 0, mode="markers", marker=marker, hoverinfo="text", hovertext=texts)
    return {"of": "wall", "traces": [drawn], "reach": reach(ys) if ys else [], "measure": measure["id"]}


def reach(core: Iterable[float | None], whole: Iterable[float | None] = ()) -> list[float]:
    """Return the ends of what must be seen, then those of everything.

    >>> reach([1, 3], [0.5, None])
    [1, 3, 0.5, 3]
    """
    must = [x for x in core if x is not None]
    every = [*must, *(x for x in whole if x is not None)]
    return [min(must), max(must), min(every), max(every)]


def _part(law: dict[str, Any], places: Sequence[int], share: float, dash: str) -> list[dict[str, Any]]:
    if len(places) < 2:
        return []
    hover_texts = []
    for i in places:
        low, high = law["low"][i], law["high"][i]
        ends = "" if low is None else f" [{significant(low)}, {'not bounded' if high is None else significant(high)}]"
        value = f"{significant(law['fitted'][i])}{ends}"
        hover_texts.append(NAME + hover([f"fitted law at {law['sizes'][i]}", value, law["words"]]))
    at, fitted = ([law[name][i] for i in places] for name in ("at", "fitted"))
    drawn = line(at, fitted, OWN, 1.1, style={"dash": dash}, hoverinfo="text", hovertext=hover_texts)
    bounded = [i for i in places if law["low"][i] is not None and law["high"][i] is not None]
    xs, low, high = ([law[name][i] for i in bounded] for name in ("at", "low", "high"))
    return [*([area(xs, low, high, f"{OWN}/{share}")] if len(bounded) > 1 else []), drawn]


def _optimum(law: dict[str, Any]) -> list[dict[str, Any]]:
    best, words = law["optimum"], hover([law["words"]])
    if best is None:
        font = {"mode": "text", "textposition": "top left", "textfont": {"size": 11, "color": OWN}, "cliponaxis": False}
        return [line([law["at"][-1]], [law["fitted"][-1]], OWN, 0, text=[words], **font)] if words else []
    low, high = (best["at"] if best[end] is None else best[end] for end in ("low", "high"))
    return [
        {
            "type": "scatter", "mode": "markers", "x": [best["at"]], "y": [best["value"]], "hoverinfo": "text",
            "hovertext": [words],
            "marker": {"symbol": f"diamond{'-open' * best['open']}", "size": 9, "color": OWN},
            "error_x": {
                "type": "data", "symmetric": False, "array": [high - best["at"]], "arrayminus": [best["at"] - low],
                "color": OWN, "thickness": 1.2, "width": 4,
            },
        }
    ]  # fmt: skip


# With more lines per panel, or further outside the measured range (as a share of it), they are hidden at first.
MOST_SHOWN, SPARE = 4, 0.25
PAPER_MARKS = ("line-ew", "line-ns", "line-ne", "line-nw")
Printed = tuple[str, list[tuple[int, dict[str, float]]]]


def papers(findings: Findings, curves: Sequence[Curve]) -> list[str]:
    """Return the labels of what is published beside these curves."""
    shown = (published for published in findings.published_curves if any(_is_over(published, c) for c in curves))
    return list(dict.fromkeys(published.label for published in shown))


def published_points(findings: Findings, curve: Curve, factors: Factors) -> list[Printed]:
    """Return what is published beside a curve: the paper, and each level index with its values."""
    return [
        (published.label, [(factors[published.factor].index(point.level), point.values) for point in published.points])
        for published in findings.published_curves
        if _is_over(published, curve)
    ]


def published_lines(
    beside: Sequence[Printed], measures: Sequence[dict[str, Any]], axis: dict[str, Any], title: str,
    names: Sequence[str],
) -> list[dict[str, Any]]:  # fmt: skip
    """Return the dotted published lines of a curve; `beside` is of `published_points`, `names` are the `papers`."""
    layers = []
    for label, points in beside:
        for measure in measures:
            name, scale = measure.get("response", measure["id"]), measure["scale"].factor
            values = [(level, float(f"{ys[name] * scale:.6g}")) for level, ys in points if name in ys]
            if placed := sorted((axis["at"][level], axis["labels"][level], y) for level, y in values):
                paper, note = names.index(label), "dotted, bars: published"
                traces = [_paper_trace(placed, f"{title}: ", measure["unit"], paper, label, axis["mode"])]
                layer = {"of": f"p{paper}", "measure": measure["id"], "traces": traces, "said": note}
                layers.append(layer | {"reach": reach(y for _, _, y in placed)})
    return layers


def _paper_trace(
    placed: Sequence[tuple[float, str, float]], at: str, unit: str, paper: int, label: str, mode: str
) -> dict[str, Any]:
    head = _paper_label(label)
    hover_texts = [NAME + hover([head, f"{at}{text}", f"{y:g} {unit}".rstrip()]) for _, text, y in placed]
    bar = {"color": OWN, "size": 9, "symbol": _bar(paper), "line": {"color": OWN, "width": 2}}
    look = {"mode": mode, "marker": bar, "style": {"dash": "1px,3px"}, "hoverinfo": "text", "hovertext": hover_texts}
    return line([x for x, _, _ in placed], [y for *_, y in placed], OWN, 1.3, **look)


def _bar(paper: int) -> str:
    """Return the mark of a paper: a bar, since a disk is a measurement and a ring an inconclusive one."""
    return PAPER_MARKS[paper % len(PAPER_MARKS)]


def _paper_label(label: str) -> str:
    return ": ".join(filter(None, ["published", one_line(label)]))


def _is_over(published: PublishedCurve, curve: Curve) -> bool:
    groups = [{name: level_key(level) for name, level in group.items()} for group in (published.group, curve.group)]
    return published.factor == curve.factor and groups[0] == groups[1]


def paper_legend(drawn: Sequence[dict[str, Any]], line: int | None, names: Sequence[str]) -> list[dict[str, Any]]:
    """Name each of the `papers`, and whether it is shown at first; `line` indexes the factor that separates lines."""
    fits = [_n_lines(drawn, line, i) <= MOST_SHOWN and _fits(drawn, i) for i in range(len(names))]
    return [
        {"of": f"p{i}", "name": _paper_label(name), "paper": one_line(name), "dash": "1 3",
         "symbol": _bar(i), "shown": fit}
        for i, (name, fit) in enumerate(zip(names, fits, strict=True))
    ]  # fmt: skip


def _n_lines(drawn: Sequence[dict[str, Any]], line: int | None, paper: int) -> int:
    panels = Counter[tuple[Any, ...]]()
    for curve in drawn:
        panel = tuple(level for i, level in enumerate(curve["group"]) if i != line)
        panels.update((layer["measure"], panel) for layer in curve["under"] if layer["of"] == f"p{paper}")
    return max(panels.values(), default=0)


def _fits(drawn: Sequence[dict[str, Any]], paper: int) -> bool:
    for layer in (layer for curve in drawn for layer in curve["under"] if layer["of"] == f"p{paper}"):
        values = [p["values"].get(layer["measure"]) for curve in drawn for p in curve["points"]]
        here = [value[0] for value in values if value]
        spare = SPARE * (max(here) - min(here))
        if layer["reach"][0] < min(here) - spare or layer["reach"][1] > max(here) + spare:
            return False
    return True


FEW_CPUS, MANY_BARS, MANY_PANELS = 8, 40, 12
BARS = "CPU time split over the CPUs; dotted: even shares."
# A smaller share ran before the task was placed.
LEAST = 0.01
Shares = Sequence[Sequence[float]]
Drawn = tuple[list[dict[str, Any]], dict[str, Any]]  # traces and layout


def share_chart(curves: Sequence[Curve], line: str | None, factors: Factors, title: str) -> Figure | None:
    """Draw the curves of a family, one level of the factor `line` at a time; `title` is the horizontal axis's.

    Runs on one CPU have nothing to show.
    """
    shares = [[sum(share > LEAST for share in point.per_cpu_share) for point in curve.points] for curve in curves]
    spread = [curve for curve, n_cpus in zip(curves, shares, strict=True) if max(n_cpus, default=0) > 1]
    if not spread:
        return None
    most = max(len(point.per_cpu_share) for curve in spread for point in curve.points)
    varying = [name for name in spread[0].group if len({level_key(curve.group[name]) for curve in curves}) > 1]
    tables = [_table(curve, varying, factors, title) for curve in spread]
    groups, choice = _groups(spread, line, varying, factors)
    plots = {name: [_plot(curve, varying, factors, title) for curve in shown] for name, shown in groups.items()}
    return Figure(
        "shares", "CPU time by CPU", "Rows: CPUs; stronger color: larger share." if most > FEW_CPUS else BARS,
        [View(drawn, name) for name, drawn in plots.items()], choice=choice,
        details=[Details("These numbers as a table", tables)],
    )  # fmt: skip


def _groups(
    spread: Sequence[Curve], line: str | None, varying: Sequence[str], factors: Factors
) -> tuple[dict[str, list[Curve]], str]:
    levels: dict[str, list[Curve]] = {}
    for curve in spread:
        name = factors[line].texts()[factors[line].index(curve.group[line])] if line else ""
        levels.setdefault(name, []).append(curve)
    if max(map(len, levels.values())) <= MANY_PANELS:
        return levels, factors[line].title if line else ""
    return {_panel_label(curve, varying, factors): [curve] for curve in spread}, "Configuration"


def _panel_label(curve: Curve, varying: Sequence[str], factors: Factors) -> str:
    return factors.configuration({name: curve.group[name] for name in varying})


def _share_rows(curve: Curve, factors: Factors) -> tuple[list[str], list[list[float]]]:
    levels, axis_ = factors[curve.factor], factors[curve.factor].axis()
    points = {levels.index(point.level): point.per_cpu_share for point in curve.points if point.per_cpu_share}
    order = sorted(points, key=lambda i: axis_["at"][i])
    n_cpus = max(map(len, points.values()))
    shares = [[round(100 * share, 2) for share in points[i]] + [0.0] * (n_cpus - len(points[i])) for i in order]
    return [axis_["labels"][i] for i in order], shares


def _plot(curve: Curve, varying: Sequence[str], factors: Factors, title: str) -> Plot:
    fixed, (labels, shares) = _panel_label(curve, varying, factors), _share_rows(curve, factors)
    n_cpus, places = len(shares[0]), list(range(len(labels)))
    time = axis(title, (-0.6, len(labels) - 0.4), **axis_ticks(places, labels))
    data, layout = (_map if n_cpus > FEW_CPUS else _bars)(labels, shares, n_cpus)
    return Plot(f"Share of CPU time on each CPU, {fixed}", data, {"xaxis": time, **layout}, title=fixed)


def _bars(labels: Sequence[str], shares: Shares, n_cpus: int) -> Drawn:
    is_crowded, texts = len(labels) > MANY_BARS, [escape_markup(label) for label in labels]
    data = [
        {
            "type": "bar", "x0": 0, "dx": 1, "y": [row[cpu] for row in shares], "text": texts, "textposition": "none",
            "marker": {
                "color": fade_color("line-0", 0.85 - 0.6 * cpu / n_cpus),
                "line": {"color": "paper", "width": 0 if is_crowded else 1},
            },
            "hovertemplate": f"%{{text}}: %{{y:.1f}}% on CPU no. {cpu + 1} of {n_cpus}<extra></extra>",
        }
        for cpu in range(n_cpus)
    ]  # fmt: skip
    even = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "line": {"color": "ink", "width": 1, "dash": "dot"}}
    heights = [round(100 * (cpu + 1) / n_cpus, 3) for cpu in range(n_cpus - 1)]
    upright = {"range": [0, 100], "ticksuffix": " %", "nticks": 5}
    style = {"barmode": "stack", "bargap": 0 if is_crowded else 0.25}
    return data, {**style, "shapes": [{**even, "y0": y, "y1": y} for y in heights], "yaxis": upright}


def _map(labels: Sequence[str], shares: Shares, n_cpus: int) -> Drawn:
    colors = {
        "type": "heatmap", "x0": 0, "dx": 1, "z": [[row[cpu] for row in shares] for cpu in range(n_cpus)], "zmin": 0,
        "colorscale": [[0, "paper"], [1, "line-0"]], "text": [[escape_markup(label) for label in labels]] * n_cpus,
        "colorbar": {"thickness": 8, "outlinewidth": 0, "ticksuffix": " %", "tickfont": {"color": "muted", "size": 11}},
        "hovertemplate": f"%{{text}}: %{{z:.1f}}% on CPU no. %{{y}} of {n_cpus}<extra></extra>", "y0": 1, "dy": 1,
    }  # fmt: skip
    return [colors], {"yaxis": {"title": {"text": "CPU"}, "showgrid": False}}


def _table(curve: Curve, varying: Sequence[str], factors: Factors, title: str) -> TextTable:
    labels, shares = _share_rows(curve, factors)
    head = [title, *(f"CPU no. {cpu + 1} (%)" for cpu in range(len(shares[0])))]
    rows = [[label, *(f"{share:.1f}" for share in row)] for label, row in zip(labels, shares, strict=True)]
    fixed = _panel_label(curve, varying, factors)
    return TextTable(", ".join(filter(None, ["Share of CPU time on each CPU", fixed])), head, rows)
