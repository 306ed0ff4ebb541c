"""Published figures over the measured ones: as lines of a curve, shown at first where they do not crowd it."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from scalograph.protocol.findings import Curve, Findings
from scalograph.text.axes import Factors, key
from scalograph.text.escape import prose

# More of them in a panel, or so much outside the measured range as a share of it, and they wait until asked for.
MOST_SHOWN, SPARE = 4, 0.25


def published_lines(
    findings: Findings, curve: Curve, measures: Sequence[dict[str, Any]], factors: Factors
) -> list[dict[str, Any]]:
    """What a paper has at the levels of a curve.

    Args:
        findings: that hold it.
        curve: measured.
        measures: of the family, with the scale that they are drawn in.
        factors: of which the curve's own has the places of levels.

    Returns:
        For each line its name and, by measure, pairs of the place of a level and the value.
    """
    group = {name: key(level) for name, level in curve.group.items()}
    found = []
    for one in findings.published_curves:
        if one.factor == curve.factor and {name: key(level) for name, level in one.group.items()} == group:
            points = [(factors[one.factor].index(point.level), point.values) for point in one.points]
            values = {m["id"]: _of(points, m) for m in measures}
            found.append({"name": prose(one.label), "values": {name: pairs for name, pairs in values.items() if pairs}})
    return [line for line in found if line["values"]]


def _of(points: Sequence[tuple[int, dict[str, float]]], measure: dict[str, Any]) -> list[list[float]]:
    name, scale = measure.get("response", measure["id"]), measure["scale"].factor
    return [[at, float(f"{values[name] * scale:.6g}")] for at, values in points if name in values]


def shown_at_first(drawn: Sequence[dict[str, Any]], line: int | None) -> dict[str, bool]:
    """Whether they are shown before somebody asks; empty where there are none.

    Args:
        drawn: the curves of a family.
        line: the place of the factor that tells lines of a panel apart.
    """
    panels = Counter[tuple[int, ...]]()
    for curve in drawn:
        panels[tuple(level for i, level in enumerate(curve["group"]) if i != line)] += len(curve["published"])
    most = max(panels.values(), default=0)
    return {"published": most <= MOST_SHOWN and _fits(drawn)} if most else {}


def _fits(drawn: Sequence[dict[str, Any]]) -> bool:
    """Whether every published figure lies near the range of the measured ones."""
    published: dict[str, list[float]] = {}
    for line in (line for curve in drawn for line in curve["published"]):
        for name, pairs in line["values"].items():
            published.setdefault(name, []).extend(value for _, value in pairs)
    for name, values in published.items():
        here = [p["values"][name][0] for curve in drawn for p in curve["points"] if name in p["values"]]
        spare = SPARE * (max(here) - min(here))
        if min(values) < min(here) - spare or max(values) > max(here) + spare:
            return False
    return True
