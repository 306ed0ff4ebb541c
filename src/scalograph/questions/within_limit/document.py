"""The document of a search for the highest level within a limit, as findings hold it."""

from pydantic import Field

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.plain import Model


class LimitedRun(Model):
    """One run of the search."""

    level: int
    over: float = Field(description="its response over the limit; of several the worst")


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
    always: float = Field(description="probability that all levels meet it")
    never: float = Field(description="that none does")
    runs: list[LimitedRun] = Field(max_length=64)
