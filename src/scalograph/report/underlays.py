"""What lies under the curves, in plotly's terms: a law with its band, Amdahl's, the ideal, published values.

A curve gets color and name by what tells lines apart, and that is chosen in the page: `OWN` stands for the one, `NAME`
for the other.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from scalograph.protocol.findings import Curve, Findings
from scalograph.protocol.published_claim import PublishedCurve
from scalograph.text.axes import Factors, level_key
from scalograph.text.escape import one_line
from scalograph.text.format import significant
from scalograph.text.plots import area, hover, line

OWN, NAME = "line-own", "{line}"
# With more lines per panel, fitted laws are hidden at first.
MANY_LAWS = 3
# Name, dash in the legend, and whether it is shown at first.
LAWS = {
    "fitted": ("fitted law", "none", True),
    "amdahl": ("Amdahl\N{RIGHT SINGLE QUOTATION MARK}s law", "6 2 1 2", False),
    "ideal": ("ideal", "3 3", True),
}


def legend(drawn: Sequence[dict[str, Any]], n_lines: int, papers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Name what can be shown and hidden, and whether it is shown at first; `n_lines` is per panel."""
    kinds = {layer["of"] for curve in drawn for layer in curve["under"]}
    laws = [
        {"of": of, "name": name, "dash": dash, "shown": is_shown and (of != "fitted" or n_lines <= MANY_LAWS)}
        for of, (name, dash, is_shown) in LAWS.items()
        if of in kinds
    ]
    return [*laws, *papers]


def speedup_underlays(law: dict[str, Any] | None, ideal: Iterable[tuple[float, float | None]]) -> list[dict[str, Any]]:
    """Return the underlays of a speedup curve; `ideal` is the position of each point with its ideal speedup."""
    layers = []
    if law:
        note = "dotted: beyond the data" if law["inside"] < len(law["at"]) else ""
        ends = reach(law["fitted"], [*law["low"], *law["high"]])
        n, last = len(law["at"]), max(law["inside"] - 1, 0)
        within, beyond = _part(law, range(law["inside"]), 0.1, "solid"), _part(law, range(last, n), 0.05, "2px,3px")
        traces = [*within, *beyond, *_optimum(law)]
        layers.append({"of": "fitted", "traces": traces, "reach": ends, "end": law["at"][-1], "said": note})
    if law and law["amdahl"]:
        drawn = line(law["at"], law["amdahl"], OWN, 1.1, style={"dash": "6px,2px,1px,2px"})
        layers.append({"of": "amdahl", "traces": [drawn], "reach": reach(law["amdahl"]), "end": law["at"][-1]})
    points = [(x, y) for x, y in ideal if y is not None]
    if len(points) > 1:
        ys = [y for _, y in points]
        drawn = line([x for x, _ in points], ys, "muted", 1.2, style={"dash": "3px,3px"})
        layers.append({"of": "ideal", "traces": [drawn], "reach": reach(ys)})
    return [layer | {"measure": "speedup"} for layer in layers]


def reach(core: Iterable[float | None], whole: Iterable[float | None] = ()) -> list[float]:
    """Return the ends of what must be seen, then those of everything.

    >>> reach([1, 3], [0.5, None])
    [1, 3, 0.5, 3]
    """
    must = [x for x in core if x is not None]
    every = [*must, *(x for x in whole if x is not None)]
    return [min(must), max(must), min(every), max(every)]


def _part(law: dict[str, Any], places: Sequence[int], share: float, dash: str) -> list[dict[str, Any]]:
    if len(places) < 2:
        return []
    hover_texts = []
    for i in places:
        low, high = law["low"][i], law["high"][i]
        ends = "" if low is None else f" [{significant(low)}, {'not bounded' if high is None else significant(high)}]"
        value = f"{significant(law['fitted'][i])}{ends}"
        hover_texts.append(NAME + hover([f"fitted law at {law['sizes'][i]}", value, law["words"]]))
    at, fitted = ([law[name][i] for i in places] for name in ("at", "fitted"))
    drawn = line(at, fitted, OWN, 1.1, style={"dash": dash}, hoverinfo="text", hovertext=hover_texts)
    bounded = [i for i in places if law["low"][i] is not None and law["high"][i] is not None]
    xs, low, high = ([law[name][i] for i in bounded] for name in ("at", "low", "high"))
    return [*([area(xs, low, high, f"{OWN}/{share}")] if len(bounded) > 1 else []), drawn]


def _optimum(law: dict[str, Any]) -> list[dict[str, Any]]:
    best, words = law["optimum"], hover([law["words"]])
    if best is None:
        font = {"mode": "text", "textposition": "top left", "textfont": {"size": 11, "color": OWN}, "cliponaxis": False}
        return [line([law["at"][-1]], [law["fitted"][-1]], OWN, 0, text=[words], **font)] if words else []
    low, high = (best["at"] if best[end] is None else best[end] for end in ("low", "high"))
    return [
        {
            "type": "scatter", "mode": "markers", "x": [best["at"]], "y": [best["value"]], "hoverinfo": "text",
            "hovertext": [words],
            "marker": {"symbol": f"diamond{'-open' * best['open']}", "size": 9, "color": OWN},
            "error_x": {
                "type": "data", "symmetric": False, "array": [high - best["at"]], "arrayminus": [best["at"] - low],
                "color": OWN, "thickness": 1.2, "width": 4,
            },
        }
    ]  # fmt: skip


# With more lines per panel, or further outside the measured range (as a share of it), they are hidden at first.
MOST_SHOWN, SPARE = 4, 0.25
PAPER_MARKS = ("line-ew", "line-ns", "line-ne", "line-nw")
Printed = tuple[str, list[tuple[int, dict[str, float]]]]


def papers(findings: Findings, curves: Sequence[Curve]) -> list[str]:
    """Return the labels of what is published beside these curves."""
    shown = (published for published in findings.published_curves if any(_is_over(published, c) for c in curves))
    return list(dict.fromkeys(published.label for published in shown))


def published_points(findings: Findings, curve: Curve, factors: Factors) -> list[Printed]:
    """Return what is published beside a curve: the paper, and each level index with its values."""
    return [
        (published.label, [(factors[published.factor].index(point.level), point.values) for point in published.points])
        for published in findings.published_curves
        if _is_over(published, curve)
    ]


def published_lines(
    beside: Sequence[Printed], measures: Sequence[dict[str, Any]], axis: dict[str, Any], title: str,
    names: Sequence[str],
) -> list[dict[str, Any]]:  # fmt: skip
    """Return the dotted published lines of a curve; `beside` is of `published_points`, `names` are the `papers`."""
    layers = []
    for label, points in beside:
        for measure in measures:
            name, scale = measure.get("response", measure["id"]), measure["scale"].factor
            values = [(level, float(f"{ys[name] * scale:.6g}")) for level, ys in points if name in ys]
            if placed := sorted((axis["at"][level], axis["labels"][level], y) for level, y in values):
                paper, note = names.index(label), "dotted, bars: published"
                traces = [_paper_trace(placed, f"{title}: ", measure["unit"], paper, label, axis["mode"])]
                layer = {"of": f"p{paper}", "measure": measure["id"], "traces": traces, "said": note}
                layers.append(layer | {"reach": reach(y for _, _, y in placed)})
    return layers


def _paper_trace(
    placed: Sequence[tuple[float, str, float]], at: str, unit: str, paper: int, label: str, mode: str
) -> dict[str, Any]:
    head = _paper_label(label)
    hover_texts = [NAME + hover([head, f"{at}{text}", f"{y:g} {unit}".rstrip()]) for _, text, y in placed]
    bar = {"color": OWN, "size": 9, "symbol": _bar(paper), "line": {"color": OWN, "width": 2}}
    look = {"mode": mode, "marker": bar, "style": {"dash": "1px,3px"}, "hoverinfo": "text", "hovertext": hover_texts}
    return line([x for x, _, _ in placed], [y for *_, y in placed], OWN, 1.3, **look)


def _bar(paper: int) -> str:
    """Return the mark of a paper: a bar, since a disk is a measurement and a ring an inconclusive one."""
    return PAPER_MARKS[paper % len(PAPER_MARKS)]


def _paper_label(label: str) -> str:
    return ": ".join(filter(None, ["published", one_line(label)]))


def _is_over(published: PublishedCurve, curve: Curve) -> bool:
    groups = [{name: level_key(level) for name, level in group.items()} for group in (published.group, curve.group)]
    return published.factor == curve.factor and groups[0] == groups[1]


def paper_legend(drawn: Sequence[dict[str, Any]], line: int | None, names: Sequence[str]) -> list[dict[str, Any]]:
    """Name each of the `papers`, and whether it is shown at first; `line` indexes the factor that separates lines."""
    fits = [_n_lines(drawn, line, i) <= MOST_SHOWN and _fits(drawn, i) for i in range(len(names))]
    return [
        {"of": f"p{i}", "name": _paper_label(name), "paper": one_line(name), "dash": "1 3",
         "symbol": _bar(i), "shown": fit}
        for i, (name, fit) in enumerate(zip(names, fits, strict=True))
    ]  # fmt: skip


def _n_lines(drawn: Sequence[dict[str, Any]], line: int | None, paper: int) -> int:
    panels = Counter[tuple[Any, ...]]()
    for curve in drawn:
        panel = tuple(level for i, level in enumerate(curve["group"]) if i != line)
        panels.update((layer["measure"], panel) for layer in curve["under"] if layer["of"] == f"p{paper}")
    return max(panels.values(), default=0)


def _fits(drawn: Sequence[dict[str, Any]], paper: int) -> bool:
    for layer in (layer for curve in drawn for layer in curve["under"] if layer["of"] == f"p{paper}"):
        values = [p["values"].get(layer["measure"]) for curve in drawn for p in curve["points"]]
        here = [value[0] for value in values if value]
        spare = SPARE * (max(here) - min(here))
        if layer["reach"][0] < min(here) - spare or layer["reach"][1] > max(here) + spare:
            return False
    return True
