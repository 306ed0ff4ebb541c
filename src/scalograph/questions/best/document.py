"""Findings of a search for the best: the winner, its equals, and what fresh runs confirm."""

from pydantic import Field

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.plain import Level, Model

FIGURE = "best-line"


class BestConfiguration(Model):
    """One configuration: what the runs of the search, and the fresh ones, show of it."""

    levels: dict[str, Level]
    cost: int = Field(description="workers and CPUs: the product of the factors that count them")
    n: int = Field(description="runs of the search")
    within: float = Field(description="probability that it is the fastest, or within the margin of that")
    fitted: Estimate | None = Field(default=None, description="its response by the fit of all runs of the search")
    fresh: Estimate | None = Field(default=None, description="the same from its fresh runs")
    speed: Estimate | None = Field(default=None, description="its speed over the default's, from fresh runs in pairs")


class BestLine(Model):
    """The response along one factor, the others as the winner has them; ends hold 95%."""

    factor: str
    levels: list[float]
    value: list[float]
    low: list[float]
    high: list[float]
    runs: list[tuple[float, float]] = Field(description="level and response of each run of the search on it")
    members: list[float] = Field(description="levels of those that may be as fast as the fastest")


class Best(Model):
    """Which configuration is fastest, and which may be as fast."""

    response: str
    decided: bool = Field(description="whether all planned runs were made")
    margin: float = Field(description="difference that counts as none, as a share")
    n_configurations: int
    n_runs: int = Field(description="runs of the search")
    n_fresh: int = Field(description="fresh runs, which confirm")
    n_excluded: int = Field(description="configurations that were excluded since their runs fail")
    noise: float = Field(description="standard deviation of the log of a run's time")
    risk: float = Field(description="probability that another one is faster than the winner by more than the margin")
    winner: BestConfiguration
    default: BestConfiguration
    cheapest: BestConfiguration | None = Field(default=None, description="cheaper than the winner, probably equivalent")
    over_winner: Estimate | None = Field(default=None, description="speed of the cheapest over the winner's, in pairs")
    members: list[BestConfiguration] = Field(description="that may be as fast as the fastest, the most probable first")
    line: BestLine | None = None
