"""Numbers as people read them: only significant digits, the unit once, and null never as 0."""

import math
from dataclasses import dataclass

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.plain import Level
from scalograph.text.scale import PLAIN, Scale

DASH = "\N{EN DASH}"
MAX_DIGITS = 7
UNITS_PER_HALF_WIDTH = 3.0  # the last digit shown is at most a third of the interval's half-width


@dataclass(frozen=True, slots=True)
class Shown:
    """A formatted estimate: `value` alone, and `interval` with its brackets, or nothing."""

    value: str
    interval: str = ""

    def __str__(self) -> str:
        return f"{self.value} {self.interval}".rstrip()


def number(x: float | None, scale: Scale = PLAIN) -> str:
    """Format a number that has no interval: whole numbers in full, others to six digits.

    >>> number(0), number(1234567), number(43.1763), number(0.25, Scale(1000.0, "ms"))
    ('0', '1,234,567', '43.1763', '250')
    """
    if x is None or not math.isfinite(x):
        return DASH
    scaled = float(x * scale.factor)
    if scaled.is_integer() and abs(scaled) < 1e15:
        return minus(f"{int(scaled):,}")
    if scaled != 0 and not 1e-4 <= abs(scaled) < 1e9:
        return minus(f"{scaled:.3g}")
    return minus(trimmed(f"{scaled:,.{_decimals_of(scaled, 6)}f}"))


def estimate(e: Estimate | None, scale: Scale = PLAIN) -> Shown:
    """Format an estimate with its interval, whose width sets the digits of both.

    >>> str(estimate(Estimate(value=1.9234, low=1.8812, high=1.9613)))
    '1.92 [1.88, 1.96]'
    >>> str(estimate(Estimate(value=1.0, low=1.0, high=1.0))), str(estimate(Estimate(value=0.0)))
    ('1', '0')
    >>> str(estimate(Estimate(value=0.64, low=0.0029, high=142.0)))
    '0.64 [0.0029, 142]'
    """
    if e is None or e.value is None:
        return Shown(DASH)
    if e.low is None and e.high is None:
        return Shown(rounded(e.value * scale.factor, _decimals_of(e.value * scale.factor, 4)))
    if e.low == e.high == e.value:
        return Shown(number(e.value, scale))
    value, low, high = (None if x is None else x * scale.factor for x in (e.value, e.low, e.high))
    digits = decimals(value, low, high)
    if low is not None and low < 0:  # a difference: near 0 the width alone sets the digits
        return Shown(rounded(value, digits), f"[{rounded(low, digits)}, {rounded(high, digits)}]")
    value_, low_, high_ = (rounded(x, enough(x, digits)) for x in (value, low, high))
    return Shown(value_, f"[{low_}, {high_}]")


def enough(x: float | None, digits: int) -> int:
    """Return the decimals for `x` beside numbers with `digits`: at least two significant ones, so that it is never 0.

    >>> enough(0.0029, 0), enough(142.0, 0), enough(0.64, 3)
    (4, 0, 3)
    """
    return max(digits, _decimals_of(x, 2)) if x is not None and x > 0 else digits


def significant(x: float, digits: int = 3) -> str:
    """Format a number to so many significant digits, if its precision is unknown.

    >>> significant(0.0123456), significant(1234.5), significant(0.0)
    ('0.0123', '1,234', '0')
    """
    return rounded(x, _decimals_of(x, digits))


def decimals(value: float | None, low: float | None, high: float | None) -> int:
    """Return how many decimals an interval supports: its half-width is at least 3 units of the last one.

    >>> decimals(1.92, 1.88, 1.96), decimals(512.0, 400.0, 640.0)
    (2, 0)
    """
    known = [x for x in (value, low, high) if x is not None]
    half_width = (max(known) - min(known)) / 2 if low is not None and high is not None else 0.0
    largest = max((abs(x) for x in known), default=0.0)
    most = _decimals_of(largest, MAX_DIGITS)
    if half_width <= 0:
        return _decimals_of(largest, 4)
    return min(max(step(-half_width, half_width), 0), most)


def step(low: float, high: float) -> int:
    """Return the decimals that an interval supports; below 0 for tens and hundreds.

    >>> step(1.88, 1.96), step(28329.0, 32593.0)
    (2, -2)
    """
    return -math.floor(math.log10((high - low) / 2 / UNITS_PER_HALF_WIDTH) + 1e-9)


def rounded(x: float | None, digits: int) -> str:
    """Format `x` with so many decimals; scientific if that would print only zeros or too many digits."""
    if x is None:
        return DASH
    if x != 0 and not 1e-5 <= abs(x) < 1e12:
        return minus(f"{x:.3g}")
    text = f"{x:,.{digits}f}"
    return minus(text) if text.strip("-0.,") else text.removeprefix("-")


def minus(text: str) -> str:
    """Return a number with the sign that is as wide as a digit.

    >>> minus("-1e-05"), minus("3")
    ('−1e-05', '3')
    """  # noqa: RUF002  the sign that people read
    return f"\N{MINUS SIGN}{text[1:]}" if text.startswith("-") else text


def level_text(level: Level, unit: str = "") -> str:
    """Format a level of a factor for a table.

    >>> level_text(True), level_text(8), level_text(0.5, "ms"), level_text("none"), level_text("")
    ('true', '8', '0.5 ms', 'none', '(empty)')
    """
    if isinstance(level, bool):
        return "true" if level else "false"
    if isinstance(level, str):
        return level or "(empty)"
    text = f"{level:.12g}" if isinstance(level, float) else str(level)
    return text if unit in ("", "1") else f"{text} {'%' if unit == 'percent' else unit}"


def version_name(factor: str, level: Level) -> str:
    """Name a level that a sentence calls faster; a bare number would be read as a measure of the gain.

    >>> version_name("version", "stream"), version_name("buffer_size", 8)
    ('stream', 'buffer size 8')
    """
    return level if isinstance(level, str) else f"{factor.replace('_', ' ')} {level:.6g}"


def _decimals_of(x: float, digits: int) -> int:
    """Return the decimals with which `x` shows so many digits in all."""
    if x == 0:
        return 0
    return min(max(digits - 1 - math.floor(math.log10(abs(x))), 0), 12)


def trimmed(text: str) -> str:
    """Return a number without zeros at its end that stand behind the point."""
    return text.rstrip("0").rstrip(".") if "." in text else text
