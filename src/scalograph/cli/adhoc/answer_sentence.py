"""The answer in one sentence for each curve."""

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.flag import NO_LAW
from scalograph.cli.adhoc.steps import efficiency, ordered
from scalograph.protocol.findings import Curve, Point, StudyDoc
from scalograph.text.quantities import percents

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
    return f"a {which} would gain {percents(gained.low, gained.high)}"


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
