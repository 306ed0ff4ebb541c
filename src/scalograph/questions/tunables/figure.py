"""Settings with their intervals over what noise alone fills, factors as bars, and ranks with their sets."""

from collections.abc import Sequence
from typing import Any

from scalograph.protocol.figure import Figure, Plot, View
from scalograph.protocol.findings import Findings
from scalograph.questions.tunables.document import SettingEffect, Tunables
from scalograph.questions.tunables.figure_bars import bars, ranked
from scalograph.text.axes import Factors
from scalograph.text.format import estimate
from scalograph.text.plots import at, axis, faded, hover, line

CAPTION = (
    "Bars: intervals that hold for all settings together. Shaded: where the best or worst would lie by noise alone."
)
RINGS = "Rings: the same settings alone, in fresh runs."
MARGIN = {"l": 150, "r": 16, "t": 8, "b": 42}
MOST = 48


def figures(findings: Findings) -> list[Figure]:
    """Draw what is known of settings and factors; none where too few runs were made."""
    part = findings.document("tunables", Tunables)
    if part is None or part.visible is None:
        return []
    factors = Factors(findings)
    names = {(one.factor, str(one.level)): factors.treatment({one.factor: one.level}) for one in part.settings}
    return [
        Figure("tunables-effects", "Settings against the default", CAPTION, [View([_effects(part, names)])], unit="%"),
        *bars(part, {one.factor: factors[one.factor].title for one in part.factors}),
        *ranked(part, names),
    ]


def _effects(part: Tunables, names: dict[tuple[str, str], str]) -> Plot:
    known = sorted((one for one in part.settings if one.gain and one.gain.value), key=lambda one: _gain(one)[1])[-MOST:]
    fresh = [(k, one) for k, one in enumerate(known) if one.alone and one.alone.value]
    ends = [x for one in known for x in _gain(one)] + [
        100 * ((one.alone.value or 1) - 1) for _, one in fresh if one.alone
    ]
    noise = (part.worst_of_noise or (0.0,) * 3)[0], (part.best_of_noise or (0.0,) * 3)[2]
    low, high = min(*ends, noise[0]), max(*ends, noise[1])
    spare = 0.06 * (high - low) or 1.0
    layout = {
        "margin": MARGIN, "shapes": [_band(*noise), *_margins(part)],
        "xaxis": axis("performance over the default (%)", (low - spare, high + spare), zeroline=True),
        "yaxis": {"range": [-0.7, len(known) - 0.3], "showgrid": False,
                  **at([float(k) for k in range(len(known))], [names[one.factor, str(one.level)] for one in known])},
    }  # fmt: skip
    rings = [_rings(fresh)] if fresh else []
    label = "each setting against the default; numbers in the table of settings"
    return Plot(label, [_dots(known), *rings], layout, key=RINGS if fresh else "", size="large")


def _gain(one: SettingEffect) -> tuple[float, float, float]:
    """Low end, value and high end, in percent."""
    found = one.gain
    value = (found.value if found else None) or 1.0
    ends = [(found.low if found else None) or value, value, (found.high if found else None) or value]
    low, middle, high = (100 * (x - 1) for x in ends)
    return low, middle, high


def _dots(known: Sequence[SettingEffect]) -> dict[str, Any]:
    gains = [_gain(one) for one in known]
    spread = {
        "type": "data", "symmetric": False, "thickness": 1.4, "width": 3, "color": "line-0",
        "array": [high - value for _, value, high in gains], "arrayminus": [value - low for low, value, _ in gains],
    }  # fmt: skip
    texts = [hover([f"{one.factor} {one.level}: {one.label}", str(estimate(one.gain))]) for one in known]
    more = {"mode": "markers", "marker": {"size": 8, "color": "line-0"}, "hoverinfo": "text", "text": texts}
    return line(
        [value for _, value, _ in gains], [float(k) for k in range(len(known))], "line-0", 0, error_x=spread, **more
    )


def _rings(fresh: Sequence[tuple[int, SettingEffect]]) -> dict[str, Any]:
    ring = {"size": 13, "color": "line-1", "symbol": "circle-open", "line": {"width": 2}}
    texts = [hover(["fresh runs", str(estimate(one.alone))]) for _, one in fresh]
    places = [100 * ((one.alone.value if one.alone else None) or 1.0) - 100 for _, one in fresh]
    more = {"mode": "markers", "marker": ring, "hoverinfo": "text", "text": texts}
    return line(places, [k + 0.0 for k, _ in fresh], "line-1", 0, **more)


def _band(low: float, high: float) -> dict[str, Any]:
    return {
        "type": "rect", "xref": "x", "yref": "paper", "x0": low, "x1": high, "y0": 0, "y1": 1, "layer": "below",
        "fillcolor": faded("muted", 0.18), "line": {"width": 0},
    }  # fmt: skip


def _margins(part: Tunables) -> list[dict[str, Any]]:
    """Where performance counts as that of the default."""
    upright = {"type": "line", "xref": "x", "yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
    edge = {"width": 1, "color": "muted", "dash": "2px,3px"}
    return [upright | {"x0": x, "x1": x, "line": edge} for x in (-100 * part.margin, 100 * part.margin)]
