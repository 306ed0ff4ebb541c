"""How often does an interval contain the true value?"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np


class Interval(Protocol):
    """Anything with two ends; None if there is no interval."""

    @property
    def low(self) -> float | None:
        """Lower end."""

    @property
    def high(self) -> float | None:
        """Upper end."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Share of intervals that contain the true value.

    Attributes:
        share: between 0 and 1; an interval without ends contains nothing.
        n: intervals counted.
        half_width: median of half the width over the true value (0.05 is +-5 %).
    """

    share: float
    n: int
    half_width: float

    @property
    def error(self) -> float:
        """Standard error of `share`, from the number of intervals alone."""
        return math.sqrt(self.share * (1 - self.share) / self.n)


def coverage(intervals: Iterable[Interval], truth: float) -> Coverage:
    """Count the intervals that contain `truth`, which is not zero.

    Raises:
        ValueError: there are no intervals.
    """
    ends = [(x.low, x.high) for x in intervals]
    if not ends:
        raise ValueError("coverage: found no intervals, expected at least one")
    known = [(low, high) for low, high in ends if low is not None and high is not None]
    held = sum(low <= truth <= high for low, high in known)
    half = float(np.median([high - low for low, high in known])) / 2 / abs(truth) if known else math.inf
    return Coverage(held / len(ends), len(ends), half)
