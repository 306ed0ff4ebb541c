"""The document of a search for the least that a program needs, as findings hold it."""

from pydantic import Field

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.plain import Level, Model


class SizedRun(Model):
    """One run of the search; `over`: its response over the limit, null if it failed."""

    level: float
    over: float | None


class SizeNeed(Model):
    """The least of one amount with which the limit is kept."""

    factor: str
    beside: dict[str, Level] = Field(description="levels of the other amounts meanwhile")
    decided: bool
    need: Estimate = Field(description="the least that keeps the limit; without a value if it lies outside the levels")
    always: float = Field(description="probability that the lowest level keeps the limit")
    never: float = Field(description="that the highest one does not")
    runs: list[SizedRun] = Field(max_length=64)

    @property
    def runs_below(self) -> list[SizedRun]:
        """Return the runs below the interval."""
        return [run for run in self.runs if self.need.low is not None and run.level < self.need.low]


class ConfirmedNeed(Model):
    """Fresh runs with somewhat more than the least of all amounts together."""

    levels: dict[str, float]
    over: list[float | None] = Field(max_length=8, description="response over the limit of each run, null if it failed")
    keeps: bool = Field(description="whether all runs keep the limit")


class Size(Model):
    """The least that a program needs, one amount after the other."""

    response: str
    limit: float = Field(description="in the unit of the response")
    needs: list[SizeNeed] = Field(max_length=8)
    together: ConfirmedNeed | None = Field(default=None, description="null where nothing is to be confirmed")
