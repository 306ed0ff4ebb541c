"""What another instrument measured: benchmarks, their forks, and the shots of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Fork:
    """The shots of one process: values, and how often each occurred (some instruments count in bins)."""

    values: Sequence[float]
    counts: Sequence[int]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark with one level of each of its params.

    Attributes:
        unit: of the shots: "s", or "1/s" if they are rates.
        forks: the experimental units; shots of one fork are no replicates.
    """

    name: str
    mode: str
    params: Mapping[str, str]
    unit: Literal["s", "1/s"]
    forks: tuple[Fork, ...]
    threads: int = 1
    batch: int = 1
