"""Results of one study over time: the level of each, and where a new one begins."""

from pydantic import Field

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.compared_results import SourceDifference
from scalograph.protocol.plain import Model, Text


class SeriesResult(Model):
    """One result.

    Attributes:
        name: of its folder.
        started: when its first run was; empty where that is not told.
        level: its figures over those of the first result, the mean over all treatments.
        stretch: results with one number have one level; counted from 1.
        doubt: what its study says against itself; empty where it is believed.
    """

    name: Text
    started: str = ""
    level: Estimate
    stretch: int = 1
    doubt: Text = ""


class SeriesStep(Model):
    """A result with which a new level begins."""

    name: Text
    started: str = ""
    ratio: Estimate = Field(description="level from here on over the level before, each result counted once")
    p: float = Field(description="share of random orders of the results that are divided as well")
    differences: list[SourceDifference] = Field(default_factory=list, description="from the result before it")


class ResultSeries(Model):
    """The whole series, the oldest result first."""

    title: Text = ""
    response: str
    response_title: Text = ""
    unit: str = ""
    better: str = "lower"
    results: list[SeriesResult]
    steps: list[SeriesStep] = Field(default_factory=list)
    newest: Text = Field(default="", description="what of the newest result the levels do not hold; empty for nothing")
    left_out: list[Text] = Field(default_factory=list, description="results that say nothing, and why")
