"""The levels of a curve as `measure` reads them: in order of size, per worker, and for what they cost."""

from itertools import pairwise

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.findings import Curve, FactorDoc, Point, StudyDoc
from scalograph.protocol.plain import Level


def ordered(curve: Curve) -> list[Point]:
    """Give the points by size where the levels count something, else as they were declared."""
    counted = all(point.speedup for point in curve.points)
    return sorted(curve.points, key=lambda point: int(point.level)) if counted else list(curve.points)


def primary(study: StudyDoc) -> str:
    """Name the response that the study of a command is about: the first with a direction."""
    return next(response.name for response in study.responses if response.better != "none")


def scores(point: Point, response: str) -> list[float]:
    """Give the scores that count, in order."""
    found = point.responses[response]
    return [score for score, run in zip(found.scores, found.runs, strict=True) if run not in found.left_out]


def efficiency(study: StudyDoc, point: Point) -> Estimate | None:
    """Give the speedup over the growth of the workers: per worker, also beyond the last CPU."""
    if point.speedup is None or study.baseline is None:
        return None
    return point.speedup.scaled(int(study.baseline.level) / int(point.level))


def gains_per_cost(study: StudyDoc, curve: Curve, cost: float | None) -> dict[Level, Estimate]:
    """Give what each level gains in throughput, in %, for each unit of money an hour; none where it costs no more.

    Args:
        study: of the curve.
        curve: with its gains.
        cost: of a CPU for an hour, in any money.
    """
    (factor,) = (factor for factor in study.factors if factor.name == curve.factor)
    found = {}
    for before, now in pairwise(ordered(curve)):
        if cost and now.gain and (more := _paid(factor, now) - _paid(factor, before)) > 0:
            found[now.level] = now.gain.scaled(100 / (cost * more))
    return found


def _paid(factor: FactorDoc, point: Point) -> int:
    """CPUs that a level needs: as many as it is given, or has workers for."""
    n_cpus = point.n_cpus or 1
    return n_cpus if factor.control == "cpus" else min(int(point.level), n_cpus)
