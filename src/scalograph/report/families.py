"""Curves as the page takes them: families that share a horizontal axis, and the measures drawn over it."""

from collections.abc import Sequence
from typing import Any

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.figure import Overlay
from scalograph.protocol.findings import Curve, Findings, Point
from scalograph.report.law_lines import law_line
from scalograph.report.samples import Samples
from scalograph.report.share_figure import share_figure
from scalograph.text.axes import Factors, Levels, key, place_of
from scalograph.text.escape import prose, visible
from scalograph.text.format import estimate
from scalograph.text.plots import COLORS
from scalograph.text.scale import PLAIN, Scale, shared_scales

DERIVED = {
    "speedup": "Speedup",
    "efficiency": "Efficiency",
    "serial_fraction": "Serial fraction (Karp\N{EN DASH}Flatt)",
}
# More lines than this to a panel, and the fitted laws wait until they are asked for.
MANY_LAWS = 3
LAW_KEY = (
    "thin line and faint band: fitted scaling law, where shown, dotted past the largest size measured; "
    "diamond: where it is largest, N*, with its interval"
)


def families(
    findings: Findings, factors: Factors, samples: Samples, overlays: Sequence[Overlay]
) -> list[dict[str, Any]]:
    """Curves along the same factor, over the same other factors, can stand in one figure."""
    kinds: dict[tuple[str, ...], list[Curve]] = {}
    for curve in findings.curves:
        kinds.setdefault((curve.factor, *curve.group), []).append(curve)
    made = [_family(findings, curves, factors, samples, overlays) for curves in kinds.values()]
    return [family for family in made if family["measures"]]


def _family(
    findings: Findings, curves: list[Curve], factors: Factors, samples: Samples, overlays: Sequence[Overlay]
) -> dict[str, Any]:
    factor, names = curves[0].factor, list(curves[0].group)
    varying = [name for name in names if len({key(c.group[name]) for c in curves}) > 1]
    fixed = {name: curves[0].group[name] for name in names if name not in varying}
    measures = _measures(findings, curves)
    drawn = [_curve(findings, c, varying, measures, factors, samples) for c in curves]
    axis = factors[factor].axis()
    for one in drawn:
        one["points"].sort(key=lambda point: axis["at"][point["level"]])
    over = [overlay for overlay in overlays if overlay.factor == factor]
    line = default_line(curves, varying)
    return {
        "axis": axis,
        "title": _titled(factors, factor),
        "groups": varying,
        "line": line,
        "fixed": factors.treatment(fixed),
        "measures": [_explained(m, drawn, over) for m in measures],
        "laws": _laws(drawn, measures, varying.index(line) if line else None),
        "curves": drawn,
        "shapes": [_placed(shape, factors[factor]) for overlay in over for shape in overlay.shapes],
        "share": share_figure(curves, line, factors, _titled(factors, factor)),
    }


def default_line(curves: Sequence[Curve], varying: Sequence[str]) -> str | None:
    """Choose the factor that tells lines apart: of those whose levels get a color each the one with the most."""
    sizes = {name: len({key(curve.group[name]) for curve in curves}) for name in varying}
    colored = [name for name in varying if sizes[name] <= COLORS]
    return max(colored, key=lambda name: sizes[name]) if colored else min(varying, key=lambda n: sizes[n], default=None)


def _placed(shape: dict[str, Any], levels: Levels) -> dict[str, Any]:
    """Put a shape where its levels stand."""
    place = place_of(levels)
    ends = {end: place(shape[end]) for end in ("x0", "x1")}
    return shape | {end: round(x, 5) for end, x in ends.items() if x is not None}


def _explained(measure: dict[str, Any], drawn: Sequence[dict[str, Any]], over: Sequence[Overlay]) -> dict[str, Any]:
    """Say how to read a measure."""
    parts, name = [f"Line: estimate; bars: its {measure['confidence']} interval"], measure["id"]
    if name == "speedup":
        parts.append("shaded: interval that holds for all levels at once")
    if name in ("speedup", "efficiency"):
        parts.append("dashed gray: ideal")
    if name == "speedup" and any(curve["law"] for curve in drawn):
        parts.append(LAW_KEY)
    return measure | {"scale": measure["scale"].factor, "key": parts + [one.caption for one in over if one.caption]}


def _laws(drawn: Sequence[dict[str, Any]], measures: Sequence[dict[str, Any]], line: int | None) -> dict[str, bool]:
    """Name the lines that can stand under the speedup, and whether they are shown at first."""
    if all(measure["id"] != "speedup" for measure in measures):
        return {}
    few = 1 if line is None else len({curve["group"][line] for curve in drawn})
    known = {
        "fitted": any(curve["law"] for curve in drawn),
        "amdahl": any(curve["law"] and curve["law"]["amdahl"] for curve in drawn),
        "ideal": any(sum(point["ideal"] is not None for point in curve["points"]) > 1 for curve in drawn),
    }
    shown = {"fitted": few <= MANY_LAWS, "amdahl": False, "ideal": True}
    return {name: shown[name] for name, has in known.items() if has}


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
    for name, scale in zip(found, scales, strict=True):
        title = prose(named[name].title if name in named else name)
        measures.append(_measure(f"response {name}", title, scale, estimates[name]) | {"response": name})
    for name, title in DERIVED.items():
        measures.append(_measure(name, title, PLAIN, [getattr(p, name) for p in points]))
    return [m for m in measures if m.pop("any")]


def _measure(name: str, title: str, scale: Scale, estimates: Sequence[Estimate | None]) -> dict[str, Any]:
    known = [e for e in estimates if e is not None and e.value is not None]
    confidence = f"{100 * known[0].confidence:.4g} %" if known else ""
    unit = visible(scale.unit)
    return {"id": name, "title": title, "unit": unit, "scale": scale, "confidence": confidence, "any": bool(known)}


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
    law = law_line(curve, factors[curve.factor])
    return {"group": group, "points": points, "law": law}


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
        return response.estimate if response else None
    found: Estimate | None = getattr(point, measure["id"])
    # More workers than CPUs do not go faster, however little of their work is serial.
    beyond = point.n_cpus and isinstance(point.level, int) and point.level > point.n_cpus
    return None if beyond and measure["id"] == "serial_fraction" else found


def _drawn(e: Estimate | None, point: Point, measure: dict[str, Any]) -> list[Any] | None:
    """Value, interval, text, and for speedups the interval that holds for all levels at once."""
    if e is None or e.value is None:
        return None
    factor = measure["scale"].factor
    ends = [None if x is None else _short(x * factor) for x in (e.value, e.low, e.high)]
    drawn = [*ends, str(estimate(e, measure["scale"]))]
    band = point.simultaneous if measure["id"] == "speedup" else None
    if band is None or band.low is None or band.high is None:
        return drawn
    return [*drawn, _short(band.low), _short(band.high), estimate(band).interval]


def _short(x: float) -> float:
    return float(f"{x:.6g}")
