"""The chart of an explanation: a bar for each of its two levels, where each CPU second went."""

from typing import Any

from scalograph.protocol.explanation import PART, Explanation, LossPart
from scalograph.protocol.figure import Details, Figure, KeyItem, Plot, TextTable, View
from scalograph.protocol.findings import Findings
from scalograph.text.explained import OWN_WORK, cause_text
from scalograph.text.format import significant
from scalograph.text.plots import axis, axis_ticks, hover
from scalograph.text.scale import scale_for
from scalograph.text.short_names import short_setting

KEY = (
    "CPU time per unit of work that the run could have used: its own work, then what was lost, the largest part first."
)
MOST_PARTS, REST = 6, "everything else"
MARGIN = {"l": 110, "r": 12, "t": 8, "b": 44}


def explanation_in(findings: Findings) -> Explanation | None:
    """Return the explanation of a study's findings; None where it has none."""
    part = findings.parts.get(PART)
    return Explanation.model_validate(part.data) if part and part.data else None


def figures(findings: Findings) -> list[Figure]:
    """Draw the CPU time of both levels; nothing where the study has no explanation."""
    document = explanation_in(findings)
    if document is None or not document.parts:
        return []
    rows = stacked_parts(document)
    scale = scale_for("s", [*document.capacity_s])
    names = [short_setting(document.factor, level) for level in document.levels]
    data = [_bar(text, values, names, index, scale.factor, scale.unit) for index, (text, *values) in enumerate(rows)]
    longest = scale.factor * max(document.capacity_s)
    layout = {
        "margin": MARGIN, "barmode": "stack",
        "xaxis": axis(f"CPU time per unit of work ({scale.unit})", (0.0, 1.04 * longest)),
        "yaxis": axis("", (1.6, -0.6), **axis_ticks([0, 1], names)),
    }  # fmt: skip
    cells = [[text, *(significant(value * scale.factor) for value in values)] for text, *values in rows]
    table = TextTable("Where each CPU second went", ["cause", *(f"{name} ({scale.unit})" for name in names)], cells)
    details = [Details("As a table", [table])]
    plot = Plot(
        "CPU time of both levels by cause; numbers in the table below", data, layout, details=details, size="large"
    )
    key = [KeyItem(text, [_swatch(text, index)], width=16) for index, (text, *_) in enumerate(rows)]
    return [Figure("explanation", "Where each CPU second went", KEY, [View([plot])], key=key)]


def stacked_parts(document: Explanation) -> list[tuple[str, float, float]]:
    """Return text and CPU seconds of both levels: the program's own work, the largest losses, then the rest."""
    own = [part for part in document.parts if part.kind == "inflation"]
    lost = [part for part in document.parts if part.kind != "inflation"]
    lost.sort(key=lambda part: -max(part.before_s, part.after_s))
    rows = [(OWN_WORK, *_sums(own)), *((cause_text(part), part.before_s, part.after_s) for part in lost[:MOST_PARTS])]
    before, after = document.capacity_s
    rest = before - sum(row[1] for row in rows), after - sum(row[2] for row in rows)
    return [*rows, (REST, max(0.0, rest[0]), max(0.0, rest[1]))]


def _sums(parts: list[LossPart]) -> tuple[float, float]:
    return sum(part.before_s for part in parts), sum(part.after_s for part in parts)


def _bar(text: str, values: list[float], names: list[str], index: int, factor: float, unit: str) -> dict[str, Any]:
    texts = [
        hover([name, text, f"{significant(value * factor)} {unit}"]) for name, value in zip(names, values, strict=True)
    ]
    color = "line-0/0.35" if index == 0 else "muted" if text == REST else f"line-{index % 8}"
    return {
        "type": "bar", "orientation": "h", "x": [value * factor for value in values], "y": [0, 1], "name": text,
        "width": 0.55, "marker": {"color": color}, "text": texts, "hoverinfo": "text", "textposition": "none",
    }  # fmt: skip


def _swatch(text: str, index: int) -> list[Any]:
    style = "even-gray" if text == REST else f"fill-{index % 8}"
    box = {"class": style, "x": 1, "y": 1, "width": 14, "height": 12, "opacity": 0.35 if index == 0 else 1}
    return ["rect", box, []]
