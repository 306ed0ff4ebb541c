"""Series of results: one value of a study on one machine, over time, and where it changed."""

from typing import Literal

from pydantic import Field

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.compared_results import SourceDifference
from scalograph.protocol.plain import Model, Text


class SeriesPoint(Model):
    """The value of one result."""

    folder: Text
    started: str = ""
    commit: Text = ""
    value: float | None = None
    excluded: Text = Field(default="", description="why it decides nothing; empty where it does")


class LevelChange(Model):
    """A new level."""

    at: int = Field(description="index of its first point")
    folder: Text
    started: str = ""
    commit: Text = ""
    before: float = Field(description="mean of the level before; of a response, the geometric one")
    after: float
    ratio: Estimate | None = Field(default=None, description="after over before; null for a coefficient")
    p: float = Field(description="share of random orders of the results that are divided as well")
    shown: Literal["worse", "better"]
    is_recent: bool = False
    is_small: bool = Field(default=False, description="within the margin")
    acknowledged: Text = Field(default="", description="the note by which it alarms nobody; empty without one")
    differences: list[SourceDifference] = Field(default_factory=list)

    @property
    def is_alarm(self) -> bool:
        """Whether it is a change for the worse that began within the time, and that nobody has acknowledged."""
        return self._is_worse and not self.acknowledged

    @property
    def is_acknowledged(self) -> bool:
        """Whether it would be an alarm without the note."""
        return self._is_worse and bool(self.acknowledged)

    @property
    def _is_worse(self) -> bool:
        return self.shown == "worse" and self.is_recent and not self.is_small


class WatchedSeries(Model):
    """One value of a study on one machine: its response over all configurations, or a coefficient."""

    study: Text
    title: Text = ""
    lane: Text
    figure: Text = Field(description="title of the response, or name of the coefficient")
    is_level: bool = True
    unit: str = ""
    better: Literal["lower", "higher", "none"] = "lower"
    points: list[SeriesPoint]
    changes: list[LevelChange] = Field(default_factory=list)
    is_tested: bool = Field(default=False, description="enough results, and some within the time")

    @property
    def alarm(self) -> LevelChange | None:
        """The change for the worse that began within the time; None without one."""
        return next((change for change in self.changes if change.is_alarm), None)


class SeriesNote(Model):
    """A remark of the user on a date or a commit, shown beside the series; of one study or of all."""

    text: Text = Field(min_length=1)
    date: str = Field(default="", pattern=r"^(\d{4}-\d\d-\d\d)?$")
    commit: str = ""
    study: str = ""
    acknowledged: bool = Field(default=False, description="a new level from there on is known, and alarms nobody")

    def covers(self, point: SeriesPoint) -> bool:
        """Return whether a result is of the commit, or began on the date or later."""
        if self.commit:
            return bool(point.commit) and (point.commit.startswith(self.commit) or self.commit.startswith(point.commit))
        return bool(self.date) and point.started[:10] >= self.date


class Watch(Model):
    """All series below a folder."""

    since: str = Field(description="start of the time, ISO 8601")
    margin: float
    n_results: int
    series: list[WatchedSeries]
    left_out: list[Text] = Field(default_factory=list)

    @property
    def alarms(self) -> list[tuple[WatchedSeries, LevelChange]]:
        """Series with a change for the worse that began within the time, the surest first."""
        alarms = [(series, series.alarm) for series in self.series]
        return sorted(((s, change) for s, change in alarms if change), key=lambda pair: pair[1].p)
