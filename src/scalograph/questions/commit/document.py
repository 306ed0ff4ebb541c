"""The document of a search for commits, as findings hold it."""

import re

from pydantic import Field

from scalograph.protocol.plain import Model

Interval = tuple[float, float, float]
FIGURE = "commits"  # of the measured versions
# Versions of a repository are named by their place, their subject and their commit; other versions as they are.
_NAME = re.compile(r"(\d{4})-(?:(.*)-)?([0-9a-f]{10})")


class CommitStep(Model):
    """A change of time between two versions, with none between that could be measured."""

    after: str = Field(description="the last version before the change")
    candidates: list[str] = Field(description="the versions that may have brought it: one, or more beside failures")
    factor: Interval = Field(description="time after over time before: low end, value, high end, with 95%")
    share: Interval = Field(description="of the whole change of the log of the time, with 95%")
    n: int = Field(description="blocks of the side that has fewer")


class OpenGap(Model):
    """Versions that may hold a change whose place is not known."""

    after: str
    last: str
    share: Interval


class MeasuredVersion(Model):
    """A version beside the good one."""

    index: int = Field(description="in the order of versions, 0 for the good one")
    name: str
    n: int = Field(description="blocks")
    factor: Interval = Field(description="time over that of the good version: low end, value, high end, with 95%")


class Commits(Model):
    """Which of the versions between a good one and a bad one made the program slower."""

    factor: str
    decided: bool = Field(description="whether the place of the largest step is known, or there is no slowdown")
    good: str
    bad: str
    n_versions: int = Field(description="of which the first is good and the last is bad")
    whole: Interval = Field(description="time of the bad version over that of the good one, with 95%")
    slower: bool = Field(description="whether the bad version is surely slower")
    even: float = Field(description="the change that counts as none, as a share")
    steps: list[CommitStep] = Field(description="the largest first")
    open: list[OpenGap]
    versions: list[MeasuredVersion] = Field(description="but for the good one, in order")
    failed: list[str] = Field(description="versions that could not be built or run")
    n_built: int = Field(description="versions that were measured, the ends among them")
    n: int = Field(description="runs that the answer rests on")
    noise: float = Field(description="standard deviation of the log time of a run beside its block")
    n_more: int | None = Field(default=None, description="about how many more runs would decide, where undecided")


def is_commit(version: str) -> bool:
    """Tell whether a version is one of a repository."""
    return _NAME.fullmatch(version) is not None


def commit_name(version: str) -> str:
    """Return a version as people name it.

    >>> commit_name("0012-use-a-map-3f2c1a9b00"), commit_name("0001-3f2c1a9b00"), commit_name("17.0.2")
    ('3f2c1a9 (use a map)', '3f2c1a9', '17.0.2')
    """
    match = _NAME.fullmatch(version)
    if match is None:
        return version
    return match[3][:7] + (f" ({match[2].replace('-', ' ')})" if match[2] else "")
