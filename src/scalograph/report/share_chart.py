"""Chart how CPU time was spread over the CPUs: stacked to 100%, or as a map for many CPUs."""

from collections.abc import Sequence
from typing import Any

from scalograph.protocol.figure import Details, Figure, Plot, TextTable, View
from scalograph.protocol.findings import Curve
from scalograph.text.axes import Factors, level_key
from scalograph.text.plots import axis, axis_ticks, escape_markup, fade_color

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
