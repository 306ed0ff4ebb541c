"""Charts of tunables: effects of settings over the noise, sensitivity of factors, and ranks."""

from collections.abc import Sequence
from typing import Any

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.figure import Figure, Plot, View
from scalograph.protocol.findings import Findings
from scalograph.questions.tunables.document import FactorEffect, SettingEffect, Tunables
from scalograph.text.axes import Factors
from scalograph.text.format import estimate
from scalograph.text.plots import COLORS as N_COLORS
from scalograph.text.plots import axis, axis_ticks, fade_color, hover, line
from scalograph.text.quantities import inverse, two_digits
from scalograph.text.short_names import join_names

MOST, MANY = 36, 15  # rows at most; from so many on the figure is taller
SENSITIVITY = (
    "Standard deviation over a factor's levels, without the share of the noise. Shaded: what a factor without effect "
    "shows at most, 95 times in 100."
)
RANKS = "Rank 1 is the worst. Lines: 95% CI of the rank. Hollow: inconclusive."
# What a label is drawn in.
COLORS = {"positive": "line-2", "negative": "line-1", "equivalent": "muted", "uncertain": "line-0"}


def sensitivity_figures(part: Tunables, titles: dict[str, str]) -> list[Figure]:
    """Draw one bar for each factor, the longest on top; the factors of a group stand together, in its color."""
    measured = [factor for factor in part.factors if factor.sensitivity is not None]
    groups = {factor: k for k, group in enumerate(part.groups) for factor in group.factors}
    of = [groups.get(factor.factor, len(part.groups)) for factor in measured]
    ordered = sorted(zip(of, measured, strict=True), key=lambda row: (-row[0], row[1].sensitivity or 0.0))
    if not ordered:
        return []
    factors = [factor for _, factor in ordered]
    places = [float(k) for k in range(len(ordered))]
    values, noise = ([getattr(x, name) or 0.0 for x in factors] for name in ("sensitivity", "sensitivity_noise"))
    data = [_bar(noise, places, fade_color("muted", 0.25), 0.8, hoverinfo="skip")]
    data += [_group_bars(ordered, titles, k) for k in sorted({*of})]
    layout = {
        "margin": MARGIN, "barmode": "overlay",
        "xaxis": axis("standard deviation over levels (%)", (0.0, 1.08 * max(*values, *noise, 0.1))),
        "yaxis": rows(places, [titles[factor.factor] for factor in factors]),
    }  # fmt: skip
    plot = Plot("sensitivity of each factor; numbers in the table of factors", data, layout, size="large")
    groups_ = [group.group for group in part.groups]
    caption = f"{SENSITIVITY} From the top: {join_names(groups_)}." if groups_ else SENSITIVITY
    return [
        Figure("tunables-sensitivity", "How much each factor moves the performance", caption, [View([plot])], unit="%")
    ]


def _group_bars(ordered: Sequence[tuple[int, FactorEffect]], titles: dict[str, str], group: int) -> dict[str, Any]:
    own = [(float(row), factor) for row, (k, factor) in enumerate(ordered) if k == group]
    texts = [hover([titles[factor.factor], f"{two_digits(factor.sensitivity or 0.0)}%"]) for _, factor in own]
    more = {"text": texts, "hoverinfo": "text", "textposition": "none"}
    values, color = [factor.sensitivity or 0.0 for _, factor in own], f"line-{group % N_COLORS}"
    return _bar(values, [row for row, _ in own], color, 0.4, **more)


def _bar(values: list[float], places: list[float], color: str, width: float, **more: Any) -> dict[str, Any]:
    bar = {"type": "bar", "orientation": "h", "x": values, "y": places, "width": width, "marker": {"color": color}}
    return {**bar, **more}


def rank_figures(part: Tunables, names: dict[tuple[str, str], str]) -> list[Figure]:
    """Draw the rank of each setting, factors side by side, in the colors of its label."""
    ranked = [(setting, setting.rank) for setting in part.settings if setting.rank is not None][:MOST]
    if len(ranked) < 2:
        return []
    places = [float(k) for k in range(len(ranked))]
    labels = [names[setting.factor, str(setting.level)] for setting, _ in ranked]
    spots = [f"rank {own}, {low} to {high}" for _, (low, own, high) in ranked]
    texts = [hover([*both, setting.label]) for *both, (setting, _) in zip(labels, spots, ranked, strict=True)]
    colors = [COLORS[setting.label] for setting, _ in ranked]
    fill = ["paper" if setting.label == "uncertain" else COLORS[setting.label] for setting, _ in ranked]
    marker = {"size": 9, "color": fill, "line": {"color": colors, "width": 1.4}}
    more = {"mode": "markers", "marker": marker, "hoverinfo": "text", "text": texts}
    layout = {
        "margin": MARGIN, "xaxis": axis("rank by performance", (0.0, len(ranked) + 1.0)),
        "yaxis": rows(places, labels),
    }  # fmt: skip
    dots = line([float(rank[1]) for _, rank in ranked], places, "muted", 0, **more)
    spans = [line([rank[0], rank[2]], [k, k], "muted", 1.6) for k, (_, rank) in zip(places, ranked, strict=True)]
    label = "ranks of settings; numbers in the table of settings"
    plot = Plot(label, [*spans, dots], layout, size="tall" if len(ranked) >= MANY else "large")
    return [Figure("tunables-ranks", "Ranks of the settings", RANKS, [View([plot])])]


def rows(places: list[float], texts: list[str]) -> dict[str, Any]:
    return {"range": [-0.7, len(places) - 0.3], "showgrid": False, **axis_ticks(places, texts)}


CAPTION = "Each setting and all others, with intervals that hold together."
SHADED = (
    "Shaded: the worst to the best of as many settings without effect, 95 times in 100. Between the dotted lines a "
    "difference counts as none."
)
BESIDE = 0.25  # how far above its setting a fresh gain is drawn
MARGIN = {"l": 150, "r": 16, "t": 8, "b": 42}


def figures(findings: Findings) -> list[Figure]:
    """Draw settings and factors; none where too few runs were made."""
    part = findings.document("tunables", Tunables)
    if part is None or part.half_width is None:
        return []
    factors = Factors(findings)
    # Findings may come from anybody, and not list the response that they name.
    response = next((response for response in findings.study.responses if response.name == part.response), None)
    what = (response and response.title) or part.response
    drawn = _invert(part) if response and response.better != "higher" else part
    names = {(s.factor, str(s.level)): factors.configuration({s.factor: s.level}) for s in part.settings}
    views = [View([_effects(drawn, names, what)])]
    effects = Figure("tunables-effects", "Settings against the default", CAPTION, views, unit="%")
    titles = {factor.factor: factors[factor.factor].title for factor in part.factors}
    return [effects, *sensitivity_figures(part, titles), *rank_figures(part, names)]


def _invert(part: Tunables) -> Tunables:
    """Return effects on a time, say, instead of those on the performance."""
    settings = [
        s.model_copy(update={"gain": s.gain and inverse(s.gain), "alone": s.alone and inverse(s.alone)})
        for s in part.settings
    ]
    worst, best = (
        band and tuple(100 * (1 / (1 + x / 100) - 1) for x in band[::-1])
        for band in (part.best_of_noise, part.worst_of_noise)
    )
    return part.model_copy(update={"settings": settings, "worst_of_noise": worst, "best_of_noise": best})


def _effects(part: Tunables, names: dict[tuple[str, str], str], what: str) -> Plot:
    given = [setting for setting in part.settings if setting.gain]
    # Those that do most, in order: the others lie in the middle, and in the table.
    far = sorted(given, key=lambda setting: -abs(_percent(setting.gain)[1]))[:MOST]
    ordered = sorted(far, key=lambda setting: _percent(setting.gain)[1])
    every = [(float(k), setting, setting.gain) for k, setting in enumerate(ordered)]
    fresh = [(k + BESIDE, setting, setting.alone) for k, setting, _ in every if setting.alone]
    data = [*_effect_marks(every, "line-0", 8), *(_effect_marks(fresh, "line-1", 6) if fresh else [])]
    noise = (part.worst_of_noise or (0.0,) * 3)[0], (part.best_of_noise or (0.0,) * 3)[2]
    ends = [x for _, _, gain in [*every, *fresh] for x in _percent(gain)]
    low, high = min(*ends, *noise), max(*ends, *noise)
    spare = 0.06 * (high - low) or 1.0
    layout = {
        "margin": MARGIN, "shapes": [_band(*noise), *_margins(part)],
        "xaxis": axis(f"{what} over the default (%)", (low - spare, high + spare)),
        "yaxis": rows([k for k, _, _ in every], [names[setting.factor, str(setting.level)] for setting in ordered]),
    }  # fmt: skip
    label = "each setting against the default; numbers in the table of settings"
    note = SHADED + " Above a setting: it alone, in fresh runs beside the default." * bool(fresh)
    return Plot(label, data, layout, note=note, size="tall" if len(ordered) >= MANY else "large")


def _percent(gain: Estimate | None) -> tuple[float, float, float]:
    """Return the low end, value and high end of a gain, in percent."""
    value = (gain.value if gain else None) or 1.0
    ends = [(gain.low if gain else None) or value, value, (gain.high if gain else None) or value]
    low, middle, high = (round(100 * (x - 1), 4) for x in ends)
    return low, middle, high


def _effect_marks(
    placed: Sequence[tuple[float, SettingEffect, Estimate | None]], color: str, size: int
) -> list[dict[str, Any]]:
    spans = [(row, *_percent(gain)) for row, _, gain in placed]
    texts = [hover([f"{s.factor} {s.level}: {s.label}", str(estimate(gain))]) for _, s, gain in placed]
    fill = ["paper" if s.label == "uncertain" else color for _, s, _ in placed]
    marker = {"size": size, "color": fill, "line": {"color": color, "width": 1.4}}
    more = {"mode": "markers", "marker": marker, "hoverinfo": "text", "text": texts}
    dots = line([value for _, _, value, _ in spans], [row for row, *_ in spans], color, 0, **more)
    return [*(line([low, high], [row, row], color, 1.6) for row, low, _, high in spans), dots]


def _band(low: float, high: float) -> dict[str, Any]:
    return {
        "type": "rect", "xref": "x", "yref": "paper", "x0": low, "x1": high, "y0": 0, "y1": 1, "layer": "below",
        "fillcolor": fade_color("muted", 0.18), "line": {"width": 0},
    }  # fmt: skip


def _margins(part: Tunables) -> list[dict[str, Any]]:
    upright = {"type": "line", "xref": "x", "yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
    edge = {"width": 1, "color": "muted", "dash": "2px,3px"}
    return [upright | {"x0": x, "x1": x, "line": edge} for x in (-100 * part.margin, 100 * part.margin)]
