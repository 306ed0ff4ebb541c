"""Findings of throughput: rates over the load, plateau, and bottleneck."""

from typing import Literal

from pydantic import Field

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.plain import Level, Model, Text
from scalograph.questions.saturation import MOST_PARTS, PartUse, Saturation

MOST_GROUPS, MOST_POINTS = 64, 64
MOST_SECONDS = 600
# How a load generator limits a point -> its flag.
LIMITS = {
    "late": "the load generator was late", "CPU": "the load generator was saturated",
    "no CPU": "the load generator had to wait for a CPU", "ceiling": "the load generator was near its maximum",
}  # fmt: skip


class LoadPoint(Model):
    """One level of the load: its rate, its response times, and what is wrong with its runs."""

    level: int
    rate: Estimate
    response: Estimate = Field(description="mean response time, s")
    quantiles: dict[str, Estimate] = Field(default={}, description="p50, p90, p99 of response times, s; over runs")
    together: dict[str, float] = Field(
        default={}, description="p99 and p99.9 of the answers of all runs together, s; empty without histograms"
    )
    errors: float = Field(default=0.0, description="requests without a right answer, as a share of all")
    first_wrong: Text = Field(default="", description="what became of the first of these")
    cause: Text = Field(default="", exclude_if=lambda x: not x, description="what became of most, as the driver says")
    starved: float | None = Field(
        default=None, exclude_if=lambda x: not x, description="clients without an answer in the window, as a share"
    )
    late: float | None = None
    driver: float | None = Field(default=None, description="CPU of the driver over what it could use")
    parts: list[PartUse] = Field(default=[], max_length=MOST_PARTS)
    n: int = Field(description="runs that count")
    n_unlawful: int = Field(default=0, description="runs that break Little's law, and do not count")
    dropped: float | None = Field(default=None, description="connections that the kernel dropped, for each request")
    n_unchecked: int = Field(default=0, description="runs whose driver does not tell what Little's law is about")
    seconds: dict[str, list[float]] = Field(
        default={}, description="`rate`, `p50`, `p95`, `p99` (s) in each second of the run with the median rate"
    )
    driver_limits: Literal["", "late", "CPU", "no CPU", "ceiling"] = ""


class LoadedGroup(Saturation):
    """One group of levels of the factors other than the load."""

    group: dict[str, Level]
    factor: str
    is_clients: bool = Field(description="whether the levels are clients of a closed loop")
    is_offered: bool = Field(default=False, description="whether the levels are rates that an open loop offers")
    points: list[LoadPoint] = Field(max_length=MOST_POINTS)
    state: Literal["found", "between", "rising", "inconclusive"] = "inconclusive"
    plateau: Estimate = Field(default=Estimate(), description="least level beyond which none reaches 5% more")
    at: int | None = Field(default=None, description="level whose rate is claimed: on the plateau, or the last one")
    falls: Estimate | None = Field(default=None, description="rate of the last level over that of the best, if lower")
    knee: Estimate | None = Field(default=None, description="clients from which requests queue")

    @property
    def points_with_runs(self) -> list[LoadPoint]:
        return [point for point in self.points if point.rate.value is not None]

    @property
    def top(self) -> LoadPoint:
        """Return the point whose rate is told."""
        return next(point for point in self.points_with_runs if point.level == self.at)

    @property
    def fullest(self) -> LoadPoint:
        """Return the point with the highest rate on the plateau: it shows the bottleneck."""
        on_plateau = [point for point in self.points_with_runs if point.level >= self.top.level]
        return max(on_plateau, key=lambda point: point.rate.value or 0.0)

    def point(self, level: Level | None) -> LoadPoint | None:
        return next((point for point in self.points if point.level == level), None)


class FullConfiguration(Model):
    """The configuration with the highest level of every counted factor, in one group of the others."""

    group: dict[str, Level]
    over_best: Estimate = Field(description="its rate over that of the best of the others")


class Throughputs(Model):
    """The part of the question `throughput`: the groups with the highest rates first."""

    groups: list[LoadedGroup] = Field(max_length=MOST_GROUPS)
    corners: list[FullConfiguration] = Field(default=[], max_length=MOST_GROUPS)
