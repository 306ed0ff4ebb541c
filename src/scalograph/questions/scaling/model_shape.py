"""What a speedup curve does: whether it scales, falls or collapses, claimed only where whole intervals say so."""

from collections.abc import Sequence
from dataclasses import dataclass

from scalograph.analysis.estimate import Estimate
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve, Point

# A curve scales when it reaches this share of what the CPUs in use can give, and collapses below this of its baseline.
SCALES, COLLAPSES = 0.8, 0.8


@dataclass(frozen=True)
class Shape:
    """A curve that has speedups, as the sentences see it.

    Attributes:
        curve: all of it.
        points: those with a speedup, by level.
        growth: for each of them, CPUs in use over those of the baseline.
        baseline: the level that counts as 1.
    """

    curve: Curve
    points: Sequence[Point]
    growth: Sequence[float]
    baseline: int = 1

    @classmethod
    def of(cls, table: Table, curve: Curve) -> "Shape":
        """The points that have a speedup, in order of their levels."""
        points = [p for p in curve.points if p.speedup is not None and p.speedup.value is not None]
        points.sort(key=lambda p: int(p.level))
        if not points:
            return cls(curve, [], [])
        base = int(table.study.baseline[curve.factor])
        workers = table.study.factors[curve.factor].control is None
        most = max((p.n_cpus or 1 for p in points), default=1)
        in_use = [min(int(p.level), most) if workers else int(p.level) for p in points]
        return cls(curve, points, [n / (min(base, most) if workers else base) for n in in_use], base)

    @property
    def most(self) -> float:
        """The most that the CPUs in use grow."""
        return max(self.growth)

    @property
    def best(self) -> Point:
        """The level of the highest speedup."""
        return max(self.points, key=lambda p: _value(p))

    @property
    def scales(self) -> bool | None:
        """Whether some level reaches its share of what the CPUs can give; None where intervals leave it open."""
        wanted = SCALES * self.most
        lows, highs = zip(*(_ends(point) for point in self.points), strict=True)
        if any(low is not None and low >= wanted for low in lows):
            return True
        return False if all(high is not None and high < wanted for high in highs) else None

    @property
    def fallen(self) -> Point | None:
        """The lowest level whose whole interval is below 1, past the baseline, or below the peak's, past the peak."""
        low = _ends(self.best)[0] or 1.0
        peak, base = int(self.best.level), self.baseline
        slower = [p for p in self.points if int(p.level) > base and _is_below(p, 1.0)]
        past = [p for p in self.points if int(p.level) > peak and _is_below(p, low)]
        return min([*slower, *past], key=_value, default=None)

    @property
    def slower(self) -> bool:
        """Whether it falls below its baseline."""
        return self.fallen is not None and _is_below(self.fallen, 1.0)

    @property
    def collapsed(self) -> bool:
        """Whether it falls far below its baseline."""
        return self.fallen is not None and _is_below(self.fallen, COLLAPSES)


def told(point: Point) -> Estimate | None:
    """The speedup with the interval that holds for all levels at once, where there is one; else with its own."""
    whole = point.simultaneous
    return whole if whole is not None and whole.low is not None and whole.high is not None else point.speedup


def _value(point: Point) -> float:
    return point.speedup.value if point.speedup and point.speedup.value is not None else 0.0


def _ends(point: Point) -> tuple[float | None, float | None]:
    """Of what is told, for the best and the worst are chosen among all levels."""
    estimate = told(point)
    if estimate is None or estimate.low is None or estimate.high is None:
        return None, None
    return estimate.low, estimate.high


def _is_below(point: Point, limit: float) -> bool:
    high = _ends(point)[1]
    return high is not None and high < limit
