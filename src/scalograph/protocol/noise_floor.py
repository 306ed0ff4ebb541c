"""The noise floor of a machine, as values: measured by an A/A study, saved, and rechecked later."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scalograph.errors import HostError
from scalograph.protocol.bounded import read_whole
from scalograph.protocol.facts import HostFacts, Value
from scalograph.protocol.written_file import replace_file

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


_MAX_BYTES = 64 << 10


class SavedNoise(BaseModel):
    """Noise of one study, and of which machine: a home folder may be shared by many.

    What stands beside `floor` is that of one CPU, as earlier releases read it; `floor` None was written by one of them.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    study: str = Field(max_length=256)
    at: str = Field(max_length=64, description="UTC, RFC 3339")
    sd_log_percent: float = Field(ge=0, allow_inf_nan=False)
    minimum_detectable_percent: float = Field(ge=0, allow_inf_nan=False)
    n: int = Field(ge=1)
    cpu_model: str | None = None
    n_cpus: int = Field(ge=1)
    kernel: str | None = None
    results: str | None = Field(default=None, max_length=4096, description="folder of the study's results")
    floor: Floor | None = None

    def is_of(self, facts: HostFacts) -> bool:
        """Return whether it was measured on such a machine; another kernel does not make another machine."""
        return self.is_of_machine(facts.machine())

    def is_of_machine(self, machine: Mapping[str, Any]) -> bool:
        """Return whether it was measured on such a machine of a journal; guests and remote ones are others."""
        if machine.get("accelerator") or machine.get("reached"):
            return False
        return (self.cpu_model, self.n_cpus) == (machine.get("cpu_model"), machine.get("n_cpus"))


def noise_file(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the file of the saved noise floor."""
    base = environ.get("XDG_STATE_HOME", "")
    home = Path(base) if base.startswith("/") else Path(environ.get("HOME") or "/") / ".local/state"
    return home / "scalograph/noise.json"


def read_noise(environ: Mapping[str, str] = os.environ) -> SavedNoise | None:
    """Read the saved noise; None where there is none, or none that can be read."""
    return read_saved(noise_file(environ), SavedNoise, _MAX_BYTES)


def save_noise(noise: SavedNoise, environ: Mapping[str, str] = os.environ) -> None:
    """Save noise in place of an earlier one. Raises HostError if the folder cannot be written."""
    write_saved(noise_file(environ), noise)


Saved = TypeVar("Saved", bound=BaseModel)


def read_saved(file: Path, model: type[Saved], max_bytes: int) -> Saved | None:
    """Read what was saved of this machine; None where there is nothing that can be read."""
    try:
        return model.model_validate_json(read_whole(file, max_bytes))
    except (OSError, ValidationError):
        return None


def write_saved(file: Path, saved: BaseModel) -> None:
    """Write what is saved of this machine in place of an earlier file. Raises HostError."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(file) as stream:
            stream.write((saved.model_dump_json() + "\n").encode())
    except OSError as error:
        fix = "set XDG_STATE_HOME to a folder that can be written"
        raise HostError(str(file), f"cannot be written: {error.strerror}", "a writable folder", fix) from error
