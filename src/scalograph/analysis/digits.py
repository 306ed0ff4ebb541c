"""How many digits of a number its interval supports."""

import math

MAX_DIGITS = 7
UNITS_PER_HALF_WIDTH = 3.0  # the last digit shown is at most a third of the interval's half-width


def decimals(value: float | None, low: float | None, high: float | None) -> int:
    """Return how many decimals an interval supports: its half-width is at least 3 units of the last one.

    >>> decimals(1.92, 1.88, 1.96), decimals(512.0, 400.0, 640.0)
    (2, 0)
    """
    known = [x for x in (value, low, high) if x is not None]
    half_width = (max(known) - min(known)) / 2 if low is not None and high is not None else 0.0
    largest = max((abs(x) for x in known), default=0.0)
    most = decimals_of(largest, MAX_DIGITS)
    if half_width <= 0:
        return decimals_of(largest, 4)
    return min(max(step(-half_width, half_width), 0), most)


def enough(x: float | None, digits: int) -> int:
    """Return the decimals for `x` beside numbers with `digits`: at least two significant ones, so that it is never 0.

    >>> enough(0.0029, 0), enough(142.0, 0), enough(0.64, 3)
    (4, 0, 3)
    """
    return max(digits, decimals_of(x, 2)) if x is not None and x > 0 else digits


def step(low: float, high: float) -> int:
    """Return the decimals that an interval supports; below 0 for tens and hundreds.

    >>> step(1.88, 1.96), step(28329.0, 32593.0)
    (2, -2)
    """
    return -math.floor(math.log10((high - low) / 2 / UNITS_PER_HALF_WIDTH) + 1e-9)


def decimals_of(x: float, digits: int) -> int:
    """Return the decimals with which `x` shows so many digits in all, at most 12.

    >>> decimals_of(0.0123, 3), decimals_of(1234.0, 2)
    (4, 0)
    """
    if x == 0:
        return 0
    return min(max(digits - 1 - math.floor(math.log10(abs(x))), 0), 12)
