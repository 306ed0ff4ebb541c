"""What stands beside the answer: the fitted law in figures, and a warning where a level changes nothing."""

from collections.abc import Sequence
from statistics import fmean, median

from scalograph.analysis.stopping import half_width
from scalograph.cli.adhoc.steps import ordered, primary, scores
from scalograph.findings.sample import COUNTED
from scalograph.protocol.findings import Curve, LawDoc, Point, StudyDoc
from scalograph.text.format import estimate, significant
from scalograph.text.scale import scale_for

# Levels whose times differ by less are the same, if their intervals are no wider to either side; so are CPUs used.
SAME, NO_RISE = 0.05, 0.10


def law_line(curve: Curve) -> str:
    """Write the law's parameters with their intervals, where it is largest, and its flags; empty without a law."""
    law = curve.law
    if law is None:
        return ""
    parts = [f"{name} {estimate(getattr(law, name))}" for name in ("sigma", "kappa")]
    parts += [text] if (text := _optimum(law)) else []
    return "; ".join([f"Law: {', '.join(parts)}", *(flag.text for flag in law.flags)])


def _optimum(law: LawDoc) -> str:
    best = law.optimum
    if best.value is not None:
        return f"largest at {estimate(best)}"
    return f"largest above {best.low:.3g}" if best.low is not None else ""


def spread(study: StudyDoc, point: Point) -> str:
    """Write mean, median, least and largest of a command alone; empty where no run has succeeded."""
    (response,) = (response for response in study.responses if response.name == primary(study))
    found = scores(point, response.name)
    if not found:
        return ""
    figures = {"mean": fmean(found), "median": median(found), "min": min(found), "max": max(found)}
    scale = scale_for(response.unit, [*figures.values()])
    shown = (f"{what} {significant(x * scale.factor, 5)} {scale.unit}".strip() for what, x in figures.items())
    return f"{response.title}: {', '.join(shown)}"


def unused(study: StudyDoc, curve: Curve) -> str:
    """Warn where neither time nor CPUs used change along levels that the command was given; else empty."""
    points = [point for point in ordered(curve) if scores(point, primary(study))]
    (factor,) = (factor for factor in study.factors if factor.name == curve.factor)
    given = factor.name != "copies" and factor.control is None
    # On a busy machine nothing rises.
    if len(points) < 2 or not given or any(_is_disturbed(point, primary(study)) for point in points):
        return ""
    times = [median(scores(point, primary(study))) for point in points]
    differ = any(abs(time - times[0]) > SAME * abs(times[0]) for time in times)
    if differ or _rises(points) or not all(_known_well(scores(point, primary(study))) for point in points):
        return ""
    name = factor.name
    return f"The same at all levels of {name}, and CPUs used do not rise: does the command use {{{name}}}?"


def _is_disturbed(point: Point, response: str) -> bool:
    """Whether the estimate rests on disturbed runs, because too few clean ones are left."""
    found = point.responses[response]
    return not found.left_out and any(verdict not in COUNTED for verdict in found.verdicts)


def _known_well(found: Sequence[float]) -> bool:
    half = half_width(found)
    return half is not None and half <= SAME


def _rises(points: Sequence[Point]) -> bool:
    """Whether CPUs used grow; not known is no."""
    used = [point.cpus_used.value for point in points if point.cpus_used and point.cpus_used.value]
    return bool(used) and max(used) > (1 + NO_RISE) * used[0]
