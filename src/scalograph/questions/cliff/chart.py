"""Draw cliffs: bands over the curves along the searched factor."""

from typing import Any

from scalograph.protocol.figure import Overlay
from scalograph.protocol.findings import Findings
from scalograph.questions.cliff.document import CliffDoc, Cliffs
from scalograph.text.format import number
from scalograph.text.plots import fade_color

CAPTION = "Shaded: where the time jumps."


def figures(findings: Findings) -> list[Overlay]:
    """Shade each jump from its beginning to its end; nothing where no cliff was searched for."""
    searched = findings.document("cliff", Cliffs)
    if searched is None:
        return []
    cliffs = [cliff for cliff in searched.cliffs if 0 < cliff.low < cliff.high]
    return [Overlay(searched.factor, [_band(cliff) for cliff in cliffs], CAPTION if cliffs else "")]


def _band(cliff: CliffDoc) -> dict[str, Any]:
    upright = {"yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
    edge = {"width": 1, "color": "muted", "dash": "2px,3px"}
    ends = f"{number(cliff.low)} \N{EN DASH} {number(cliff.high)}"
    label = {"text": ends, "textposition": "top center", "yanchor": "bottom", "font": {"size": 11, "color": "ink"}}
    return {
        "type": "rect", **upright, "x0": cliff.low, "x1": cliff.high, "line": edge,
        "fillcolor": fade_color("line-1", 0.18), "label": label,
    }  # fmt: skip
