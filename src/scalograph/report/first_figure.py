"""The figure that stands first: the one that the claim names, else the speedup, else what the question draws."""

from collections.abc import Sequence
from typing import Any

from scalograph.protocol.figure import Figure, Overlay, Plot
from scalograph.protocol.findings import Findings
from scalograph.report.curve_picture import curve_picture
from scalograph.report.static_picture import picture

# Width and height of the pictures in pixels: of a desk, and of a hand.
SIZES = {"wide": (900, 400), "narrow": (368, 300)}


def first_figure(findings: Findings, shown: dict[str, Any], drawn: Sequence[Figure | Overlay]) -> Plot | None:
    """Choose the plot that shows the claim; None where nothing is drawn.

    Args:
        findings: of which the claim may name a figure, a measure of the curves, or neither.
        shown: what the page's script reads, with the curves.
        drawn: what the questions draw.
    """
    plots = {one.id: one.views[one.shown[0]].plots[0] for one in drawn if isinstance(one, Figure)}
    found: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
    for family in shown["families"]:
        for measure in family["measures"]:
            found.setdefault(measure["id"], (family, measure))
    wanted = findings.claim.figure if findings.claim else ""
    for name in (wanted, f"response {wanted}", "speedup", *plots, f"response {findings.study.primary}", *found):
        if name in plots:
            return plots[name]
        if name in found:
            return curve_picture(findings, *found[name], shown["factors"])
    return None


def pictures(plot: Plot) -> dict[str, str]:
    """The plot as still pictures, by the width that they are for."""
    return {name: picture(plot.data, plot.layout, *size) for name, size in SIZES.items()}
