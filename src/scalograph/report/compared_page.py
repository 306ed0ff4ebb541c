"""Two results as one HTML file without network or script: answer, curves with their ratio, all configurations."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.compared_results import ConfigurationRatio, ResultComparison, sort_configurations, split_curves
from scalograph.protocol.figure import Plot
from scalograph.protocol.results import write_text
from scalograph.report import rows
from scalograph.report.cells import table_layout
from scalograph.report.first_screen import matrix_text
from scalograph.report.html import render_page
from scalograph.report.screen import Screen
from scalograph.report.static_picture import picture
from scalograph.text import plots
from scalograph.text.axes import is_ordered
from scalograph.text.format import level_text, number
from scalograph.text.scale import scale_for
from scalograph.text.short_names import short_setting

MOST_CURVES = 12
LOG_FROM = 3.0
LETTER = 6.6


def compared_plots(comparison: ResultComparison) -> list[tuple[str, Plot, Plot]]:
    """Draw each curve: its name, both results, their ratio. At most a dozen curves are drawn."""
    if not (parts := list(split_curves(comparison))):
        return []
    varied = [name for name in parts[0][0] if len({group[name] for group, _ in parts}) > 1]
    shown = []
    for group, curve in parts[:MOST_CURVES]:
        named = [short_setting(comparison.titles.get(n, n), group[n], comparison.units.get(n, "")) for n in varied]
        if members := [row for row in sort_configurations(curve) if row.ratio.value]:
            shown.append((", ".join(named), _both(comparison, members), _ratio(comparison, members)))
    return shown


def _both(comparison: ResultComparison, members: Sequence[ConfigurationRatio]) -> Plot:
    sides = [[row.reference for row in members], [row.other for row in members]]
    scale = scale_for(comparison.unit, [e.value for side in sides for e in side if e])
    factor, mode = scale.factor, _mode(comparison, members)
    scaled = [[e.rescale(factor) if e and e.value and e.value > 0 else Estimate() for e in side] for side in sides]
    traces = [_points(i, side, mode) for i, side in enumerate(scaled)]
    estimates = [e for side in scaled for e in side if e.value]
    title = f"{comparison.response_title or comparison.response}{f' ({scale.unit})' if scale.unit else ''}"
    values = [e.value or 1.0 for e in estimates]
    ends = [x for e in estimates for x in (e.low, e.high) if x and x > 0]
    if max(values) >= LOG_FROM * min(values):
        low, high = plots.log_range(values, ends)
        upright = {"title": {"text": f"{title} (log scale)"}} | plots.decades(low / 1.1, high * 1.1)
    else:
        upright = _linear(title, 0.0, 1.06 * max([*values, *ends]))
    label = f"{title} of {comparison.reference} and {comparison.other}"
    return Plot(label, traces, _layout(comparison, members, upright))


def _ratio(comparison: ResultComparison, members: Sequence[ConfigurationRatio]) -> Plot:
    ratios = [row.ratio for row in members]
    ends = [x for e in ratios for x in (e.value, e.low, e.high) if x and x > 0]
    margin = comparison.margin
    low, high = min(0.95, *ends), max(1.05, *ends)
    pad = 0.05 * (high - low)
    places = [-0.5, len(members) - 0.5]
    band = plots.area(places, [1 / (1 + margin)] * 2, [1 + margin] * 2, plots.fade_color("muted", 0.25))
    unity = plots.line(places, [1.0, 1.0], "muted", 1.2, style={"dash": "6px,4px"})
    title = f"{comparison.other} over {comparison.reference}"
    layout = _layout(comparison, members, _linear(title, low - pad, high + pad))
    points = _points(1, ratios, _mode(comparison, members))
    return Plot(f"ratio, {title}; gray: the margin", [band, unity, points], layout)


def _mode(comparison: ResultComparison, members: Sequence[ConfigurationRatio]) -> str:
    return "lines+markers" if is_ordered(row.levels.get(comparison.along) for row in members) else "markers"


def _points(i: int, estimates: Sequence[Estimate], mode: str) -> dict[str, Any]:
    color = f"line-{i}"
    ys = [e.value for e in estimates]
    above = [(e.high - e.value) if e.high and e.value else 0.0 for e in estimates]
    below = [(e.value - e.low) if e.low and e.value else 0.0 for e in estimates]
    bars = {"type": "data", "symmetric": False, "array": above, "arrayminus": below, "color": color}
    xs = [float(n) for n in range(len(ys))]
    return plots.line(
        xs, ys, color, 2, mode=mode, marker={"color": color, "size": 6.5, "symbol": ("circle", "square")[i]},
        error_y=bars | {"thickness": 1.4, "width": 0},
    )  # fmt: skip


def _linear(title: str, low: float, high: float) -> dict[str, Any]:
    ticks = plots.round_numbers(low, high, is_log=False)
    return plots.axis(title, (low, high), **plots.axis_ticks(ticks, [*map(number, ticks)]), showgrid=True)


def _layout(
    comparison: ResultComparison, members: Sequence[ConfigurationRatio], upright: dict[str, Any]
) -> dict[str, Any]:
    levels, unit = [row.levels.get(comparison.along) for row in members], comparison.units.get(comparison.along, "")
    texts = ["" if level is None else plots.shorten_middle(level_text(level, unit), 12) for level in levels]
    title = comparison.titles.get(comparison.along, comparison.along)
    across = plots.axis(
        title, (-0.5, len(members) - 0.5), **plots.outside_ticks(**plots.axis_ticks([*range(len(members))], texts))
    )
    widest = max(map(len, upright.get("ticktext", ["0000"])), default=4)
    margin = {"l": 18 + round(LETTER * widest), "t": 24, "b": 42, "r": 14}
    return {"margin": margin, "xaxis": across, "yaxis": upright, "annotations": [], "shapes": []}


STYLES = ("base", "verdict", "tables", "evidence", "compared", "print")
# Pixels; the browser scales them.
WIDTH, HEIGHT = 560, 300
# How the answer is colored, as the verdict of a study is.
_TONES = {"slower": "unusable", "inconclusive": "caution", "equivalent": "reliable", "faster": "reliable"}


def write(comparison: ResultComparison, screen: Screen, file: Path) -> None:
    """Write the page atomically, the same bytes for a document. Raises HostError where the disk refuses."""
    write_text(file, page(comparison, screen))


def page(comparison: ResultComparison, screen: Screen) -> str:
    return render_page(
        "compared.html", STYLES, [comparison.model_dump_json()], found=comparison, rows=rows,
        title=f"{comparison.other} against {comparison.reference}: {screen.title}", machine=screen.machine,
        said=screen.claim.sentences, level=_TONES[comparison.answer], trust=screen.trust, remarks=screen.remarks,
        matrix=matrix_text(screen.claim.matrix) if screen.claim.matrix else None,
        figures=[(name, _draw_plot(both), _draw_plot(ratio)) for name, both, ratio in compared_plots(comparison)],
        sheets=[table_layout(table) for table in screen.tables],
    )  # fmt: skip


def _draw_plot(plot: Plot) -> tuple[str, Markup]:
    drawn = picture(plot.data, plot.layout, WIDTH, HEIGHT)
    return plot.label, Markup(drawn)  # noqa: S704  drawn here, texts escaped
