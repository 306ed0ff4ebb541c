"""Two results as one HTML file: no network, no script; the answer, both curves and their ratio, every treatment."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from scalograph import __version__
from scalograph.analysis.estimate import Estimate
from scalograph.protocol.compared_results import ResultComparison, TreatmentRatio, curves, ordered
from scalograph.protocol.figure import Plot
from scalograph.protocol.results import write_text
from scalograph.report import rows
from scalograph.report.cells import sheet
from scalograph.report.first_screen import matrix_text, nonce
from scalograph.report.html import environment, joined
from scalograph.report.screen import Screen
from scalograph.report.static_picture import picture
from scalograph.text.axes import is_ordered
from scalograph.text.format import level_text, number
from scalograph.text.plots import area, at, axis, decades, faded, line, outside, reach, round_numbers, short
from scalograph.text.scale import scale_for
from scalograph.text.short_names import short_setting

MOST_CURVES = 12
LOG_FROM = 3.0
LETTER = 6.6
_SYMBOLS = ("circle", "square")


def compared_plots(found: ResultComparison) -> list[tuple[str, Plot, Plot]]:
    """Draw each curve: what all have in common, both results, their ratio.

    Args:
        found: two results; of more than a dozen curves the first ones are drawn.
    """
    if not (parts := list(curves(found))):
        return []
    varied = [name for name in parts[0][0] if len({group[name] for group, _ in parts}) > 1]
    made = []
    for group, curve in parts[:MOST_CURVES]:
        named = [short_setting(found.titles.get(n, n), group[n], found.units.get(n, "")) for n in varied]
        members = [one for one in ordered(curve) if one.ratio.value]
        if members:
            made.append((", ".join(named), _both(found, members), _ratio(found, members)))
    return made


def _both(found: ResultComparison, members: Sequence[TreatmentRatio]) -> Plot:
    """Both curves, each with its interval."""
    sides = [[one.reference for one in members], [one.other for one in members]]
    scale = scale_for(found.unit, [e.value for side in sides for e in side if e])
    told = [[e.scaled(scale.factor) if e and e.value and e.value > 0 else Estimate() for e in side] for side in sides]
    mode = _mode(found, members)
    traces = [_points(i, side, mode) for i, side in enumerate(told)]
    known = [e for side in told for e in side if e.value]
    title = f"{found.response_title or found.response}{f' ({scale.unit})' if scale.unit else ''}"
    values = [e.value or 1.0 for e in known]
    ends = [x for e in known for x in (e.low, e.high) if x and x > 0]
    if max(values) >= LOG_FROM * min(values):
        low, high = reach(values, ends)
        upright = {"title": {"text": f"{title} (log scale)"}} | decades(low / 1.1, high * 1.1)
    else:
        upright = _linear(title, 0.0, 1.06 * max([*values, *ends]))
    names = (found.reference, found.other)
    return Plot(f"{title} of {names[0]} and {names[1]}", traces, _layout(found, members, upright))


def _ratio(found: ResultComparison, members: Sequence[TreatmentRatio]) -> Plot:
    """The ratio with its interval, and the margin around 1."""
    ratios = [one.ratio for one in members]
    ends = [x for e in ratios for x in (e.value, e.low, e.high) if x and x > 0]
    margin = found.margin
    low, high = min(0.95, *ends), max(1.05, *ends)
    pad = 0.05 * (high - low)
    places = [-0.5, len(members) - 0.5]
    band = area(places, [1 / (1 + margin)] * 2, [1 + margin] * 2, faded("muted", 0.25))
    one = line(places, [1.0, 1.0], "muted", 1.2, style={"dash": "6px,4px"})
    title = f"{found.other} over {found.reference}"
    layout = _layout(found, members, _linear(title, low - pad, high + pad))
    return Plot(f"ratio, {title}; gray: the margin", [band, one, _points(1, ratios, _mode(found, members))], layout)


def _mode(found: ResultComparison, members: Sequence[TreatmentRatio]) -> str:
    """Values are joined by a line only along levels that have an order."""
    return "lines+markers" if is_ordered(one.levels.get(found.along) for one in members) else "markers"


def _points(i: int, estimates: Sequence[Estimate], mode: str) -> dict[str, Any]:
    """Values with bars."""
    color = f"line-{i}"
    ys = [e.value for e in estimates]
    above = [(e.high - e.value) if e.high and e.value else 0.0 for e in estimates]
    below = [(e.value - e.low) if e.low and e.value else 0.0 for e in estimates]
    bars = {"type": "data", "symmetric": False, "array": above, "arrayminus": below, "color": color}
    xs = [float(n) for n in range(len(ys))]
    return line(
        xs, ys, color, 2, mode=mode, marker={"color": color, "size": 6.5, "symbol": _SYMBOLS[i]},
        error_y=bars | {"thickness": 1.4, "width": 0},
    )  # fmt: skip


def _linear(title: str, low: float, high: float) -> dict[str, Any]:
    ticks = round_numbers(low, high, is_log=False)
    return axis(title, (low, high), **at(ticks, [*map(number, ticks)]), showgrid=True)


def _layout(found: ResultComparison, members: Sequence[TreatmentRatio], upright: dict[str, Any]) -> dict[str, Any]:
    """Levels at even distances: each is one comparison."""
    levels = [one.levels.get(found.along) for one in members]
    texts = [
        "" if level is None else short(level_text(level, found.units.get(found.along, "")), 12) for level in levels
    ]
    title = found.titles.get(found.along, found.along)
    across = axis(title, (-0.5, len(members) - 0.5), **outside(**at([*range(len(members))], texts)))
    widest = max(map(len, upright.get("ticktext", ["0000"])), default=4)
    margin = {"l": 18 + round(LETTER * widest), "t": 24, "b": 42, "r": 14}
    return {"margin": margin, "xaxis": across, "yaxis": upright, "annotations": [], "shapes": []}


STYLES = ("base", "verdict", "tables", "evidence", "compared", "print")
# Pixels; the browser scales them.
WIDTH, HEIGHT = 560, 300
# How the answer is colored, as the verdict of a study is.
_TONES = {"slower": "reject", "not measurable": "doubt", "same": "believe", "faster": "believe"}


def write(found: ResultComparison, screen: Screen, file: Path) -> None:
    """Write the page as a whole; the same document gives the same bytes.

    Args:
        found: two results.
        screen: what is said of them, with its tables.
        file: of the page.

    Raises:
        HostError: the disk refuses; an older page is untouched.
    """
    write_text(file, page(found, screen))


def page(found: ResultComparison, screen: Screen) -> str:
    """Return the whole page as text."""
    style = joined("css", STYLES)
    context: dict[str, Any] = {
        "found": found,
        "title": screen.title,
        "machine": screen.machine,
        "said": screen.claim.sentences,
        "level": _TONES[found.answer],
        "trust": screen.trust,
        "matrix": matrix_text(screen.claim.matrix) if screen.claim.matrix else None,
        "figures": [(name, _drawn(both), _drawn(ratio)) for name, both, ratio in compared_plots(found)],
        "remarks": screen.remarks,
        "sheets": [sheet(table) for table in screen.tables],
        "rows": rows,
        "version": __version__,
        "style": Markup(style),  # noqa: S704  ours, from this package
        "nonce": nonce(__version__, style, found.model_dump_json()),
    }
    return environment().get_template("compared.html").render(context)


def _drawn(plot: Plot) -> tuple[str, Markup]:
    """What it shows, and the picture."""
    drawn = picture(plot.data, plot.layout, WIDTH, HEIGHT)
    return plot.label, Markup(drawn)  # noqa: S704  drawn here, texts escaped
