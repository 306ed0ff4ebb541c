"""Two results beside each other: what differs around them, the ratio of every configuration, and one answer."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.plain import Level, Model, Text, is_number

ComparisonAnswer = Literal["faster", "slower", "same", "not measurable"]
ShownAs = Literal["faster", "slower", "same", "not shown"]
# Where a margin is from: it was asked for, it is the least, or the noise floor of the machine is more than that.
MarginFrom = Literal["asked", "default", "noise floor"]


class SourceDifference(Model):
    """Something around the runs that is not the same in both: a fact of the machine, a JVM, the study."""

    what: Text
    reference: Text
    other: Text


class ConfigurationRatio(Model):
    """One configuration in both results."""

    levels: dict[str, Level]
    reference: Estimate | None = Field(default=None, description="the response, as the first result has it")
    other: Estimate | None = None
    ratio: Estimate = Field(
        description="of the other over the reference; intervals hold for all configurations at once"
    )
    shown: ShownAs = "not shown"
    doubt: Text = Field(default="", description="why it decides nothing; empty where it does")


class LostConfiguration(Model):
    """A configuration that the reference measured and the other did not."""

    name: Text = Field(description="as `--allow-missing` takes it")
    levels: dict[str, Level]
    why: Literal["failed", "missing"]
    n_failed: int = 0
    n_runs: int = Field(default=0, description="of which so many failed; 0 where it is missing")
    allowed: bool = Field(default=False, description="it was named by `--allow-missing`, and decides nothing")


class LawChange(Model):
    """A coefficient of the scaling law whose intervals in both results have nothing in common."""

    coefficient: Literal["sigma", "kappa", "gamma"]
    group: dict[str, Level] = Field(default_factory=dict, description="levels of the curve's other factors")
    reference: Estimate
    other: Estimate


class ResultComparison(Model):
    """A result against the one that it is compared with."""

    reference: Text
    other: Text
    title: Text = Field(default="", description="what the studies ask")
    response: str
    response_title: Text = ""
    unit: str = ""
    better: Literal["lower", "higher"] = "lower"
    per: Text = Field(default="", description="what the response was divided by, and how")
    along: str = Field(default="", description="factor of the curves")
    titles: dict[str, Text] = Field(default_factory=dict, description="factor -> its title")
    units: dict[str, str] = Field(default_factory=dict)
    answer: ComparisonAnswer
    why: Text = Field(default="", description="why it is not measurable; empty where it is")
    margin: float = Field(default=0.02, ge=0, description="differences within it are none, as a share")
    margin_from: MarginFrom = "default"
    noise_floor: float | None = Field(default=None, description="a larger difference would be shown, as a share")
    n_blind: int = Field(
        default=0, description="configurations too noisy for a noise floor of 25 %, or without an interval"
    )
    reach: float | None = Field(default=None, description="no other configuration differs by more, as a share")
    differences: list[SourceDifference] = Field(default_factory=list)
    unmatched: int = Field(default=0, description="configurations that only one of them has")
    lost: list[LostConfiguration] = Field(
        default_factory=list,
        description="configurations of the reference that failed in the other, or are missing there",
    )
    configurations: list[ConfigurationRatio] = Field(
        description="in both; none where all that the reference has failed"
    )
    shift: Estimate | None = Field(default=None, description="mean ratio over all configurations")
    upper: Estimate | None = Field(
        default=None, description="mean ratio over the upper half of the levels of `along`, by rank"
    )
    upper_from: Level | None = Field(default=None, description="the level that it begins at")
    alike: float | None = Field(
        default=None, description="ratios of single configurations lie so near to it, as a share"
    )
    laws: list[LawChange] = Field(default_factory=list, description="coefficients of the scaling law that changed")
    laws_left_out: bool = Field(
        default=False, description="laws of another response, or of more levels than are compared, are not compared"
    )
    causes: list[Text] = Field(default_factory=list, description="what disturbed the runs of either")
    doubts: list[Text] = Field(default_factory=list, description="what each of both says against itself")


class ResultComparisons(Model):
    """All results that were compared with the first one."""

    answer: ComparisonAnswer = Field(description="the worst: slower, then not measurable, same, faster")
    results: list[ResultComparison] = Field(min_length=1)


def ordered(found: ResultComparison) -> list[ConfigurationRatio]:
    """In the order of the levels of the curves' factor, where these are numbers."""
    levels = [one.levels.get(found.along) for one in found.configurations]
    numbers = [float(level) for level in levels if is_number(level)]
    if len(numbers) < len(levels):
        return [*found.configurations]
    return [one for _, one in sorted(zip(numbers, found.configurations, strict=True), key=lambda pair: pair[0])]


def curves(found: ResultComparison) -> Iterator[tuple[dict[str, Level], ResultComparison]]:
    """Yield each curve by the levels of its other factors, as a comparison of its own."""
    groups: dict[tuple[tuple[str, Level], ...], list[ConfigurationRatio]] = {}
    for one in found.configurations:
        key = tuple((name, level) for name, level in one.levels.items() if name != found.along)
        groups.setdefault(key, []).append(one)
    for key, members in groups.items():
        yield dict(key), found.model_copy(update={"configurations": members})


class SeriesResult(Model):
    """One result.

    Attributes:
        name: of its folder.
        started: when its first run was; empty where that is not told.
        level: its figures over those of the first result, the mean over all configurations.
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
