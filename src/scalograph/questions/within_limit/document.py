"""The document of a search for the highest level within a limit, as findings hold it."""

from pydantic import Field

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.plain import Model
from scalograph.questions.saturation import MOST_PARTS, PartUse, Saturation


class LimitedRun(Model):
    """One run of the search."""

    level: int
    over: float = Field(description="its response over the limit; of several the worst")


class LoadBeyond(Saturation):
    """What is saturated beyond the limit."""

    level: int = Field(description="the highest one measured that does not meet the limit")
    throughput: float = Field(description="right answers per second there")
    goodput: float | None = Field(default=None, description="of these, the ones that are in time")
    within: list[PartUse] = Field(
        max_length=MOST_PARTS, description="how full parts are at the highest level that does"
    )


class WithinLimit(Model):
    """Up to which level a response stays within its limit."""

    factor: str
    response: str
    limit: float = Field(description="in the unit of the response")
    others: dict[str, float] = Field(default={}, max_length=16, description="further responses, and their limits")
    decided: bool
    crossing: Estimate = Field(description="level at which the typical response is at its limit")
    highest: int | None = Field(default=None, description="highest level of the study that meets it, most probably")
    answered: float | None = Field(
        default=None, description="share of what was sent there that was answered, where a queue grows"
    )
    throughput: float | None = Field(default=None, description="right answers per second there")
    goodput: float | None = Field(default=None, description="of these, the ones that are in time")
    beyond: LoadBeyond | None = Field(default=None, description="what is saturated; null where the load is not known")
    always: float = Field(description="probability that all levels meet it")
    never: float = Field(description="that none does")
    runs: list[LimitedRun] = Field(max_length=64)
