"""Choose the first chart of a report: the one the answer names, else the speedup, else a question's own."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from scalograph.protocol.figure import Figure, Overlay, Plot
from scalograph.protocol.findings import Findings
from scalograph.report.curve_picture import curve_picture
from scalograph.report.static_picture import picture
from scalograph.text.format import significant

FEW_ROWS = 4
# Width and height of the pictures in pixels: the page shows the widest that has room, lest letters be small.
SIZES = {"wide": (760, 340), "middle": (480, 320), "narrow": (368, 300)}


def first_chart(findings: Findings, shown: dict[str, Any], drawn: Sequence[Figure | Overlay]) -> Plot | None:
    """Choose the plot that shows the answer; None where nothing is drawn."""
    every = charts_by_name(findings, shown, drawn)
    return next(iter(every.values()))() if every else None


def charts_by_name(
    findings: Findings, shown: dict[str, Any], drawn: Sequence[Figure | Overlay]
) -> dict[str, Callable[[], Plot]]:
    """Return a function that draws each chart, by name: the one that shows the answer first.

    The answer may name a chart, a measure of the curves, or neither; `shown` is the payload of the page's script.
    """
    telling = {figure.id: _most_telling(figure) for figure in drawn if isinstance(figure, Figure)}
    plots = {name: plot for name, plot in telling.items() if has_ranges(plot)}
    measures: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
    for family in shown["families"]:
        for measure in family["measures"]:
            measures.setdefault(measure["id"], (family, measure))
    wanted = findings.claim.figure if findings.claim else ""
    primary = f"response {findings.study.primary}"
    instead = primary if wanted in plots else "speedup"
    # Of a map of few rows the curves tell more: it stands last.
    flat = {
        name: partial(replace, plot)
        for name, plot in plots.items()
        if measures and any(len(trace["z"]) < FEW_ROWS for trace in plot.data if "z" in trace)
    }
    every: dict[str, Callable[[], Plot]] = {
        **{name: partial(curve_picture, findings, *pair, shown["factors"]) for name, pair in measures.items()},
        **{name: partial(replace, plot) for name, plot in plots.items() if name not in flat},
    }
    names = dict.fromkeys((wanted, f"response {wanted}", instead, *plots, primary, *measures))
    return {**{name: every[name] for name in names if name in every}, **{k: flat[k] for k in flat if k not in every}}


def _most_telling(figure: Figure) -> Plot:
    view = figure.views[figure.shown[0]]
    plot = max(view.plots, key=lambda plot: (len(plot.data), -view.plots.index(plot)))
    beside = view.name if plot.size == "large" else plot.title
    title = " \N{MIDDLE DOT} ".join(filter(None, [figure.title, beside]))
    return replace(plot, title=title + (f" ({figure.unit})" if figure.unit else ""), note=_shades(plot) or plot.note)


def has_ranges(plot: Plot) -> bool:
    """Return whether a still picture is possible: only the library chooses missing ranges."""
    return all("range" in plot.layout.get(axis, {}) for axis in ("xaxis", "yaxis"))


def _shades(plot: Plot) -> str:
    """Describe the color scale of a map; empty without one."""
    scaled = [trace["z"] for trace in plot.data if "z" in trace and trace.get("showscale", True)]
    values = [z for rows in scaled for row in rows for z in row if z is not None]
    return f"lightest {significant(min(values))}, darkest {significant(max(values))}" if values else ""


def pictures(plot: Plot) -> dict[str, str]:
    """Return the plot as still pictures, by the width they are for."""
    return {name: picture(plot.data, plot.layout, *size) for name, size in SIZES.items()}
