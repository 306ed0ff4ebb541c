"""Effects of versions on the log of a time, from blocks that hold a version and both ends.

In a block, the version v, the good end g and the bad end b run one after the other, so that what the machine does
cancels. With independent errors of variance s^2, b - g estimates the whole change with 2 s^2, and v - (g + b) / 2,
which does not depend on it, the place of v between the ends with 1.5 s^2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, median
from typing import NamedTuple

from scalograph.analysis.quantiles import student_t

# Runs beyond so many standard deviations are drawn in to there: a single slow run must not place a commit. The factor
# is the variance of normal errors over that of such errors.
CLIP, CLIPPED = 2.5, 1.05
MAD = 1.4826  # standard deviation of normal errors over their median distance
ENDS, BETWEEN = 2.0, 1.5  # variances of both contrasts, in those of a run


class Block(NamedTuple):
    """Log times of one block; `version` is None where it held the ends alone."""

    level: int
    good: float
    version: float | None
    bad: float


@dataclass(frozen=True)
class Effect:
    """A change of a log time: its value, its standard error, and the blocks that it rests on."""

    value: float
    error: float
    n: int

    def exceeds(self, limit: float, quantile: float) -> bool:
        """Tell whether the change is surely above a limit, which may be negative."""
        return self.value - limit > quantile * self.error


@dataclass(frozen=True)
class Effects:
    """What blocks say of the versions.

    Attributes:
        whole: the change from the good end to the bad one.
        between: level -> its place between the ends: 0 in the middle, half the change at the bad end.
        sigma: standard deviation of the log time of one run, drift of the machine removed.
        freedom: degrees of freedom of `sigma`.
    """

    whole: Effect
    between: Mapping[int, Effect]
    sigma: float
    freedom: int

    def quantile(self, level: float) -> float:
        """Return how many standard errors a change has to be away from zero, at an error rate on one side."""
        return student_t(1 - level, max(1, self.freedom))

    def change(self, first: int, last: int, ends: tuple[int, int]) -> Effect:
        """Return the change between two levels, of which the ends are never measured apart."""
        if (first, last) == ends:
            return self.whole
        half = self.whole
        if first == ends[0] or last == ends[1]:
            other = self.between[last if first == ends[0] else first]
            sign = 1 if first == ends[0] else -1
            return Effect(half.value / 2 + sign * other.value, sqrt(half.error**2 / 4 + other.error**2), other.n)
        a, b = self.between[first], self.between[last]
        return Effect(b.value - a.value, sqrt(a.error**2 + b.error**2), min(a.n, b.n))


def effects(blocks: Sequence[Block]) -> Effects:
    """Estimate the effects of versions from at least two blocks."""
    whole = [block.bad - block.good for block in blocks]
    groups: dict[int, list[float]] = {}
    for block in blocks:
        if block.version is not None:
            groups.setdefault(block.level, []).append(block.version - (block.good + block.bad) / 2)
    samples = [(whole, ENDS), *((group, BETWEEN) for group in groups.values())]
    # Scaled so that each has the variance of a run.
    apart = [
        (x - median(xs)) / sqrt(variance * (1 - 1 / len(xs)))
        for xs, variance in samples if len(xs) > 1 for x in xs
    ]  # fmt: skip
    rough = MAD * median([abs(x) for x in apart if x] or [1e-9])
    freedom = sum(len(xs) - 1 for xs, _ in samples)
    squares = [min(abs(x), CLIP * rough) ** 2 for x in apart]
    sigma = sqrt(CLIPPED * fmean(squares))
    return Effects(
        whole=_effect(whole, ENDS, sigma),
        between={level: _effect(group, BETWEEN, sigma) for level, group in groups.items()},
        sigma=sigma,
        freedom=freedom,
    )


def _effect(sample: Sequence[float], variance: float, sigma: float) -> Effect:
    """Take the mean, runs that are far away drawn in; where two disagree beyond chance, both count less."""
    middle, reach = median(sample), CLIP * sigma * sqrt(variance)
    value = fmean(min(max(x, middle - reach), middle + reach) for x in sample)
    error = sigma * sqrt(variance / len(sample))
    if len(sample) == 2 and abs(sample[0] - sample[1]) > 2 * reach:
        error = abs(sample[0] - sample[1])
    return Effect(value, error, len(sample))
