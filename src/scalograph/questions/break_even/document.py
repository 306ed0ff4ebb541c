"""The document of a break-even search, as findings hold it."""

from typing import Literal

from pydantic import Field

from scalograph.protocol.plain import Level, Model


class BreakEvenLine(Model):
    """Where one version begins or ends to win along `x`, at one level of `y`."""

    level: float | None = Field(description="of y; null where one factor varies alone")
    kind: Literal["from", "until", "always", "never", "several", "undecided", "unmeasured"] = Field(
        description="of the other version: it wins from `location` on, or until there, or ..."
    )
    location: float | None = None
    low: float | None = Field(default=None, description="the line lies above, with 95%")
    high: float | None = Field(default=None, description="the line lies below, with 95%")
    sure_from: float | None = Field(default=None, description="where the rest is not decided: it wins from here on")
    sure_to: float | None = Field(default=None, description="it wins for sure up to here (of `until`: down to here)")


class BreakEvenPair(Model):
    """Pairs that were measured at one point."""

    x: float
    y: float | None
    ratio: float = Field(description="time of the other version over the baseline's; of several pairs the typical one")
    n: int


class BreakEvenMap(Model):
    """Break-even over one factor, or two, all others fixed."""

    group: dict[str, Level]
    x: str
    y: str = ""
    x_levels: list[float] = Field(max_length=256, description="where the surface is told, along x")
    y_levels: list[float] = Field(max_length=4096, description="declared levels of y; empty where there is none")
    ratio: list[list[float]] = Field(description="one row for each of y_levels: time over the baseline's")
    low: list[list[float]]
    high: list[list[float]]
    lines: list[BreakEvenLine]
    pairs: list[BreakEvenPair]


class BreakEvenFormula(Model):
    """The line where the version wins: the product of all sizes, each to its power, above `work`."""

    powers: dict[str, float]
    work: list[tuple[dict[str, float], float | None]] = Field(
        max_length=4096, description="levels of the other factors -> the product; null where it never wins"
    )
    off: float = Field(description="share by which the line of the formula is typically off the surface's")


class BreakEven(Model):
    """Where a version is as fast as the baseline."""

    factor: str
    baseline: Level
    other: Level
    decided: bool
    even: float = Field(description="difference that counts as even, as a share")
    shares: dict[str, float] = Field(description="of the points: wins, loses, even, undecided")
    n: int = Field(description="pairs that the answer rests on")
    n_more: int | None = Field(default=None, description="about how many more pairs it would take, where undecided")
    noise_percent: float = Field(description="standard deviation of a pair")
    n_off: int = Field(default=0, description="pairs that lie off the surface by 3.5 times as much or more")
    maps: list[BreakEvenMap] = Field(max_length=64)
    formula: BreakEvenFormula | None = None
