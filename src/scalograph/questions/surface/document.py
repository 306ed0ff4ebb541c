"""Findings of surfaces: a response over two counts."""

from dataclasses import replace
from math import exp, hypot, log
from typing import Annotated

from pydantic import BeforeValidator, Field

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.plain import FlagField, Level, Model


class SurfaceCell(Model):
    """One configuration of a surface: its time, the expected time, and how its workers shared CPUs."""

    estimate: Estimate
    expected: float | None = Field(default=None, description="T(1) max(1, N/M), in the response's unit")
    deviation: Estimate | None = Field(default=None, description="time over the expected one")
    fairness: Estimate | None = Field(default=None, description="Jain's index of the workers' finish times")
    busy: list[float] = Field(default=[], description="share of the time for which each CPU ran the workers")
    flag: Annotated[FlagField | None, BeforeValidator(lambda x: x or None)] = None


class Surface(Model):
    """A response over two counts: workers (x) and the CPUs that they may use (y), all other factors fixed."""

    group: dict[str, Level]
    x: str
    y: str
    x_levels: list[int]
    y_levels: list[int]
    response: str
    cells: list[list[SurfaceCell | None]] = Field(description="one row for each of y_levels")
    slopes: list[Estimate] = Field(description="for each of y_levels, time that each worker beyond the CPUs adds")

    def ridge(self, row: int) -> tuple[int, Estimate | None]:
        """Find the most workers that have a CPU each, two or more, and their time over that of one."""
        pairs = [pair for pair in zip(self.x_levels, self.cells[row], strict=True) if pair[0] <= self.y_levels[row]]
        workers, cell = max(pairs, key=lambda pair: pair[0], default=(0, None))
        return workers, cell.deviation if cell else None

    def alone(self, row: int) -> Estimate | None:
        """Find the time of one worker; None where it was not measured."""
        cell = self.cells[row][self.x_levels.index(1)] if 1 in self.x_levels else None
        return cell.estimate if cell and cell.estimate.value else None

    def slope_ratio(self, row: int) -> Estimate:
        """Divide the slope by T(1)/M, each side of the interval from the ends of both; no value without T(1)."""
        slope, alone = self.slopes[row], self.alone(row)
        if alone is None or not alone.value or slope.value is None:
            return replace(slope, value=None, low=None, high=None)
        over = slope.rescale(self.y_levels[row] / alone.value)
        if not over.value or not over.low or not over.high or over.low <= 0 or not alone.low or not alone.high:
            return over
        down = hypot(log(over.value / over.low), log(alone.high / alone.value))
        up = hypot(log(over.high / over.value), log(alone.value / alone.low))
        return replace(over, low=over.value * exp(-down), high=over.value * exp(up))


class Surfaces(Model):
    """The part of the reading `surface`, those with most configurations first."""

    surfaces: list[Surface] = Field(max_length=16)
