"""How far each curve of a study got, and what the machine gives on as many CPUs."""

from typing import NamedTuple

from scalograph.analysis.estimate import Estimate
from scalograph.machine.ceiling.verdict import Against, against
from scalograph.protocol.findings import Curve, Findings, Point
from scalograph.protocol.machine_ceiling import Ceiling


class CurveReach(NamedTuple):
    """How far one curve got, at the most CPUs at which there is a ceiling."""

    name: str
    baseline: int
    n_cpus: int
    speedup: Estimate
    found: list[Against]


def reach(found: Findings, curve: Curve, ceiling: Ceiling) -> CurveReach | None:
    """The curve's point at the most CPUs that the ceiling has too; None where there is none beyond its baseline."""
    sizes = in_use(found, curve)
    baseline = _baseline(found, curve)
    if baseline is None:
        return None
    for n in sorted(sizes, reverse=True):
        ceilings = speedups(ceiling, baseline, n)
        if n > baseline and ceilings:
            return CurveReach(_name(curve), baseline, n, sizes[n], against(sizes[n], ceilings))
    return None


def speedups(ceiling: Ceiling, baseline: int, n_cpus: int) -> dict[str, Estimate]:
    """Kind -> its speedup on so many CPUs."""
    points = {kind: ceiling.speedups(kind, baseline).get(n_cpus) for kind in ceiling.kinds}
    return {kind: point.speedup for kind, point in points.items() if point is not None}


def in_use(found: Findings, curve: Curve) -> dict[int, Estimate]:
    """CPUs in use -> speedup. Of workers beyond the CPUs the fewest count: the ceiling has one for each CPU."""
    sizes: dict[int, Estimate] = {}
    counted = [point for point in curve.points if _is_count(point.level)]
    for point in sorted(counted, key=lambda point: int(point.level)):
        n = _cpus(found, curve, point)
        if n is not None and point.speedup is not None:
            sizes.setdefault(n, point.speedup)
    return sizes


def _cpus(found: Findings, curve: Curve, point: Point) -> int | None:
    """CPUs that a point can use: its level where that counts CPUs, else no more than it was given."""
    if any(factor.name == curve.factor and factor.control == "cpus" for factor in found.study.factors):
        return int(point.level)
    return None if point.n_cpus is None else min(int(point.level), point.n_cpus)


def _baseline(found: Findings, curve: Curve) -> int | None:
    base = found.study.baseline
    if base is None or base.factor != curve.factor:
        return None
    at = next((point for point in curve.points if point.level == base.level and _is_count(point.level)), None)
    return None if at is None else _cpus(found, curve, at)


def _is_count(level: object) -> bool:
    return isinstance(level, int) and not isinstance(level, bool) and level >= 1


def _name(curve: Curve) -> str:
    return ", ".join(f"{name} {level}" for name, level in curve.group.items()) or "Your program"
