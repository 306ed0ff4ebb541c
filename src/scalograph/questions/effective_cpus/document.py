"""The document of effective CPUs, as findings hold it."""

from bisect import bisect_left
from itertools import accumulate

from pydantic import Field

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.plain import Level, Model, Text
from scalograph.text.format import estimate
from scalograph.text.quantities import probability

# Of the interval of an answer.
CREDIBLE = 0.95


class EffectiveCpus(Model):
    """How many CPUs, or workers at once, a program really uses: figures that answer different questions."""

    group: dict[str, Level]
    factor: str
    k_eff: int | None = Field(default=None, description="the least level beyond which all others gain less than 2%")
    decided: bool = False
    posterior: dict[int, float] = Field(default={}, description="level -> probability; empty without a model")
    with_model: bool = True
    n: int = Field(default=0, description="runs that the answer rests on")
    serial: tuple[float, float] | None = Field(default=None, description="serial share, 95% credible range")
    gain: tuple[float, float] | None = Field(default=None, description="what the next level gains over k_eff")
    used: Estimate | None = Field(default=None, description="CPU seconds over wall seconds, at the highest level")
    at_once: list[float] = Field(default=[], description="share of the time with 0, 1, 2, ... tasks on a CPU")
    exact: float = Field(default=0.0, description="share of the time for which `at_once` is no estimate")
    mask: int | None = None
    quota: float | None = None
    believed: int | None = None
    workers: int | None = None
    limit: Text = ""
    sentence: Text = ""

    @property
    def credible_range(self) -> tuple[int, int] | None:
        """Return the ends of the middle 95% of the answers; None without a model."""
        if not self.posterior:
            return None
        levels = sorted(self.posterior)
        summed = [*accumulate(self.posterior[level] for level in levels)]
        low, high = (bisect_left(summed, (1 + end * CREDIBLE) / 2) for end in (-1, 1))
        return levels[low], levels[min(high, len(levels) - 1)]

    @property
    def sure(self) -> str:
        if not self.with_model:
            return "found without a model"
        return f"probability {probability(self.posterior.get(self.k_eff or 0, 0.0))}"

    @property
    def margin(self) -> str:
        """State what does not count as a gain."""
        return "2%" if self.with_model else "about 5%"

    @property
    def cpus_used(self) -> str:
        """State the CPUs in use with their interval; empty where they were not measured."""
        return str(estimate(self.used)) if self.used and self.used.value is not None else ""


class EffectiveGroups(Model):
    """The part of the question `effective-cpus`: one for each setting of the factors that are not searched."""

    groups: list[EffectiveCpus] = Field(max_length=16)
