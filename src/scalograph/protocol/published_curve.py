"""Published figures as curves, each beside the measured one of the same levels: part of the findings."""

from pydantic import Field

from scalograph.protocol.plain import Level, Model, Text


class PublishedPoint(Model):
    """What a paper has at one level."""

    level: Level
    values: dict[str, float] = Field(
        max_length=64, description="`speedup`, or a response that is a ratio, a share or a count -> figure"
    )


class PublishedCurve(Model):
    """Figures of a paper along the factor of a measured curve.

    Times are none of them: those of another machine say nothing on the axis of this one.
    """

    label: Text = Field(default="", description="what tells it from others at the same levels, such as the system")
    group: dict[str, Level] = Field(description="of the measured curve that it stands beside")
    factor: str
    points: list[PublishedPoint] = Field(min_length=1, max_length=1000)
