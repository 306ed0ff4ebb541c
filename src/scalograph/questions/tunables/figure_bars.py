"""How much each factor moves the performance, beside what noise alone shows; and ranks with their sets."""

from collections.abc import Sequence
from typing import Any

from scalograph.protocol.figure import Figure, Plot, View
from scalograph.questions.tunables.document import FactorEffect, Tunables
from scalograph.text.plots import COLORS as N_COLORS
from scalograph.text.plots import at, axis, faded, hover, line
from scalograph.text.quantities import two_digits
from scalograph.text.short_names import listed

# Rows at most; from so many on the figure is taller.
MOST, MANY = 36, 15
MARGIN = {"l": 150, "r": 16, "t": 8, "b": 42}
SENSITIVITY = (
    "Standard deviation over a factor's levels, without the share of the noise. Shaded: what a factor without effect "
    "shows at most, 95 times in 100."
)
RANKS = "Rank 1 is the worst. Lines: all ranks that a setting may have."
# What a label is drawn in.
COLORS = {"positive": "line-2", "negative": "line-1", "equivalent": "muted", "uncertain": "line-0"}


def bars(part: Tunables, titles: dict[str, str]) -> list[Figure]:
    """Draw one bar for each factor, the longest on top; the factors of a group stand together, in its color."""
    known = [one for one in part.factors if one.sensitivity is not None]
    groups = {factor: k for k, group in enumerate(part.groups) for factor in group.factors}
    of = [groups.get(one.factor, len(part.groups)) for one in known]
    ordered = sorted(zip(of, known, strict=True), key=lambda row: (-row[0], row[1].sensitivity or 0.0))
    if not ordered:
        return []
    factors = [one for _, one in ordered]
    places = [float(k) for k in range(len(ordered))]
    values, noise = ([getattr(one, name) or 0.0 for one in factors] for name in ("sensitivity", "sensitivity_noise"))
    data = [
        _bar(noise, places, faded("muted", 0.25), 0.8, hoverinfo="skip"),
        *(_of_group(ordered, titles, k) for k in sorted({*of})),
    ]
    layout = {
        "margin": MARGIN, "barmode": "overlay",
        "xaxis": axis("standard deviation over levels (%)", (0.0, 1.08 * max(*values, *noise, 0.1))),
        "yaxis": rows(places, [titles[one.factor] for one in factors]),
    }  # fmt: skip
    plot = Plot("sensitivity of each factor; numbers in the table of factors", data, layout, size="large")
    caption = (
        f"{SENSITIVITY} From the top: {listed([one.group for one in part.groups])}." if part.groups else SENSITIVITY
    )
    return [
        Figure("tunables-sensitivity", "How much each factor moves the performance", caption, [View([plot])], unit="%")
    ]


def _of_group(ordered: Sequence[tuple[int, FactorEffect]], titles: dict[str, str], group: int) -> dict[str, Any]:
    """Draw the bars of one group where they stand among all."""
    own = [(float(place), one) for place, (k, one) in enumerate(ordered) if k == group]
    texts = [hover([titles[one.factor], f"{two_digits(one.sensitivity or 0.0)} %"]) for _, one in own]
    more = {"text": texts, "hoverinfo": "text", "textposition": "none"}
    values, color = [one.sensitivity or 0.0 for _, one in own], f"line-{group % N_COLORS}"
    return _bar(values, [place for place, _ in own], color, 0.4, **more)


def _bar(values: list[float], places: list[float], color: str, width: float, **more: Any) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "x": values,
        "y": places,
        "width": width,
        "marker": {"color": color},
        **more,
    }


def ranked(part: Tunables, names: dict[tuple[str, str], str]) -> list[Figure]:
    """Draw the rank of each setting, factors side by side, in the colors of its label."""
    known = [(one, one.rank) for one in part.settings if one.rank is not None][:MOST]
    if len(known) < 2:
        return []
    places = [float(k) for k in range(len(known))]
    texts = [
        hover([names[one.factor, str(one.level)], f"rank {rank[1]}, {rank[0]} to {rank[2]}", one.label])
        for one, rank in known
    ]
    marker = {"size": 9, "color": [COLORS[one.label] for one, _ in known]}
    more = {"mode": "markers", "marker": marker, "hoverinfo": "text", "text": texts}
    layout = {
        "margin": MARGIN, "xaxis": axis("rank by performance", (0.0, len(known) + 1.0)),
        "yaxis": rows(places, [names[one.factor, str(one.level)] for one, _ in known]),
    }  # fmt: skip
    dots = line([float(rank[1]) for _, rank in known], places, "muted", 0, **more)
    spans = [line([rank[0], rank[2]], [k, k], "muted", 1.6) for k, (_, rank) in zip(places, known, strict=True)]
    plot = Plot(
        "ranks of settings; numbers in the table of settings",
        [*spans, dots],
        layout,
        size="tall" if len(known) >= MANY else "large",
    )
    return [Figure("tunables-ranks", "Ranks of the settings", RANKS, [View([plot])])]


def rows(places: list[float], texts: list[str]) -> dict[str, Any]:
    """Make an axis with one row for each text."""
    return {"range": [-0.7, len(places) - 0.3], "showgrid": False, **at(places, texts)}
