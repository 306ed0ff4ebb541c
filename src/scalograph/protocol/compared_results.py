"""Comparison of two results: what else differs, the ratio of each configuration, and one answer."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.plain import Level, Model, Text, is_number

ComparisonAnswer = Literal["faster", "slower", "equivalent", "inconclusive"]
ShownAs = Literal["faster", "slower", "equivalent", "inconclusive"]
# Why nothing is decided: both could not be compared; something was lost; no intervals; too few runs count; too wide.
OpenCase = Literal["", "refused", "lost", "few runs", "disturbed", "open"]


class SourceDifference(Model):
    """A difference in the conditions of the two results: machine, JVM or study."""

    what: Text
    reference: Text
    other: Text


class ConfigurationRatio(Model):
    """Ratio of one configuration between the two results."""

    levels: dict[str, Level]
    reference: Estimate | None = Field(default=None, description="the response, as the first result has it")
    other: Estimate | None = None
    ratio: Estimate = Field(description="of the other over the reference; all intervals hold together")
    shown: ShownAs = "inconclusive"
    doubt: Text = Field(default="", description="why it decides nothing; empty where it does")


class LostConfiguration(Model):
    """A configuration that the reference measured and the other did not."""

    name: Text = Field(description="as `--allow-missing` takes it")
    levels: dict[str, Level]
    why: Literal["failed", "missing", "unread"] = Field(description="unread: a file of the other; only of a gate")
    n_failed: int = 0
    n_runs: int = Field(default=0, description="number that failed; 0 where it is missing")
    allowed: bool = Field(default=False, description="it was named by `--allow-missing`, and decides nothing")


class LawChange(Model):
    """A coefficient of the scaling law whose intervals do not overlap."""

    coefficient: Literal["sigma", "kappa", "gamma"]
    group: dict[str, Level] = Field(default_factory=dict, description="levels of the curve's other factors")
    reference: Estimate
    other: Estimate


class ResultComparison(Model):
    """Comparison of one result with the reference."""

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
    why: Text = Field(default="", description="why it is inconclusive; empty where it is not")
    case: OpenCase = Field(default="", description="the kind of reason in `why`")
    margin: float = Field(default=0.02, ge=0, description="the largest difference to ignore, as a share")
    noise_floor: float | None = Field(default=None, description="a larger difference would be shown, as a share")
    n_inconclusive: int = Field(default=0, description="configurations that show neither a difference nor equivalence")
    reach: float | None = Field(
        default=None, description="no configuration with an interval differs by more, as a share"
    )
    differences: list[SourceDifference] = Field(default_factory=list)
    unrecorded: list[Text] = Field(
        default=[], exclude_if=lambda named: not named, description="results that tell nothing of machine and settings"
    )
    unmatched: int = Field(default=0, description="configurations that only one of them has")
    lost: list[LostConfiguration] = Field(
        default_factory=list,
        description="configurations of the reference that failed in the other, or are missing there",
    )
    added: list[str] = Field(
        default_factory=list, description="configurations of the other that the reference lacks: they decide nothing"
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
    varied: list[str] = Field(
        default=[], exclude_if=lambda named: not named, description="what both drew anew for each block"
    )
    causes: list[Text] = Field(default_factory=list, description="what disturbed the runs of either")
    doubts: list[Text] = Field(default_factory=list, description="what each of both says against itself")


class ResultComparisons(Model):
    """Comparisons of all results with the first one."""

    answer: ComparisonAnswer = Field(description="the worst: slower, then inconclusive, equivalent, faster")
    results: list[ResultComparison] = Field(min_length=1)


def sort_configurations(comparison: ResultComparison) -> list[ConfigurationRatio]:
    """Sort configurations by the level of the curves' factor, where levels are numbers."""
    levels = [row.levels.get(comparison.along) for row in comparison.configurations]
    numbers = [float(level) for level in levels if is_number(level)]
    if len(numbers) < len(levels):
        return [*comparison.configurations]
    return [row for _, row in sorted(zip(numbers, comparison.configurations, strict=True), key=lambda pair: pair[0])]


def split_curves(comparison: ResultComparison) -> Iterator[tuple[dict[str, Level], ResultComparison]]:
    """Split a comparison by curve: yield the fixed levels and their own comparison."""
    groups: dict[tuple[tuple[str, Level], ...], list[ConfigurationRatio]] = {}
    for row in comparison.configurations:
        key = tuple((name, level) for name, level in row.levels.items() if name != comparison.along)
        groups.setdefault(key, []).append(row)
    for key, members in groups.items():
        yield dict(key), comparison.model_copy(update={"configurations": members})


class SeriesResult(Model):
    """One result of a series.

    Attributes:
        name: folder name.
        started: time of the first run; empty where unknown.
        level: mean ratio to the first result over all configurations.
        stretch: number of the stretch of equal level, from 1.
        doubt: caveat of its study; empty where there is none.
    """

    name: Text
    started: str = ""
    level: Estimate
    stretch: int = 1
    doubt: Text = ""


class SeriesStep(Model):
    """A change of level: the first result of a new stretch."""

    name: Text
    started: str = ""
    ratio: Estimate = Field(description="level from here on over the level before, each result counted once")
    p: float = Field(description="share of random orders of the results that are divided as well")
    differences: list[SourceDifference] = Field(default_factory=list, description="from the result before it")


class ResultSeries(Model):
    """A series of results, oldest first."""

    title: Text = ""
    response: str
    response_title: Text = ""
    unit: str = ""
    better: str = "lower"
    margin: float = Field(default=0.02, ge=0, description="the largest difference to ignore, as a share")
    results: list[SeriesResult]
    steps: list[SeriesStep] = Field(default_factory=list)
    is_one_value: bool = Field(default=False, exclude=True, description="whether all runs of all have one value")
    newest: Text = Field(default="", description="what of the newest result the levels do not hold; empty for nothing")
    left_out: list[Text] = Field(default_factory=list, description="results that say nothing, and why")
