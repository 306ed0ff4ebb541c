"""What is an estimate? A value that never travels without its interval, its method and its warnings."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from scalograph.analysis.digits import decimals, enough


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number, its interval, and what a reader must know about both.

    Attributes:
        value: the estimate, or None if there were no data for one.
        low: lower end of the interval; None if it is unknown or unbounded (a warning says which).
        high: upper end of the interval; None as for `low`.
        confidence: nominal coverage of the interval, between 0 and 1.
        n: runs behind the estimate (pairs, if the method is paired).
        method: the estimand and the procedure, in words.
        warnings: what was needed and what was available.

    >>> Estimate(2.0, 1.5, 2.5, 0.95, 5, "an example").contains(1.6)
    True
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    confidence: float = 0.95
    n: int = 0
    method: str = ""
    warnings: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[float | None]:
        """Yield lower end, value and upper end: `low, value, high = estimate`."""
        return iter((self.low, self.value, self.high))

    def __float__(self) -> float:
        """Return the value. Raises ValueError where there is none, with the warnings that say why."""
        if self.value is None:
            raise ValueError(f"no value: {'; '.join(self.warnings) or 'no data'}")
        return self.value

    def __format__(self, spec: str) -> str:
        """Format value and interval, with the digits that the interval supports, or each by `spec`.

        >>> f"{Estimate(1.8312, 1.6803, 1.9911)}", f"{Estimate(1.8312, 1.6803, 1.9911):.1f}"
        ('1.83 [1.68, 1.99]', '1.8 [1.7, 2.0]')
        >>> f"{Estimate(0.64, 0.0029, 142.0)}", f"{Estimate(1000.0)}"
        ('0.64 [0.0029, 142]', '1,000')
        """
        digits = decimals(self.value, self.low, self.high)
        none, ends = "?" if spec else "\N{EN DASH}", (self.value, self.low, self.high)
        value, low, high = (none if x is None else format(x, spec or f",.{enough(x, digits)}f") for x in ends)
        return value if self.low is None and self.high is None else f"{value} [{low}, {high}]"

    def contains(self, x: float) -> bool:
        """Tell whether the interval covers `x`; an estimate without an interval covers nothing."""
        return self.low is not None and self.high is not None and self.low <= x <= self.high

    def from_zero(self) -> Self:
        """Return the estimate of what is never negative: its interval begins at 0 where it would begin below.

        The intervals of times are on logs; where a run took 0 there are none, and a t interval of the mean may reach
        below. Truth does not lie there, so coverage is the same.

        >>> Estimate(1.0, -0.5, 2.5).from_zero().low
        0.0
        """
        return self if self.low is None or self.low >= 0 else replace(self, low=0.0)

    def scaled(self, factor: float) -> Self:
        """Return the estimate in another unit: value and interval times `factor`, which is above zero."""
        if not factor > 0:
            raise ValueError(f"scaled: found factor {factor}, expected a number above zero")
        ends = (self.value, self.low, self.high)
        value, low, high = (None if x is None else finite(x * factor) for x in ends)
        return replace(self, value=value, low=low, high=high)

    def plus(self, amount: float) -> Self:
        """Return the estimate moved by `amount`: a ratio minus one is a gain."""
        value, low, high = (None if x is None else x + amount for x in (self.value, self.low, self.high))
        return replace(self, value=value, low=low, high=high)

    def warned(self, *warnings: str) -> Self:
        """Return the estimate with further warnings, none of them twice."""
        if not warnings:
            return self
        return replace(self, warnings=tuple(dict.fromkeys((*self.warnings, *warnings))))


def unknown(method: str, confidence: float, n: int, *warnings: str) -> Estimate:
    """Return an estimate without a value, with the reason as a warning."""
    return Estimate(None, None, None, confidence, n, method, tuple(warnings))


def need_runs(needed: int, have: Sequence[int] | int, purpose: str = "an interval") -> str:
    """Return the warning for too few runs, the same in every statistic.

    >>> need_runs(2, 1)
    'need >= 2 runs for an interval, have 1'
    >>> need_runs(2, (1, 5))
    'need >= 2 runs each for an interval, have 1 and 5'
    """
    if needed == 1:
        return "no run that counts"
    if isinstance(have, int):
        return f"need >= {needed} runs for {purpose}, have {have}"
    return f"need >= {needed} runs each for {purpose}, have {' and '.join(str(n) for n in have)}"


def finite(x: float) -> float | None:
    """Return `x`, or None if it is not finite.

    >>> finite(0.0), finite(float("inf"))
    (0.0, None)
    """
    return float(x) if math.isfinite(x) else None


# A log beyond this is of no ratio that anything is measured with.
MOST_LOG = 300.0


def exp(x: float) -> float | None:
    """Return the exponential of `x`, or None if it exceeds what a float can hold."""
    return math.exp(x) if x < 709.0 else None


def check_confidence(confidence: float) -> None:
    """Raise ValueError unless `confidence` lies between 0 and 1, both excluded."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence: found {confidence}, expected a number between 0 and 1, such as 0.95")
