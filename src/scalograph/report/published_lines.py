"""Published figures over the measured ones: as lines of a curve, shown at first where they do not crowd it."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from scalograph.protocol.findings import Curve, Findings
from scalograph.protocol.published_claim import PublishedCurve
from scalograph.report.under_curves import NAME, OWN, reach
from scalograph.text.axes import Factors, key
from scalograph.text.escape import prose
from scalograph.text.plots import SYMBOLS, hover, line, shifted

# More lines in a panel, or so much outside the measured range as a share of it, and they wait until asked for.
MOST_SHOWN, SPARE = 4, 0.25
Printed = tuple[str, list[tuple[int, dict[str, float]]]]


def papers(findings: Findings, curves: Sequence[Curve]) -> list[str]:
    """Name what is published beside these curves, each of which can be shown and hidden."""
    return list(dict.fromkeys(one.label for one in findings.published_curves if any(_beside(one, c) for c in curves)))


def printed(findings: Findings, curve: Curve, factors: Factors) -> list[Printed]:
    """What is published beside a curve: the paper, and of each level its place with the values."""
    return [
        (one.label, [(factors[one.factor].index(point.level), point.values) for point in one.points])
        for one in findings.published_curves
        if _beside(one, curve)
    ]


def published_lines(
    beside: Sequence[Printed],
    measures: Sequence[dict[str, Any]],
    axis: dict[str, Any],
    title: str,
    names: Sequence[str],
) -> list[dict[str, Any]]:
    """The published lines of a curve: dotted with hollow marks, in its color.

    Args:
        beside: as `printed` has it.
        measures: of the family, with the scale that they are drawn in.
        axis: that the levels stand on, under this `title`.
        title: of the axis.
        names: the `papers` of the family.
    """
    found = []
    for label, points in beside:
        for measure in measures:
            placed = sorted((axis["at"][level], axis["labels"][level], y) for level, y in _of(points, measure))
            if placed:
                paper, said = names.index(label), "dotted, hollow: published"
                traces = [_trace(placed, f"{title}: ", measure["unit"], paper, label, axis["mode"])]
                one = {"of": f"p{paper}", "measure": measure["id"], "traces": traces, "said": said}
                found.append(one | {"reach": reach(y for _, _, y in placed)})
    return found


def _trace(
    placed: Sequence[tuple[float, str, float]], at: str, unit: str, paper: int, label: str, mode: str
) -> dict[str, Any]:
    told = [NAME + hover([_named(label), f"{at}{text}", f"{y:g} {unit}".rstrip()]) for _, text, y in placed]
    ring = {"color": "paper", "size": 6.5, "symbol": shifted(SYMBOLS, paper), "line": {"color": OWN, "width": 1.3}}
    look = {"mode": mode, "marker": ring, "style": {"dash": "1px,3px"}}
    return line([x for x, _, _ in placed], [y for *_, y in placed], OWN, 1.3, **look, hoverinfo="text", hovertext=told)


def _named(label: str) -> str:
    return ": ".join(filter(None, ["published", prose(label)]))


def _beside(one: PublishedCurve, curve: Curve) -> bool:
    """Whether it is drawn over this curve."""
    groups = [{name: key(level) for name, level in group.items()} for group in (one.group, curve.group)]
    return one.factor == curve.factor and groups[0] == groups[1]


def _of(points: Sequence[tuple[int, dict[str, float]]], measure: dict[str, Any]) -> list[tuple[int, float]]:
    name, scale = measure.get("response", measure["id"]), measure["scale"].factor
    return [(at, float(f"{values[name] * scale:.6g}")) for at, values in points if name in values]


def legend(drawn: Sequence[dict[str, Any]], line: int | None, names: Sequence[str]) -> list[dict[str, Any]]:
    """Name each of the `papers`, and whether it is shown before somebody asks.

    Args:
        drawn: the curves of a family.
        line: the place of the factor that tells lines of a panel apart.
        names: of the papers.
    """
    fits = [_n_lines(drawn, line, i) <= MOST_SHOWN and _fits(drawn, i) for i in range(len(names))]
    return [
        {"of": f"p{i}", "name": _named(name), "paper": prose(name), "dash": "1 3", "symbol": shifted(SYMBOLS, i)}
        | {"shown": fit}
        for i, (name, fit) in enumerate(zip(names, fits, strict=True))
    ]


def _n_lines(drawn: Sequence[dict[str, Any]], line: int | None, paper: int) -> int:
    """How many of its lines the fullest panel has."""
    panels = Counter[tuple[Any, ...]]()
    for curve in drawn:
        panel = tuple(level for i, level in enumerate(curve["group"]) if i != line)
        panels.update((one["measure"], panel) for one in curve["under"] if one["of"] == f"p{paper}")
    return max(panels.values(), default=0)


def _fits(drawn: Sequence[dict[str, Any]], paper: int) -> bool:
    """Whether all its figures lie near the range of the measured ones."""
    for one in (one for curve in drawn for one in curve["under"] if one["of"] == f"p{paper}"):
        values = [p["values"].get(one["measure"]) for curve in drawn for p in curve["points"]]
        here = [value[0] for value in values if value]
        spare = SPARE * (max(here) - min(here))
        if one["reach"][0] < min(here) - spare or one["reach"][1] > max(here) + spare:
            return False
    return True
