"""Numbers, estimates, levels and CPU lists for people: significant digits, the unit once, null never as 0."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from scalograph.analysis.estimate import Estimate, decimals, decimals_beside, decimals_of
from scalograph.protocol.plain import Level
from scalograph.text.scale import PLAIN, Scale

DASH = "\N{EN DASH}"


@dataclass(frozen=True, slots=True)
class Shown:
    """A formatted estimate: value, and interval with its brackets, or nothing."""

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
        return use_minus_sign(f"{int(scaled):,}")
    if scaled != 0 and not 1e-4 <= abs(scaled) < 1e9:
        return use_minus_sign(f"{scaled:.3g}")
    return use_minus_sign(trim_zeros(f"{scaled:,.{decimals_of(scaled, 6)}f}"))


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
        return Shown(format_rounded(e.value * scale.factor, decimals_of(e.value * scale.factor, 4)))
    if e.low == e.high == e.value:
        return Shown(number(e.value, scale))
    value, low, high = (None if x is None else x * scale.factor for x in (e.value, e.low, e.high))
    digits = decimals(value, low, high)
    if low is not None and low < 0:  # a difference: near 0 the width alone sets the digits
        return Shown(format_rounded(value, digits), f"[{format_rounded(low, digits)}, {format_rounded(high, digits)}]")
    value_, low_, high_ = (format_rounded(x, decimals_beside(x, digits)) for x in (value, low, high))
    return Shown(value_, f"[{low_}, {high_}]")


def significant(x: float, digits: int = 3) -> str:
    """Format a number of unknown precision to significant digits.

    >>> significant(0.0123456), significant(1234.5), significant(0.0)
    ('0.0123', '1,234', '0')
    """
    return format_rounded(x, decimals_of(x, digits))


def format_rounded(x: float | None, digits: int) -> str:
    """Format `x` with decimals; scientific if that would print only zeros or too many digits."""
    if x is None:
        return DASH
    if x != 0 and not 1e-5 <= abs(x) < 1e12:
        return use_minus_sign(f"{x:.3g}")
    text = f"{x:,.{digits}f}"
    return use_minus_sign(text) if text.strip("-0.,") else text.removeprefix("-")


def use_minus_sign(text: str) -> str:
    """Return a formatted number with a minus sign that is as wide as a digit.

    >>> use_minus_sign("-1e-05"), use_minus_sign("3")
    ('−1e-05', '3')
    """
    return f"\N{MINUS SIGN}{text[1:]}" if text.startswith("-") else text


def level_text(level: Level, unit: str = "") -> str:
    """Format a level of a factor for a chart, a matrix or a sentence.

    >>> level_text(True), level_text(1048576), level_text(0.5, "ms"), level_text("none"), level_text("")
    ('true', '1,048,576', '0.5 ms', 'none', '(empty)')
    """
    if isinstance(level, bool):
        return "true" if level else "false"
    if isinstance(level, str):
        return level or "(empty)"
    text = f"{level:,.12g}" if isinstance(level, float) else f"{level:,}"
    return text if unit in ("", "1") else f"{text} {'%' if unit == 'percent' else unit}"


def declared_text(level: float) -> str:
    """Format a level as a study declares it, without separators, so that it can be copied.

    >>> declared_text(1048576), declared_text(0.5)
    ('1048576', '0.5')
    """
    return f"{level:.12g}" if isinstance(level, float) else str(level)


def version_name(factor: str, level: Level) -> str:
    """Name a level that a sentence calls faster; a bare number would be read as a speedup.

    >>> version_name("version", "stream"), version_name("buffer_size", 65536)
    ('stream', 'buffer size 65,536')
    """
    return level if isinstance(level, str) else f"{factor.replace('_', ' ')} {level_text(level)}"


def trim_zeros(text: str) -> str:
    """Return a formatted number without trailing zeros."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_cpu_list(cpus: Iterable[int]) -> str:
    """Format CPU numbers as a kernel CPU list.

    >>> format_cpu_list([8, 0, 1, 2])
    '0-2,8'
    """
    runs: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def named_cpus(cpus: Iterable[int]) -> str:
    """Name CPUs in a sentence.

    >>> named_cpus([1]), named_cpus([0, 1])
    ('CPU 1', 'CPUs 0-1')
    """
    numbers = set(cpus)
    return f"CPU{'s' * (len(numbers) != 1)} {format_cpu_list(numbers)}"
