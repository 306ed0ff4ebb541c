"""Findings of tunables: settings, factors, groups and combinations."""

from typing import Literal

from pydantic import Field

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.plain import Level, Model
from scalograph.study.model import PlanKind


class SettingEffect(Model):
    """One setting against the default of its factor; performance is a rate, or one over a time."""

    factor: str
    level: Level
    gain: Estimate | None = Field(default=None, description="performance over the default's, from all runs together")
    label: Literal["positive", "negative", "equivalent", "uncertain"] = Field(
        default="uncertain", description="positive or negative where all of the interval lies outside the margin"
    )
    alone: Estimate | None = Field(
        default=None, description="the same alone, from fresh runs in pairs with the default: only this is a gain"
    )
    cpu_time: Estimate | None = Field(default=None, description="CPU time over the default's, from all runs together")
    moved: dict[str, Estimate] = Field(
        default={}, description="other responses that it changes for sure, over those of the default"
    )
    rank: tuple[int, int, int] | None = Field(
        default=None, description="place by performance, 1 the worst: lowest that it may have, its own, highest"
    )
    n: int = Field(description="runs of the comparison that have it")
    n_failed: int = Field(default=0, description="of them")
    fails: Estimate | None = Field(default=None, description="share of its runs that fails")
    fails_p: float | None = Field(
        default=None, description="probability of as many failures if it failed as the default does; null: none failed"
    )
    left_out: bool = Field(default=False, description="whether it got no more runs because they fail")

    @property
    def levels(self) -> dict[str, Level]:
        return {self.factor: self.level}


class FactorEffect(Model):
    """One factor over its levels; values are percent of the performance."""

    factor: str
    default: Level
    matters: bool
    p: float | None = Field(default=None, description="probability of levels so unlike by chance, beside all others")
    sensitivity: float | None = Field(default=None, description="standard deviation of its levels without the noise")
    sensitivity_noise: float | None = Field(default=None, description="what noise alone shows as that, at most")
    sensitivity_rank: tuple[int, int, int] | None = Field(
        default=None, description="place by sensitivity, 1 the most: lowest that it may have, its own, highest"
    )
    plain: float | None = Field(default=None, description="standard deviation of its levels with the noise")
    plain_noise: float | None = Field(default=None, description="what noise alone shows as that, typically")


class GroupEffect(Model):
    """A group of factors; values are means over its factors, percent of the performance."""

    group: str
    factors: list[str] = Field(description="those of several levels, of which a run is known")
    sensitivity: float = Field(description="mean standard deviation of a factor's levels without the noise")
    sensitivity_noise: float = Field(description="what noise alone shows as that, at most")
    plain: float = Field(description="the same with the noise")
    plain_noise: float = Field(description="what noise alone shows as that, typically")


class GroupContrast(Model):
    """How many times as much one group moves the performance as another one."""

    first: str
    second: str
    ratio: Estimate = Field(description="of their sensitivities; all contrasts hold together")
    plain: float = Field(description="the same with the noise, as one-at-a-time studies have it")
    plain_noise: tuple[float, float, float] = Field(description="that of noise alone: 2.5%, median, 97.5%")


class Combination(Model):
    """Settings that were confirmed together, on fresh runs in pairs with the default."""

    levels: dict[str, Level]
    gain: Estimate


class Tunables(Model):
    """Which of the settings matter, by how much, and which only seem to."""

    plan: PlanKind
    response: str
    decided: bool
    margin: float = Field(description="performance that counts as none, as a share")
    noise_percent: float | None = Field(default=None, description="standard deviation of runs of one configuration")
    half_width: float | None = Field(
        default=None, description="of the widest interval where the noise is as large as it may be, as a share"
    )
    n_runs: int = Field(description="runs that compare settings")
    n_default: int = Field(description="of them, of the default")
    n_failed: int = Field(default=0, description="of them, those that failed")
    n_fresh: int = Field(description="runs that confirm")
    blocks: int
    blocks_needed: int | None = Field(
        default=None,
        exclude_if=lambda n: n is None,
        description="of a plan of pairs: blocks that would make every interval narrow enough",
    )
    factors: list[FactorEffect]
    settings: list[SettingEffect]
    watched: list[str] = Field(default=[], description="other responses that were looked at")
    combinations: list[Combination] = Field(default=[])
    best_of_noise: tuple[float, float, float] | None = Field(
        default=None, description="best setting in percent if none has an effect: 2.5%, median, 97.5%"
    )
    worst_of_noise: tuple[float, float, float] | None = None
    groups: list[GroupEffect] = Field(default=[], exclude_if=lambda listed: not listed)
    contrasts: list[GroupContrast] = Field(default=[], exclude_if=lambda listed: not listed)

    @property
    def matter(self) -> list[FactorEffect]:
        return [factor for factor in self.factors if factor.matters]
