"""The noise floor of a machine, as values: measured by an A/A study, saved, and rechecked later."""

from typing import Literal

from pydantic import Field

from scalograph.protocol.facts import Value

SpreadChange = Literal["higher", "lower", "no", "unknown"]
Move = Literal["slower", "faster", "no", "unknown"]


class FloorSpread(Value):
    """Run-to-run standard deviation of log scores, percent, with its interval; None where a bound is unknown.

    `df` are effective degrees of freedom: fewer than runs where there are outliers.
    """

    sd_log_percent: float = Field(ge=0)
    low: float | None = None
    high: float | None = None
    confidence: float = 0.95
    df: float = Field(gt=0)
    kurtosis: float = Field(default=3.0, ge=1, description="3 for normal logs")


class FloorDifference(Value):
    """Difference A/B - 1, percent, with its interval; `n` counts pairs."""

    percent: float | None
    low: float | None
    high: float | None
    confidence: float
    n: int

    @property
    def is_false(self) -> bool:
        """Tell whether the interval excludes 0, although A and B are the same program."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


class Reference(Value):
    """Statistics of short stretches of consecutive runs in a long series, the reference of a recheck.

    Machines drift: consecutive runs differ less than all runs do, and medians of stretches differ by more than
    consecutive runs explain.
    """

    runs: int = Field(ge=2, description="runs in each stretch")
    spread: FloorSpread = Field(description="within a stretch")
    median_s: float = Field(gt=0, description="geometric mean of the medians of the stretches")
    between_log_percent: float = Field(ge=0, description="standard deviation of the log medians")
    n: int = Field(ge=2, description="stretches")


class FloorPart(Value):
    """Noise floor on `n_cpus` CPUs, one busy thread on each."""

    n_cpus: int = Field(ge=1)
    n: int = Field(ge=0, description="runs that count: not disturbed, not failed")
    n_disturbed: int = 0
    n_failed: int = 0
    causes: dict[str, int] = Field(default={}, description="what disturbed -> runs")
    worst: str | None = Field(default=None, description="the largest disturbance, in words")
    median_s: float | None = None
    spread: FloorSpread | None = None
    detectable_percent: dict[int, float] = Field(default={}, description="runs of each -> smallest effect, power 80%")
    difference: FloorDifference | None = None
    reference: Reference | None = None

    @property
    def n_runs(self) -> int:
        return self.n + self.n_disturbed + self.n_failed


class Floor(Value):
    """Noise floor of a machine by number of CPUs, fewest first."""

    parts: tuple[FloorPart, ...] = Field(max_length=64)
    warnings: tuple[str, ...] = ()

    @property
    def single_cpu(self) -> FloorPart | None:
        return next((part for part in self.parts if part.n_cpus == 1), None)


class Recheck(Value):
    """A later measurement of the same work, compared with the saved floor."""

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
