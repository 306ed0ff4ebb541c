"""The estimate: a value with its interval, method and warnings; and the digits that an interval supports."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from statistics import NormalDist
from typing import Self

MAX_DIGITS = 7
UNITS_PER_HALF_WIDTH = 3.0  # the last digit shown is at most a third of the interval's half-width


def decimals(value: float | None, low: float | None, high: float | None) -> int:
    """Return the decimals that an interval supports: its half-width is at least 3 units of the last one.

    >>> decimals(1.92, 1.88, 1.96), decimals(512.0, 400.0, 640.0)
    (2, 0)
    """
    numbers = [x for x in (value, low, high) if x is not None]
    half_width = (max(numbers) - min(numbers)) / 2 if low is not None and high is not None else 0.0
    largest = max((abs(x) for x in numbers), default=0.0)
    most = decimals_of(largest, MAX_DIGITS)
    if half_width <= 0:
        return decimals_of(largest, 4)
    return min(max(interval_decimals(-half_width, half_width), 0), most)


def decimals_beside(x: float | None, digits: int) -> int:
    """Return the decimals of `x` beside numbers with `digits`: enough for two significant digits.

    >>> decimals_beside(0.0029, 0), decimals_beside(142.0, 0), decimals_beside(0.64, 3)
    (4, 0, 3)
    """
    return max(digits, decimals_of(x, 2)) if x is not None and x > 0 else digits


def interval_decimals(low: float, high: float) -> int:
    """Return the decimals that the ends of an interval support; below 0 for tens and hundreds.

    >>> interval_decimals(1.88, 1.96), interval_decimals(28329.0, 32593.0)
    (2, -2)
    """
    return -math.floor(math.log10((high - low) / 2 / UNITS_PER_HALF_WIDTH) + 1e-9)


def decimals_of(x: float, digits: int) -> int:
    """Return the decimals with which `x` shows `digits` significant digits, at most 12.

    >>> decimals_of(0.0123, 3), decimals_of(1234.0, 2)
    (4, 0)
    """
    if x == 0:
        return 0
    return min(max(digits - 1 - math.floor(math.log10(abs(x))), 0), 12)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its confidence interval.

    Attributes:
        value: None if there were no data for one.
        low: lower end of the interval; None if it is unknown or unbounded (a warning says which).
        high: upper end of the interval; None as for `low`.
        confidence: nominal coverage of the interval, between 0 and 1.
        n: number of runs (of pairs, if the method is paired).
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
        return iter((self.low, self.value, self.high))

    def __float__(self) -> float:
        """Return the value. Raises ValueError where there is none, with the warnings that say why."""
        if self.value is None:
            raise ValueError(f"no value: {'; '.join(self.warnings) or 'no data'}")
        return self.value

    def __format__(self, spec: str) -> str:
        """Format value and interval with the digits that the interval supports, or by `spec`.

        >>> f"{Estimate(1.8312, 1.6803, 1.9911)}", f"{Estimate(1.8312, 1.6803, 1.9911):.1f}"
        ('1.83 [1.68, 1.99]', '1.8 [1.7, 2.0]')
        >>> f"{Estimate(0.64, 0.0029, 142.0)}", f"{Estimate(1000.0)}"
        ('0.64 [0.0029, 142]', '1,000')
        """
        digits = decimals(self.value, self.low, self.high)
        none, ends = "?" if spec else "\N{EN DASH}", (self.value, self.low, self.high)
        value, low, high = (none if x is None else format(x, spec or f",.{decimals_beside(x, digits)}f") for x in ends)
        return value if self.low is None and self.high is None else f"{value} [{low}, {high}]"

    def reaches(self, least: float) -> bool | None:
        """Tell whether the whole interval is at `least` or above; None if it holds `least`, or an end is unknown.

        >>> [Estimate(2.0, 1.5, 2.5).reaches(least) for least in (1.5, 2.0, 2.6)]
        [True, None, False]
        """
        if self.low is not None and self.low >= least:
            return True
        return False if self.high is not None and self.high < least else None

    def contains(self, x: float) -> bool:
        """Tell whether the interval covers `x`; without an interval it does not."""
        return self.low is not None and self.high is not None and self.low <= x <= self.high

    def clip_at_zero(self) -> Self:
        """Return the estimate with an interval that begins at 0 at least, for quantities that are never negative.

        A t interval of a mean of times may reach below 0; the truth does not lie there, so coverage is the same.

        >>> Estimate(1.0, -0.5, 2.5).clip_at_zero().low
        0.0
        """
        return self if self.low is None or self.low >= 0 else replace(self, low=0.0)

    def rescale(self, factor: float) -> Self:
        """Return the estimate times `factor`, above zero: the same in another unit."""
        if not factor > 0:
            raise ValueError(f"scaled: found factor {factor}, expected a number above zero")
        ends = (self.value, self.low, self.high)
        value, low, high = (None if x is None else finite(x * factor) for x in ends)
        return replace(self, value=value, low=low, high=high)

    def widen(self, half_log: float) -> Self:
        """Return the estimate with both ends moved outward by a factor, given as a log of at least 0.

        >>> Estimate(2.0, 1.0, 4.0).widen(math.log(2)).high
        8.0
        """
        if half_log <= 0:
            return self
        low, high = (
            None if x is None else finite(x * math.exp(way * half_log)) for x, way in ((self.low, -1), (self.high, 1))
        )
        return replace(self, low=low, high=high)

    def plus(self, amount: float) -> Self:
        """Return the estimate plus an amount."""
        value, low, high = (None if x is None else x + amount for x in (self.value, self.low, self.high))
        return replace(self, value=value, low=low, high=high)

    def add_warnings(self, *warnings: str) -> Self:
        """Return the estimate with further warnings, none of them twice."""
        return replace(self, warnings=tuple(dict.fromkeys((*self.warnings, *warnings)))) if warnings else self


def unknown_estimate(method: str, confidence: float, n: int, *warnings: str) -> Estimate:
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


MOST_LOG = 300.0  # larger logs are of no measured ratio


def exp(x: float) -> float | None:
    """Return the exponential of `x`, or None if it exceeds what a float can hold."""
    return math.exp(x) if x < 709.0 else None


def check_confidence(confidence: float) -> None:
    """Raise ValueError unless `confidence` lies between 0 and 1, both excluded."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence: found {confidence}, expected a number between 0 and 1, such as 0.95")


# Codes of the flags of a law that the points contradict: none of its values is reported.
NO_LAW = ("lack of fit", "superlinear", "gamma", "peak elsewhere")
# Code of a law that was fitted to more workers than CPUs: its sigma is no serial share.
BEYOND_CPUS = "beyond the CPUs"


@dataclass(frozen=True, slots=True)
class Flag:
    """A warning beside a value.

    Attributes:
        code: the same for all flags of a kind; empty if a document of protocol 1 has none.
        text: for people; no program reads it.
        amount: its size in the unit that the text names; None if it has no size.
    """

    code: str
    text: str
    amount: float | None = None


def join_flags(flags: Iterable[Flag]) -> str:
    """Join the texts of flags for a cell of a table.

    >>> join_flags([Flag("a", "one"), Flag("b", "two", 2)])
    'one; two'
    """
    return "; ".join(flag.text for flag in flags)


METHOD = "share of observations, Wilson's interval"


def proportion(n_least: int, n_most: int, n: int, confidence: float) -> Estimate:
    """Estimate a share from `n` independent observations, of which `n_least` to `n_most` have the property.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, Journal of the American
    Statistical Association 22 (1927), 209-212.

    >>> estimate = proportion(5, 5, 10, 0.95)
    >>> estimate.value, round(estimate.low, 3), round(estimate.high, 3)
    (0.5, 0.237, 0.763)
    """
    if not n:
        return unknown_estimate(METHOD, confidence, 0, "no observation")
    low, high = _wilson(n_least / n, n, confidence)[0], _wilson(n_most / n, n, confidence)[1]
    # Exactly so, where rounding leaves 3e-17.
    low, high = low if n_least else 0.0, high if n_most < n else 1.0
    return Estimate(n_least / n, low, high, confidence, n, METHOD)


def _wilson(share: float, n: int, confidence: float) -> tuple[float, float]:
    from scipy.stats import norm  # half a second, which most commands do not have to wait for

    z = float(norm.ppf((1 + confidence) / 2))
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def count_ratio(first: tuple[int, int], second: tuple[int, int], spread: float, confidence: float = 0.95) -> Estimate:
    """Return the ratio of two rates of counted events; each is (events, runs).

    Args:
        first: of the rate above.
        second: of the rate below.
        spread: variance of the count of a run over its mean; events that come in clusters have more than 1.
        confidence: of the interval.

    >>> round(count_ratio((41, 2), (801, 462), 1.0).value or 0.0, 1)
    12.0
    """
    # Half an event more on each side: a rate of none has a log.
    (above, n_above), (below, n_below) = ((events + 0.5, runs) for events, runs in (first, second))
    value, width = math.log(above / n_above * n_below / below), sqrt(max(1.0, spread) * (1 / above + 1 / below))
    half = NormalDist().inv_cdf((1 + confidence) / 2) * width
    low, middle, high = (math.exp(log) for log in (value - half, value, value + half))
    method = "ratio of counts, normal interval of its log"
    return Estimate(middle, low, high, confidence, n_above + n_below, method)
