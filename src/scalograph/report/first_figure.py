"""The figure that stands first: the one that the claim names, else the speedup, else what the question draws."""

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


def first_figure(findings: Findings, shown: dict[str, Any], drawn: Sequence[Figure | Overlay]) -> Plot | None:
    """Choose the plot that shows the claim; None where nothing is drawn.

    Args:
        findings: of which the claim may name a figure, a measure of the curves, or neither.
        shown: what the page's script reads, with the curves.
        drawn: what the questions draw.
    """
    every = figures_by_name(findings, shown, drawn)
    return next(iter(every.values()))() if every else None


def figures_by_name(
    findings: Findings, shown: dict[str, Any], drawn: Sequence[Figure | Overlay]
) -> dict[str, Callable[[], Plot]]:
    """Return what draws each figure that can be a still picture, by its name: the one that shows the claim first.

    Args:
        findings: of which the claim may name a figure, a measure of the curves, or neither.
        shown: what the page's script reads, with the curves.
        drawn: what the questions draw.
    """
    telling = {one.id: _most_telling(one) for one in drawn if isinstance(one, Figure)}
    plots = {name: plot for name, plot in telling.items() if has_ranges(plot)}
    found: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
    for family in shown["families"]:
        for measure in family["measures"]:
            found.setdefault(measure["id"], (family, measure))
    wanted = findings.claim.figure if findings.claim else ""
    primary = f"response {findings.study.primary}"
    instead = primary if wanted in plots else "speedup"
    # Of a map of few rows the curves tell more: it stands last.
    flat = {name: partial(replace, plot) for name, plot in plots.items() if found and _is_flat(plot)}
    every: dict[str, Callable[[], Plot]] = {
        **{name: partial(curve_picture, findings, *one, shown["factors"]) for name, one in found.items()},
        **{name: partial(replace, plot) for name, plot in plots.items() if name not in flat},
    }
    names = dict.fromkeys((wanted, f"response {wanted}", instead, *plots, primary, *found))
    return {**{name: every[name] for name in names if name in every}, **{k: flat[k] for k in flat if k not in every}}


def _most_telling(figure: Figure) -> Plot:
    """Of its plots the one with most in it, under the title of the whole."""
    view = figure.views[figure.shown[0]]
    plot = max(view.plots, key=lambda plot: (len(plot.data), -view.plots.index(plot)))
    beside = view.name if plot.size == "large" else plot.title
    title = " \N{MIDDLE DOT} ".join(filter(None, [figure.title, beside]))
    return replace(plot, title=title + (f" ({figure.unit})" if figure.unit else ""), note=_shades(plot) or plot.note)


def has_ranges(plot: Plot) -> bool:
    """Whether a still picture can be made of it: the library alone chooses a range where none is given."""
    return all("range" in plot.layout.get(axis, {}) for axis in ("xaxis", "yaxis"))


def _is_flat(plot: Plot) -> bool:
    """Whether it is a map of so few rows that lines tell more."""
    return any(len(trace["z"]) < FEW_ROWS for trace in plot.data if "z" in trace)


def _shades(plot: Plot) -> str:
    """What the colors of a map stand for, where it has a scale of them."""
    scaled = [trace["z"] for trace in plot.data if "z" in trace and trace.get("showscale", True)]
    known = [z for rows in scaled for row in rows for z in row if z is not None]
    return f"lightest {significant(min(known))}, darkest {significant(max(known))}" if known else ""


def pictures(plot: Plot) -> dict[str, str]:
    """The plot as still pictures, by the width that they are for."""
    return {name: picture(plot.data, plot.layout, *size) for name, size in SIZES.items()}
