"""What a machine scales to, as values: measured, kept, and held against a program's curve."""

from collections.abc import Mapping
from functools import lru_cache

from pydantic import Field, model_validator

from scalograph.analysis.speedup_points import SpeedupPoint, speedup
from scalograph.protocol.facts import Value

# What the machine has to give; more than that no program gets from it.
RESOURCES = ("arithmetic", "memory", "fork", "faults")
# How programs get in their own way: no machine asks for it.
PATTERNS = ("lock", "faults-shared")
WORDS: Mapping[str, str] = {
    "arithmetic": "arithmetic",
    "memory": "memory bandwidth",
    "fork": "making processes",
    "faults": "page faults of several processes",
    "lock": "one lock that is taken all the time",
    "faults-shared": "page faults in one address space",
}
CONFIDENCE = 0.95
# Fewer runs that count make a ceiling that nothing can be held against.
MIN_RUNS = 3


class Timed(Value):
    """The runs of one kind of work on so many CPUs, one worker on each.

    `scores` are seconds, `blocks` the block of each: all that succeeded where fewer than two were not disturbed.
    """

    n_cpus: int = Field(ge=1, le=1 << 20)
    scores: tuple[float, ...] = Field(default=(), max_length=10_000)
    blocks: tuple[int, ...] = Field(default=(), max_length=10_000)
    n_disturbed: int = Field(default=0, ge=0)
    n_failed: int = Field(default=0, ge=0)
    falls_back: bool = Field(default=False, description="rests on disturbed runs")

    @model_validator(mode="after")
    def _one_block_each(self) -> "Timed":
        if len(self.scores) != len(self.blocks):
            raise ValueError(f"blocks: found {len(self.blocks)}, expected one for each of {len(self.scores)} scores")
        return self


class Ceiling(Value):
    """Kind of work -> its runs, fewest CPUs first."""

    at: str = Field(default="", max_length=64, description="UTC, RFC 3339")
    kinds: dict[str, tuple[Timed, ...]] = Field(max_length=64)
    warnings: tuple[str, ...] = ()

    def speedups(self, kind: str, baseline: int = 1) -> dict[int, SpeedupPoint]:
        """CPUs -> speedup of the same total over that on `baseline` CPUs; empty where one of them was not run."""
        return dict(_speedups(self.kinds.get(kind, ()), baseline))

    @property
    def is_sound(self) -> bool:
        """Whether it is worth keeping: enough runs of each count, none of them disturbed."""
        parts = [part for kind in self.kinds.values() for part in kind]
        return bool(parts) and all(len(part.scores) >= MIN_RUNS and not part.falls_back for part in parts)


@lru_cache(maxsize=256)
def _speedups(parts: tuple[Timed, ...], baseline: int) -> Mapping[int, SpeedupPoint]:
    """Asked for by every curve of a study, and its bands are simulated each time."""
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
