"""The scaling ceiling of a machine, as values: measured, saved, and compared with a program's curve."""

from collections.abc import Mapping
from functools import lru_cache

from pydantic import Field, model_validator

from scalograph.analysis.speedup_points import SpeedupPoint, speedup
from scalograph.protocol.facts import Value

# Resources of the machine: they bound what any program can reach.
RESOURCES = ("arithmetic", "memory", "fork", "faults")
# Contention that programs cause themselves.
PATTERNS = ("lock", "faults-shared")
WORDS: Mapping[str, str] = {
    "arithmetic": "arithmetic", "memory": "memory bandwidth", "fork": "making processes",
    "faults": "page faults of several processes", "lock": "one lock that is taken all the time",
    "faults-shared": "page faults in one address space",
}  # fmt: skip
CONFIDENCE = 0.95
# Included runs below which a ceiling is not compared with anything.
MIN_RUNS = 3


class Timed(Value):
    """Runs of one kind of work on `n_cpus` CPUs, one worker on each.

    `scores` are seconds, `blocks` the block of each; where fewer than two runs are clean, all that succeeded.
    """

    n_cpus: int = Field(ge=1, le=1 << 20)
    scores: tuple[float, ...] = Field(default=(), max_length=10_000)
    blocks: tuple[int, ...] = Field(default=(), max_length=10_000)
    n_disturbed: int = Field(default=0, ge=0)
    n_failed: int = Field(default=0, ge=0)
    falls_back: bool = Field(default=False, description="includes disturbed runs")

    @model_validator(mode="after")
    def _check_blocks(self) -> "Timed":
        if len(self.scores) != len(self.blocks):
            raise ValueError(f"blocks: found {len(self.blocks)}, expected one for each of {len(self.scores)} scores")
        return self


class Ceiling(Value):
    """Runs by kind of work, fewest CPUs first."""

    at: str = Field(default="", max_length=64, description="UTC, RFC 3339")
    kinds: dict[str, tuple[Timed, ...]] = Field(max_length=64)
    warnings: tuple[str, ...] = ()

    def speedups(self, kind: str, baseline: int = 1) -> dict[int, SpeedupPoint]:
        """Return CPUs -> speedup over `baseline` CPUs; empty where the baseline was not run."""
        return dict(_speedups(self.kinds.get(kind, ()), baseline))

    @property
    def is_sound(self) -> bool:
        """Tell whether it is worth saving: enough runs of each count, none disturbed."""
        parts = [part for kind in self.kinds.values() for part in kind]
        return bool(parts) and all(len(part.scores) >= MIN_RUNS and not part.falls_back for part in parts)


@lru_cache(maxsize=256)
def _speedups(parts: tuple[Timed, ...], baseline: int) -> Mapping[int, SpeedupPoint]:
    # Cached: every curve of a study asks for them, and their bands are simulated.
    timed = {part.n_cpus: part for part in parts if part.scores}
    if baseline not in timed:
        return {}
    points = speedup(
        {n: part.scores for n, part in timed.items()},
        baseline=baseline,
        blocks={n: part.blocks for n, part in timed.items()},
        confidence=CONFIDENCE,
    )
    return {point.n: point for point in points}
