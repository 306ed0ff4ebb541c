"""Findings of a sweep: how the levels of each curve compare with each other."""

from pydantic import Field

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.plain import Level, Model

MOST_CURVES, MOST_LEVELS = 32, 32  # curves, and levels of each, that are compared with each other


class LocalSlowdown(Model):
    """A level between two others, and how much slower it is than both."""

    level: int
    below: int = Field(description="the next lower level")
    above: int = Field(description="the next higher level")
    slower: Estimate = Field(description="least of both ratios, time over that of a neighbor; all of a study at once")
    shown: bool = Field(description="whether it is slower than both, by more than 2%, beside all others of the study")


class SweptCurve(Model):
    """One curve: levels that may be the best, and levels slower than both neighbors."""

    group: dict[str, Level]
    factor: str
    best: Estimate | None = Field(
        default=None, description="the level with the least time for the same work; its interval spans `may_be_best`"
    )
    may_be_best: list[int] = Field(
        default=[], max_length=MOST_LEVELS, description="levels that cannot be told apart from the best"
    )
    bumps: list[LocalSlowdown] = Field(default=[], max_length=MOST_LEVELS)


class Swept(Model):
    """The part of the reading `scaling`: the first curves, up to MOST_CURVES."""

    curves: list[SweptCurve] = Field(default=[], max_length=MOST_CURVES)
