"""Curves as the page takes them: families that share a horizontal axis, and the measures drawn over it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.figure import Overlay
from scalograph.protocol.findings import Curve, Findings, Point, PointResponse
from scalograph.report.arrangement import arrangement
from scalograph.report.law_lines import law_line
from scalograph.report.published_lines import legend as published_legend
from scalograph.report.published_lines import papers, printed, published_lines
from scalograph.report.samples import Samples
from scalograph.report.share_figure import share_figure
from scalograph.report.under_curves import legend, reach, under_speedup
from scalograph.text.axes import Factors, Levels, key, place_of
from scalograph.text.compact import matrix_scale
from scalograph.text.escape import prose, visible
from scalograph.text.format import estimate
from scalograph.text.plots import COLORS, mode
from scalograph.text.scale import PLAIN, Scale, shared_scales

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
    """Curves along the same factor, over the same other factors, can stand in one figure."""
    kinds: dict[tuple[str, ...], list[Curve]] = {}
    for curve in findings.curves:
        kinds.setdefault((curve.factor, *curve.group), []).append(curve)
    made = [_family(findings, curves, factors, samples, overlays) for curves in kinds.values()]
    return [family | {"id": f"along-{i}"} for i, family in enumerate(made) if family["measures"]]


def _family(
    findings: Findings, curves: list[Curve], factors: Factors, samples: Samples, overlays: Sequence[Overlay]
) -> dict[str, Any]:
    factor, groups = curves[0].factor, list(curves[0].group)
    varying = [name for name in groups if len({key(c.group[name]) for c in curves}) > 1]
    fixed = {name: curves[0].group[name] for name in groups if name not in varying}
    measures = _measures(findings, curves)
    drawn = [_curve(findings, c, varying, measures, factors, samples) for c in curves]
    # Before there is an axis: a paper may have levels that were not declared.
    beside, names = [printed(findings, curve, factors) for curve in curves], papers(findings, curves)
    constant = {m["id"]: text for m in measures[1:] if (text := _constant(m["id"], drawn))}
    alike = [f"{m['title']}: {constant[m['id']]} {m['unit']}".rstrip() for m in measures if m["id"] in constant]
    axis, title = factors[factor].axis(), _titled(factors, factor)
    axis["mode"] = mode(len(axis["at"]), axis["ordered"])
    for curve, one, lines in zip(curves, drawn, beside, strict=True):
        one["points"].sort(key=lambda point: axis["at"][point["level"]])
        one["under"] = published_lines(lines, measures, axis, title, names)
        if any(measure["id"] == "speedup" for measure in measures):
            ideal = [(axis["at"][point["level"]], point["ideal"]) for point in one["points"]]
            one["under"] += under_speedup(law_line(curve, factors[factor]), ideal)
    over = [overlay for overlay in overlays if overlay.factor == factor]
    shown = [measure for measure in measures if measure["id"] not in constant]
    for curve, one in zip(curves, drawn, strict=True):
        one["reach"] = [_reach(curve, one["points"], measure) for measure in shown]
    line = default_line(curves, varying)
    place = varying.index(line) if line else None
    n_lines = 1 if place is None else len({curve["group"][place] for curve in drawn})
    return {
        "axis": axis,
        "title": title,
        "groups": varying,
        "line": line,
        **arrangement(varying, drawn, factors),
        "fixed": " \N{MIDDLE DOT} ".join(filter(None, [factors.treatment(fixed), *alike])),
        "measures": [_explained(m, over) for m in shown],
        "under": legend(drawn, n_lines, published_legend(drawn, place, names)),
        "curves": drawn,
        "shapes": [_placed(shape, factors[factor]) for overlay in over for shape in overlay.shapes],
        "share": share_figure(curves, line, factors, title),
    }


def default_line(curves: Sequence[Curve], varying: Sequence[str]) -> str | None:
    """Choose the factor that tells lines apart: of those whose levels get a color each the one with the most."""
    sizes = {name: len({key(curve.group[name]) for curve in curves}) for name in varying}
    colored = [name for name in varying if sizes[name] <= COLORS]
    return max(colored, key=lambda name: sizes[name]) if colored else min(varying, key=lambda n: sizes[n], default=None)


def _constant(measure: str, drawn: Sequence[dict[str, Any]]) -> str:
    """Return the text of a measure that is the same everywhere; empty if it is not."""
    values = [point["values"][measure] for curve in drawn for point in curve["points"] if measure in point["values"]]
    is_flat = len(values) > 1 and all(v[0] == v[1] == v[2] == values[0][0] for v in values)
    return str(values[0][3]) if is_flat else ""


def _placed(shape: dict[str, Any], levels: Levels) -> dict[str, Any]:
    """Put a shape where its levels stand."""
    place = place_of(levels)
    ends = {end: place(shape[end]) for end in ("x0", "x1")}
    return shape | {end: round(x, 5) for end, x in ends.items() if x is not None}


def _explained(measure: dict[str, Any], over: Sequence[Overlay]) -> dict[str, Any]:
    """Say how to read a measure, in a dozen words; the words at the end of the page say the rest."""
    parts = [BETTER.get(measure["better"], ""), f"Bars: {measure['bars']}."]
    captions = [one.caption for one in over if one.caption]
    key = " ".join(filter(None, [*parts, *captions]))
    shapes = [ONE] if measure["id"] == "efficiency" else []
    return measure | {"scale": measure["scale"].factor, "key": key, "over": captions, "shapes": shapes}


def _titled(factors: Factors, name: str) -> str:
    unit = factors[name].unit
    return f"{factors[name].title} ({unit})" if unit else factors[name].title


def _measures(findings: Findings, curves: list[Curve]) -> list[dict[str, Any]]:
    """What has a value anywhere: the responses as declared, then what follows from them."""
    points = [p for c in curves for p in c.points]
    named = {r.name: r for r in findings.study.responses}
    found = dict.fromkeys([*named, *(name for p in points for name in p.responses)])
    estimates = {name: [p.responses[name].estimate for p in points if name in p.responses] for name in found}
    units = {name: named[name].unit if name in named else "" for name in found}
    scales = shared_scales([(units[name], [e.value for e in estimates[name]]) for name in found])
    measures = []
    for name, shared in zip(found, scales, strict=True):
        scale = _claimed(findings, name, units[name]) or shared
        title = prose(named[name].title if name in named else name)
        measure = _measure(f"response {name}", title, scale, estimates[name])
        measures.append(measure | {"response": name, "better": named[name].better if name in named else "none"})
    for name, (title, better) in DERIVED.items():
        measures.append(_measure(name, title, PLAIN, [getattr(p, name) for p in points]) | {"better": better})
    first = findings.study.primary or next(iter(found), "")
    order = {f"response {first}": 0, "speedup": 1, "efficiency": 2, "serial_fraction": 4}
    return sorted((m for m in measures if m.pop("any")), key=lambda m: order.get(m["id"], 3))


def _claimed(findings: Findings, name: str, unit: str) -> Scale | None:
    """Return the scale of the claim's matrix, where the measure is the figure that shows it."""
    claim = findings.claim
    is_shown = claim is not None and claim.figure == f"response {name}"
    return matrix_scale(claim.matrix) if claim and claim.matrix and is_shown and claim.matrix.unit == unit else None


def _measure(name: str, title: str, scale: Scale, estimates: Sequence[Estimate | None]) -> dict[str, Any]:
    known = [e for e in estimates if e is not None and e.value is not None]
    confidence = f"{100 * known[0].confidence:.4g} %" if known else ""
    two = ", of two runs their range" if name not in DERIVED and any(e.n == 2 for e in known) else ""
    bars, unit = f"{confidence} intervals{two}", visible(scale.unit)
    return {"id": name, "title": title, "unit": unit, "scale": scale, "bars": bars, "any": bool(known)}


def _curve(
    findings: Findings,
    curve: Curve,
    varying: list[str],
    measures: list[dict[str, Any]],
    factors: Factors,
    samples: Samples,
) -> dict[str, Any]:
    group = [factors[name].index(curve.group[name]) for name in varying]
    ideal = _ideal(findings, curve)
    points = [_point(p, curve, ideal.get(key(p.level)), measures, factors, samples) for p in curve.points]
    return {"group": group, "points": points}


def _ideal(findings: Findings, curve: Curve) -> dict[str, float]:
    """CPUs in use at each level over those at the baseline: as many as there are workers, where levels count these."""
    baseline = findings.study.baseline
    if baseline is None or baseline.factor != curve.factor:
        return {}
    counts = next((f.control is None for f in findings.study.factors if f.name == curve.factor), False)
    in_use = {key(p.level): min(p.level, p.n_cpus) if counts and type(p.level) is int else p.n_cpus
              for p in curve.points if p.n_cpus}  # fmt: skip
    base = in_use.get(key(baseline.level))
    return {level: n / base for level, n in in_use.items()} if base else {}


def _point(
    point: Point,
    curve: Curve,
    ideal: float | None,
    measures: list[dict[str, Any]],
    factors: Factors,
    samples: Samples,
) -> dict[str, Any]:
    values = {m["id"]: _drawn(_estimate(point, m), point, m) for m in measures}
    return {
        "level": factors[curve.factor].index(point.level),
        "ideal": ideal,
        "values": {name: value for name, value in values.items() if value},
        "rows": samples.add(curve, point),
        "flags": [prose(flag.text) for flag in point.flags],
    }


def _estimate(point: Point, measure: dict[str, Any]) -> Estimate | None:
    if "response" in measure:
        response = point.responses.get(measure["response"])
        return _of_two(response) if response else None
    found: Estimate | None = getattr(point, measure["id"])
    # More workers than CPUs do not go faster, however little of their work is serial.
    beyond = point.n_cpus and isinstance(point.level, int) and point.level > point.n_cpus
    return None if beyond and measure["id"] == "serial_fraction" else found


def _of_two(response: PointResponse) -> Estimate:
    """Two runs, as far apart as they are: an interval of so few is as wide as a figure is high."""
    # Findings of an earlier release may not name the runs.
    scores = [y for y, run in zip(response.scores, response.runs, strict=False) if run not in response.left_out]
    e = response.estimate
    return replace(e, low=min(scores), high=max(scores)) if e.n == len(scores) == 2 and e.low is not None else e


def _drawn(e: Estimate | None, point: Point, measure: dict[str, Any]) -> list[Any] | None:
    """Value, interval, text, and for speedups the interval that holds for all levels at once."""
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
    """What a measure takes of the frame: estimates and runs must be seen, intervals where there is room."""
    values = [point["values"][measure["id"]] for point in drawn if measure["id"] in point["values"]]
    found = [point.responses.get(measure.get("response", "")) for point in curve.points]
    runs = [score * measure["scale"].factor for response in found if response for score in response.scores]
    ideal = [1.0] if measure["id"] == "efficiency" else []
    ends = (end for value in values for end in (*value[1:3], *value[4:6]))
    # Four digits: the frame has more room than that.
    return [float(f"{x:.4g}") for x in reach([*(v[0] for v in values), *runs, *ideal], ends)] if values else None


def _short(x: float) -> float:
    return float(f"{x:.6g}")
