"""The document of a search for cliffs, as findings hold it."""

from pydantic import Field

from scalograph.protocol.plain import Model


class CliffDoc(Model):
    """A place where the time jumps; `low` and `high` hold it with 99%, the range of `factor` with 95%."""

    location: float = Field(description="level at which half of the jump has happened")
    low: float = Field(description="the jump begins at this level or later")
    high: float = Field(description="it is over at this level")
    factor: tuple[float, float, float] = Field(description="time above over time below: low end, value, high end")
    probability: float
    gradual: float = Field(description="probability that it takes a tenth of the level or more to happen")


class Cliffs(Model):
    """Where the time jumps along a factor, if it does at all."""

    factor: str
    decided: bool = Field(description="whether all cliffs are found, none being an answer too")
    cliffs: list[CliffDoc] = Field(description="by location")
    probability: float = Field(description="that there is one at all")
    another: float | None = Field(default=None, description="probability of a further one, where some are found")
    likely: float | None = Field(default=None, description="where the one that is open would most probably be")
    n_more: int | None = Field(default=None, description="about how many more runs it would take, where undecided")
    wanders: tuple[float, float] | None = Field(
        default=None, description="levels between which the place of the jump moves from run to run"
    )
    alternates: float | None = Field(
        default=None,
        description="time at odd levels over that at even ones, where that explains the runs and ends the search",
    )
    jump: float | None = Field(default=None, description="time above over time below, where the place moves")
    n: int = Field(description="runs that the answer rests on")
    least: float = Field(description="what counts as a jump: time above over time below, or its inverse")
