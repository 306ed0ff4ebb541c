"""What a curve says beside its claim: CPUs used, the serial share, one more CPU, and whether its levels change it."""

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.flag import NO_LAW
from scalograph.analysis.versus import said
from scalograph.cli.adhoc.steps import efficiency, ordered
from scalograph.protocol.findings import Curve, Point, StudyDoc
from scalograph.text.quantities import percents

# CPUs used do not rise where they rise by less.
NO_RISE = 0.10
# So many of the CPUs that are used most are as many.
ALIKE = 0.95
_ORDINALS = {2: "second", 3: "third", 4: "fourth", 5: "fifth", 6: "sixth", 7: "seventh", 8: "eighth", 9: "ninth"}


def sentence(study: StudyDoc, curve: Curve, target: float) -> str:
    """Say what a curve says; nothing where it says nothing.

    Args:
        study: of the curve.
        curve: what was measured.
        target: efficiency per worker that is worth having.
    """
    where = ", ".join(f"{name} {level}" for name, level in curve.group.items())
    parts = [part for part in (_uses(curve), _serial(curve), _next(curve), _take(study, curve, target)) if part]
    text = "; ".join(parts)
    return f"{where}: {text}." if where and text else f"{text[:1].upper()}{text[1:]}{'.' * bool(text)}"


def unused(study: StudyDoc, curve: Curve) -> str:
    """Ask about a command that is shown to take the same time at all levels that it was given; else empty."""
    (factor,) = (factor for factor in study.factors if factor.name == curve.factor)
    compared = [point.speedup for point in ordered(curve) if point.speedup][1:]
    given = factor.name != "copies" and factor.control is None
    same = all(said(speedup) == "same" for speedup in compared)
    used = [_used(point) for point in curve.points if _used(point)]
    if not compared or not given or not same or (used and max(used) > (1 + NO_RISE) * used[0]):
        return ""
    name = factor.name
    return f"All levels of {name} take the same time, and CPUs used do not rise: does the command use {{{name}}}?"


def _uses(curve: Curve) -> str:
    used = [point for point in ordered(curve) if point.cpus_used and point.cpus_used.value is not None]
    if not used:
        return ""
    most = max(_used(point) for point in used)
    # One CPU is used up by a program that has a hundred and uses one: the most that it was given tells.
    most_given = max((point for point in used if _used(point) >= ALIKE * most), key=lambda point: point.n_cpus or 0)
    n_cpus = most_given.n_cpus or 0
    shown = f"{_used(most_given):.2f}".rstrip("0").rstrip(".")
    return f"uses {shown} of {n_cpus} CPU{'s' * (n_cpus != 1)}"


def _used(point: Point) -> float:
    return (point.cpus_used.value if point.cpus_used else None) or 0.0


def _serial(curve: Curve) -> str:
    serial = curve.serial
    if serial is None or serial.low is None or serial.high is None or not _holds_a_law(curve):
        return ""
    if serial.low > 1:
        return "more make it slower than one"
    low, high = (min(1.0, max(0.0, x)) for x in (serial.low, serial.high))
    return f"serial share {percents(low, high)}" if high else "no serial share to be seen"


def _holds_a_law(curve: Curve) -> bool:
    """Whether figures of the law, where there is one, say anything of these points."""
    return curve.law is None or not any(flag.code in NO_LAW for flag in curve.law.flags)


def _next(curve: Curve) -> str:
    gained = curve.next if _holds_a_law(curve) else None
    if gained is None or curve.next_size is None or gained.low is None or gained.high is None:
        return ""
    which = _ORDINALS.get(curve.next_size, f"number {curve.next_size}")
    return f"a {which} would gain {percents(gained.low, gained.high)} if nothing else fills up"


def _take(study: StudyDoc, curve: Curve, target: float) -> str:
    """The last level before efficiency falls below the target."""
    points = ordered(curve)
    shares = [efficiency(study, point) for point in points]
    n_worth = next((i for i, share in enumerate(shares) if share is None or not _reaches(share, target)), len(points))
    if not n_worth:
        return ""
    # The interval of this level, or of the next, may hold the target.
    unsure = any(share and _holds(share, target) for share in shares[n_worth - 1 : n_worth + 1])
    doubt = " (not certain: an interval holds the target)" if unsure else ""
    return f"with a target of {100 * target:g} % efficiency take {points[n_worth - 1].level}{doubt}"


def _reaches(share: Estimate, target: float) -> bool:
    return share.value is not None and share.value >= target


def _holds(estimate: Estimate, x: float) -> bool:
    return estimate.low != estimate.high and estimate.contains(x)
