"""Group curves into families that share a horizontal axis, with the measures drawn over it."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scalograph.analysis.estimate import NO_LAW, Estimate
from scalograph.protocol.figure import Overlay
from scalograph.protocol.findings import Curve, Findings, LawDoc, Point
from scalograph.report.samples import Samples
from scalograph.report.underlays import (
    legend,
    papers,
    published_lines,
    published_points,
    reach,
    share_chart,
    speedup_underlays,
    wall_marks,
)
from scalograph.report.underlays import paper_legend as published_legend
from scalograph.text.axes import Factors, Levels, axis_position, level_key
from scalograph.text.cell_numbers import is_inconclusive, is_resolved, matrix_scale
from scalograph.text.escape import escape_controls, one_line
from scalograph.text.format import estimate
from scalograph.text.plots import COLORS, mode
from scalograph.text.scale import PLAIN, Scale, shared_scales

MANY_PANELS = 12  # more than this, and one factor makes panels
MOST_PANELS = 48  # more than this are not drawn at all: each is a figure for each measure


def arrangement(groups: Sequence[str], drawn: Sequence[dict[str, Any]], factors: Factors) -> dict[str, Any]:
    """Return the levels used of each factor, in the order of `groups`, and the panels for each choice of lines."""
    used = {name: sorted({curve["group"][i] for curve in drawn}) for i, name in enumerate(groups)}
    titles = {name: factors[name].title for name in groups}
    return {
        "used": used,
        "panels": {name: _panels({k: len(used[k]) for k in groups if k != name}, titles) for name in groups or [""]},
    }


def _panels(others: Mapping[str, int], titles: Mapping[str, str]) -> dict[str, Any]:
    """Return the default panels and the choices; `others` are factors that separate no lines, with their levels."""
    n, is_several = math.prod(others.values()), len(others) > 1
    single = [(name, titles[name]) for name, levels in others.items() if levels <= MOST_PANELS]
    whole = [("all", " \N{MULTIPLICATION SIGN} ".join(titles[name] for name in others))]
    every = whole if is_several and n <= MOST_PANELS else []
    if n <= MANY_PANELS:
        return {"first": "all", "choices": [*every, *single] if is_several else []}
    few = [name for name, levels in others.items() if levels <= MANY_PANELS]
    first = max(few, key=others.__getitem__, default="none")
    return {"first": first, "choices": [*every, *single, ("none", "none: one at a time")]}


BEYOND = 0.15  # how far a line reaches past the largest size measured, as a share of the axis


def law_line(curve: Curve, levels: Levels) -> dict[str, Any] | None:
    """Return the law of a curve in axis positions; None where none of it fits this axis, or the points."""
    law, position = curve.law, axis_position(levels)
    if law is None or any(flag.code in NO_LAW for flag in law.flags):
        return None
    places = levels.axis()["at"]
    end = max(places) + BEYOND * (max(places) - min(places))
    drawn = [(x, i) for i, n in enumerate(law.sizes) if (x := position(n)) is not None and x <= end]
    if len(drawn) < 2:
        return None
    at, kept = [_short(x) for x, _ in drawn], [i for _, i in drawn]
    columns = {name: [_short(getattr(law, name)[i]) for i in kept] for name in ("fitted", "low", "high")}
    return {
        "at": at,
        "sizes": [f"{law.sizes[i]:.3g}" for i in kept],
        **columns,
        "amdahl": [_short(law.amdahl[i]) for i in kept] if law.amdahl else [],
        "inside": sum(law.sizes[i] <= law.largest for i in kept),
        "optimum": _mark(law, position, at, columns["fitted"]),
        "words": _words(law),
    }


def _mark(
    law: LawDoc, position: Callable[[float], float | None], at: Sequence[float | None], fitted: Sequence[float | None]
) -> dict[str, Any] | None:
    best, last = law.optimum, at[-1] or 0.0
    if best.value is None or best.value < law.sizes[0] or (x := position(best.value)) is None or x > last:
        return None
    low, high = (position(end) if end else None for end in (best.low, best.high))
    ends = {"low": _short(low), "high": _short(last if best.high and (high is None or high > last) else high)}
    nearest = min(range(len(at)), key=lambda i: (abs((at[i] or 0.0) - x), -i))
    return {"at": _short(x), **ends, "value": fitted[nearest], "open": not is_resolved(best)}


def _words(law: LawDoc) -> str:
    """Format the optimum, `N* = 12 [10, 15]` or `N* > 40`."""
    best: Estimate = law.optimum
    if best.value is not None:
        return f"N* = {estimate(best)}"
    return f"N* > {best.low:.3g}" if best.low is not None else ""


def _short(x: float | None) -> float | None:
    return None if x is None else float(f"{x:.6g}")


DERIVED = {
    "speedup": ("Speedup", "higher"),
    "efficiency": ("Efficiency", "higher"),
    "serial_fraction": ("Serial fraction (Karp\N{EN DASH}Flatt)", "lower"),
}
# The ideal of an efficiency.
ONE = {
    "type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 1, "y1": 1, "layer": "below",
    "line": {"color": "muted", "width": 1.2, "dash": "3px,3px"},
}  # fmt: skip
BETTER = {"lower": "Lower is better.", "higher": "Higher is better."}


def families(
    findings: Findings, factors: Factors, samples: Samples, overlays: Sequence[Overlay]
) -> list[dict[str, Any]]:
    """Group curves along the same factor, over the same other factors."""
    kinds: dict[tuple[str, ...], list[Curve]] = {}
    for curve in findings.curves:
        kinds.setdefault((curve.factor, *curve.group), []).append(curve)
    members = [_family(findings, curves, factors, samples, overlays) for curves in kinds.values()]
    return [family | {"id": f"along-{i}"} for i, family in enumerate(members) if family["measures"]]


def _family(
    findings: Findings, curves: list[Curve], factors: Factors, samples: Samples, overlays: Sequence[Overlay]
) -> dict[str, Any]:
    factor, groups = curves[0].factor, list(curves[0].group)
    varying = [name for name in groups if len({level_key(c.group[name]) for c in curves}) > 1]
    fixed = {name: curves[0].group[name] for name in groups if name not in varying}
    measures = _measures(findings, curves)
    drawn = [_curve(findings, c, varying, measures, factors, samples) for c in curves]
    # Before the axis is made: a paper may have undeclared levels.
    beside, names = [published_points(findings, curve, factors) for curve in curves], papers(findings, curves)
    constant = {m["id"]: text for m in measures[1:] if (text := _constant(m["id"], drawn))}
    alike = [f"{m['title']}: {constant[m['id']]} {m['unit']}".rstrip() for m in measures if m["id"] in constant]
    unit = factors[factor].unit
    axis, title = factors[factor].axis(), (f"{factors[factor].title} ({unit})" if unit else factors[factor].title)
    axis["mode"] = mode(len(axis["at"]), axis["ordered"])
    for curve, row, lines in zip(curves, drawn, beside, strict=True):
        row["points"].sort(key=lambda point: axis["at"][point["level"]])
        row["under"] = published_lines(lines, measures, axis, title, names)
        if any(measure["id"] == "speedup" for measure in measures):
            ideal = [(axis["at"][point["level"]], point["ideal"]) for point in row["points"]]
            row["under"] += speedup_underlays(law_line(curve, factors[factor]), ideal)
        for measure in measures if findings.study.corrects else ():
            if measure["id"] == f"response {findings.study.primary}":
                row["under"].append(wall_marks(curve, findings.study.corrects, measure, axis, factors[factor]))
    over = [overlay for overlay in overlays if overlay.factor == factor]
    shown = [measure for measure in measures if measure["id"] not in constant]
    for curve, row in zip(curves, drawn, strict=True):
        row["reach"] = [_reach(curve, row["points"], measure) for measure in shown]
    sizes = {name: len({level_key(curve.group[name]) for curve in curves}) for name in varying}
    colored = [name for name in varying if sizes[name] <= COLORS]
    line = max(colored, key=lambda name: sizes[name]) if colored else min(varying, key=lambda n: sizes[n], default=None)
    line_index = varying.index(line) if line else None
    n_lines = 1 if line_index is None else len({curve["group"][line_index] for curve in drawn})
    return {
        "axis": axis, "title": title, "groups": varying, "line": line, **arrangement(varying, drawn, factors),
        "fixed": " \N{MIDDLE DOT} ".join(filter(None, [factors.configuration(fixed), *alike])),
        "measures": [_add_key(m, over) for m in shown],
        "under": legend(drawn, n_lines, published_legend(drawn, line_index, names)), "curves": drawn,
        "shapes": [_place_shape(shape, factors[factor]) for overlay in over for shape in overlay.shapes],
        "share": share_chart(curves, line, factors, title),
    }  # fmt: skip


def _constant(measure: str, drawn: Sequence[dict[str, Any]]) -> str:
    values = [point["values"][measure] for curve in drawn for point in curve["points"] if measure in point["values"]]
    is_flat = len(values) > 1 and all(v[0] == v[1] == v[2] == values[0][0] for v in values)
    return str(values[0][3]) if is_flat else ""


def _place_shape(shape: dict[str, Any], levels: Levels) -> dict[str, Any]:
    position = axis_position(levels)
    ends = {end: position(shape[end]) for end in ("x0", "x1")}
    return shape | {end: round(x, 5) for end, x in ends.items() if x is not None}


def _add_key(measure: dict[str, Any], over: Sequence[Overlay]) -> dict[str, Any]:
    parts = [BETTER.get(measure["better"], ""), f"Bars: {measure['bars']}."]
    captions = [overlay.caption for overlay in over if overlay.caption]
    key = " ".join(filter(None, [*parts, *captions]))
    shapes = [ONE] if measure["id"] == "efficiency" else []
    return measure | {"scale": measure["scale"].factor, "key": key, "over": captions, "shapes": shapes}


def _measures(findings: Findings, curves: list[Curve]) -> list[dict[str, Any]]:
    points = [p for c in curves for p in c.points]
    named = {r.name: r for r in findings.study.responses}
    names = dict.fromkeys([*named, *(name for p in points for name in p.responses)])
    estimates = {name: [p.responses[name].estimate for p in points if name in p.responses] for name in names}
    units = {name: named[name].unit if name in named else "" for name in names}
    scales = shared_scales([(units[name], [e.value for e in estimates[name]]) for name in names])
    measures = []
    for name, shared in zip(names, scales, strict=True):
        claim = findings.claim
        is_shown = claim is not None and claim.figure == f"response {name}"
        is_scaled = claim and claim.matrix and is_shown and claim.matrix.unit == units[name]
        scale = (matrix_scale(claim.matrix) if claim and claim.matrix and is_scaled else None) or shared
        title = one_line(named[name].title if name in named else name)
        measure = _measure(f"response {name}", title, scale, estimates[name])
        measures.append(measure | {"response": name, "better": named[name].better if name in named else "none"})
    for name, (title, better) in DERIVED.items():
        measures.append(_measure(name, title, PLAIN, [getattr(p, name) for p in points]) | {"better": better})
    first = findings.study.primary or next(iter(names), "")
    order = {f"response {first}": 0, "speedup": 1, "efficiency": 2, "serial_fraction": 4}
    kept = sorted((m for m in measures if m.pop("any")), key=lambda m: order.get(m["id"], 3))
    chosen = {*list(order)[:3], findings.claim.figure if findings.claim else ""}
    return [measure | {"folded": measure["id"] not in chosen and len(kept) > 1} for measure in kept]


def _measure(name: str, title: str, scale: Scale, estimates: Sequence[Estimate | None]) -> dict[str, Any]:
    present = [e for e in estimates if e is not None and e.value is not None]
    confidence = f"{100 * present[0].confidence:.4g}%" if present else ""
    two = ", of two runs their range" if name not in DERIVED and any(e.n == 2 for e in present) else ""
    bars, unit = f"{confidence} intervals{two}", escape_controls(scale.unit)
    return {"id": name, "title": title, "unit": unit, "scale": scale, "bars": bars, "any": bool(present)}


def _curve(
    findings: Findings, curve: Curve, varying: list[str], measures: list[dict[str, Any]], factors: Factors,
    samples: Samples,
) -> dict[str, Any]:  # fmt: skip
    group = [factors[name].index(curve.group[name]) for name in varying]
    ideal = _ideal(findings, curve)
    points = [_point(p, curve, ideal.get(level_key(p.level)), measures, factors, samples) for p in curve.points]
    return {"group": group, "points": points}


def _ideal(findings: Findings, curve: Curve) -> dict[str, float]:
    baseline = findings.study.baseline
    if baseline is None or baseline.factor != curve.factor:
        return {}
    counts = next((f.control is None for f in findings.study.factors if f.name == curve.factor), False)
    in_use = {level_key(p.level): min(p.level, p.n_cpus) if counts and type(p.level) is int else p.n_cpus
              for p in curve.points if p.n_cpus}  # fmt: skip
    base = in_use.get(level_key(baseline.level))
    return {level: n / base for level, n in in_use.items()} if base else {}


def _point(
    point: Point, curve: Curve, ideal: float | None, measures: list[dict[str, Any]], factors: Factors, samples: Samples
) -> dict[str, Any]:
    values = {m["id"]: _value_fields(_estimate(point, m), point, m) for m in measures}
    open_ = [m["id"] for m in measures if values[m["id"]] and is_inconclusive(_interval(point, m))]
    return {
        "level": factors[curve.factor].index(point.level),
        "ideal": ideal,
        "values": {name: value for name, value in values.items() if value},
        "rows": samples.add(curve, point),
        "flags": [one_line(flag.text) for flag in point.flags],
        **({"open": open_} if open_ else {}),
    }


def _interval(point: Point, measure: dict[str, Any]) -> Estimate | None:
    """Return the estimate as it is, also of two runs, of which the chart draws the range."""
    response = point.responses.get(measure.get("response", ""))
    return response.estimate if response else _estimate(point, measure)


def _estimate(point: Point, measure: dict[str, Any]) -> Estimate | None:
    if "response" in measure:
        response = point.responses.get(measure["response"])
        if response is None:
            return None
        # The range of two runs replaces their interval, as wide as the chart. Old findings may not name runs.
        scores = [y for y, run in zip(response.scores, response.runs, strict=False) if run not in response.left_out]
        e = response.estimate
        return replace(e, low=min(scores), high=max(scores)) if e.n == len(scores) == 2 and e.low is not None else e
    estimate_: Estimate | None = getattr(point, measure["id"])
    # More workers than CPUs do not go faster, however little of their work is serial.
    beyond = point.n_cpus and isinstance(point.level, int) and point.level > point.n_cpus
    return None if beyond and measure["id"] == "serial_fraction" else estimate_


def _value_fields(e: Estimate | None, point: Point, measure: dict[str, Any]) -> list[Any] | None:
    if e is None or e.value is None:
        return None
    factor = measure["scale"].factor
    ends = [None if x is None else _short(x * factor) for x in (e.value, e.low, e.high)]
    both = ", both runs" if e.n == 2 and "response" in measure else ""
    drawn = [*ends, f"{estimate(e, measure['scale'])}{both}"]
    band = point.simultaneous if measure["id"] == "speedup" else None
    if band is None or band.low is None or band.high is None:
        return drawn
    return [*drawn, _short(band.low), _short(band.high), estimate(band).interval]


def _reach(curve: Curve, drawn: Sequence[dict[str, Any]], measure: dict[str, Any]) -> list[float] | None:
    """Return the range that a measure needs: estimates and runs, and intervals where there is room."""
    values = [point["values"][measure["id"]] for point in drawn if measure["id"] in point["values"]]
    responses = [point.responses.get(measure.get("response", "")) for point in curve.points]
    runs = [score * measure["scale"].factor for response in responses if response for score in response.scores]
    ideal = [1.0] if measure["id"] == "efficiency" else []
    ends = (end for value in values for end in (*value[1:3], *value[4:6]))
    # Four digits are enough for a range.
    return [float(f"{x:.4g}") for x in reach([*(v[0] for v in values), *runs, *ideal], ends)] if values else None
