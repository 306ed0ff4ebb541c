"""What is known of a machine's noise, as values: measured by an A/A study, kept, and held against a second look."""

from typing import Literal

from pydantic import Field

from scalograph.protocol.facts import Value

SpreadChange = Literal["higher", "lower", "no", "unknown"]
Move = Literal["slower", "faster", "no", "unknown"]


class FloorSpread(Value):
    """Standard deviation of log scores between runs, in percent, with its interval; None where nothing bounds it.

    `df` are the degrees of freedom that it is worth: fewer than runs, where a few runs stick out.
    """

    sd_log_percent: float = Field(ge=0)
    low: float | None = None
    high: float | None = None
    confidence: float = 0.95
    df: float = Field(gt=0)
    kurtosis: float = Field(default=3.0, ge=1, description="3 for normal logs")


class FloorDifference(Value):
    """A over B less 1, in percent, with its interval; `n` counts pairs."""

    percent: float | None
    low: float | None
    high: float | None
    confidence: float
    n: int

    @property
    def is_false(self) -> bool:
        """Whether the interval says that A and B differ. They do not."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


class Reference(Value):
    """What a few runs on end show, taken from a long series: the like that a second look is held against.

    Runs within a minute drift, so runs on end differ less than all of them; and the medians of such stretches differ
    by more than runs on end explain.
    """

    runs: int = Field(ge=2, description="runs in each stretch")
    spread: FloorSpread = Field(description="within a stretch")
    median_s: float = Field(gt=0, description="geometric mean of the medians of the stretches")
    between_log_percent: float = Field(ge=0, description="standard deviation of the log medians")
    n: int = Field(ge=2, description="stretches")


class FloorPart(Value):
    """The floor on so many CPUs, one busy thread on each."""

    n_cpus: int = Field(ge=1)
    n: int = Field(ge=0, description="runs that count: not disturbed, not failed")
    n_disturbed: int = 0
    n_failed: int = 0
    causes: dict[str, int] = Field(default={}, description="what disturbed -> runs")
    worst: str | None = Field(default=None, description="the largest disturbance, in words")
    median_s: float | None = None
    spread: FloorSpread | None = None
    detectable_percent: dict[int, float] = Field(default={}, description="runs of each -> smallest effect, power 80 %")
    difference: FloorDifference | None = None
    reference: Reference | None = None

    @property
    def n_runs(self) -> int:
        """All runs that were made."""
        return self.n + self.n_disturbed + self.n_failed


class Floor(Value):
    """The noise floor of a machine: one part for each number of CPUs, fewest first."""

    parts: tuple[FloorPart, ...] = Field(max_length=64)
    warnings: tuple[str, ...] = ()

    @property
    def one(self) -> FloorPart | None:
        """On one CPU, which every machine has."""
        return next((part for part in self.parts if part.n_cpus == 1), None)


class Recheck(Value):
    """A second look at the same work, held against what was kept."""

    sd_log_percent: float | None
    df: float | None
    median_s: float | None
    n: int = Field(description="runs that count")
    n_disturbed: int = 0
    kept_sd_log_percent: float
    kept_median_s: float
    kept_at: str
    changed: SpreadChange
    moved: Move
    moved_percent: float | None = Field(default=None, description="how much longer it takes than when kept")
    sentence: str
