"""Published figures over the measured ones: as lines of a curve, shown at first where they do not crowd it."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from scalograph.protocol.findings import Curve, Findings
from scalograph.protocol.published_curve import PublishedCurve
from scalograph.text.axes import Factors, key
from scalograph.text.escape import prose

# More lines in a panel, or so much outside the measured range as a share of it, and they wait until asked for.
MOST_SHOWN, SPARE = 4, 0.25


def papers(findings: Findings, curves: Sequence[Curve]) -> list[str]:
    """Name what is published beside these curves, each of which can be shown and hidden."""
    return list(dict.fromkeys(one.label for one in findings.published_curves if any(_beside(one, c) for c in curves)))


def published_lines(
    findings: Findings, curve: Curve, measures: Sequence[dict[str, Any]], factors: Factors, names: Sequence[str]
) -> list[dict[str, Any]]:
    """What is published at the levels of a curve.

    Args:
        findings: that hold it.
        curve: measured.
        measures: of the family, with the scale that they are drawn in.
        factors: of which the curve's own has the places of levels.
        names: the `papers` of the family.

    Returns:
        For each line the place of its name and, by measure, pairs of the place of a level and the value.
    """
    found = []
    for one in findings.published_curves:
        if _beside(one, curve):
            points = [(factors[one.factor].index(point.level), point.values) for point in one.points]
            values = {m["id"]: pairs for m in measures if (pairs := _of(points, m))}
            found.append({"paper": names.index(one.label), "values": values})
    return [line for line in found if line["values"]]


def _beside(one: PublishedCurve, curve: Curve) -> bool:
    """Whether it is drawn over this curve."""
    groups = [{name: key(level) for name, level in group.items()} for group in (one.group, curve.group)]
    return one.factor == curve.factor and groups[0] == groups[1]


def _of(points: Sequence[tuple[int, dict[str, float]]], measure: dict[str, Any]) -> list[list[float]]:
    name, scale = measure.get("response", measure["id"]), measure["scale"].factor
    return [[at, float(f"{values[name] * scale:.6g}")] for at, values in points if name in values]


def legend(drawn: Sequence[dict[str, Any]], line: int | None, names: Sequence[str]) -> list[dict[str, Any]]:
    """Name each of the `papers`, and whether it is shown before somebody asks.

    Args:
        drawn: the curves of a family.
        line: the place of the factor that tells lines of a panel apart.
        names: of the papers.
    """
    fits = [_n_lines(drawn, line, i) <= MOST_SHOWN and _fits(drawn, i) for i in range(len(names))]
    return [{"name": prose(name), "shown": shown} for name, shown in zip(names, fits, strict=True)]


def _n_lines(drawn: Sequence[dict[str, Any]], line: int | None, paper: int) -> int:
    """How many of its lines the fullest panel has."""
    panels = Counter[tuple[int, ...]]()
    for curve in drawn:
        panel = tuple(level for i, level in enumerate(curve["group"]) if i != line)
        panels[panel] += sum(one["paper"] == paper for one in curve["published"])
    return max(panels.values(), default=0)


def _fits(drawn: Sequence[dict[str, Any]], paper: int) -> bool:
    """Whether all its figures lie near the range of the measured ones."""
    published: dict[str, list[float]] = {}
    for line in (one for curve in drawn for one in curve["published"] if one["paper"] == paper):
        for name, pairs in line["values"].items():
            published.setdefault(name, []).extend(value for _, value in pairs)
    for name, values in published.items():
        here = [p["values"][name][0] for curve in drawn for p in curve["points"] if name in p["values"]]
        spare = SPARE * (max(here) - min(here))
        if min(values) < min(here) - spare or max(values) > max(here) + spare:
            return False
    return True
