"""Shares, ratios, sizes and counts for sentences: few digits, with the unit."""

import math
from dataclasses import replace

from scalograph.analysis.estimate import Estimate, decimals, decimals_beside, decimals_of
from scalograph.text.cell_numbers import INCONCLUSIVE, WIDEST
from scalograph.text.format import estimate, format_rounded, use_minus_sign

_GIB = float(1 << 30)


def two_digits(percent: float) -> str:
    """Format a number with two digits, never with an exponent.

    >>> two_digits(1.234), two_digits(0.999999), two_digits(128.4)
    ('1.2', '1', '128')
    """
    return f"{percent:.2g}" if abs(percent) < 99.5 else f"{percent:.0f}"


def percent(share: float) -> str:
    """Format a share in whole percent.

    >>> percent(0.973), percent(0.2)
    ('97%', '20%')
    """
    return f"{100 * share:.0f}%"


def plus_minus(share: float) -> str:
    """Format the half-width of an interval as a share of its value.

    >>> plus_minus(0.0412), plus_minus(0.0031), plus_minus(0.43)
    ('±4.1%', '±0.3%', '±43%')
    """
    shown = f"{100 * share:.1g}" if share < 0.01 else two_digits(100 * share)
    return f"\N{PLUS-MINUS SIGN}{shown}%"


def probability(share: float) -> str:
    """Format a probability in whole percent; it is never 0 and never 100.

    >>> probability(0.004), probability(0.97), probability(0.998)
    ('less than 1%', '97%', 'more than 99%')
    """
    if share > 0.99:
        return "more than 99%"
    return "less than 1%" if share < 0.01 else percent(share)


def exact_percent(share: float) -> str:
    """Format a share as it was given, in percent.

    >>> exact_percent(0.005), exact_percent(0.02)
    ('0.5%', '2%')
    """
    return f"{100 * share:g}%"


def percent_at_most(share: float) -> str:
    """Format a share rounded up, so that "at most" holds.

    >>> percent_at_most(0.0211), percent_at_most(0.301)
    ('2.2%', '31%')
    """
    tenths = math.ceil(round(1000 * share, 6))
    return f"{tenths / 10:g}%" if tenths < 100 else f"{math.ceil(tenths / 10)}%"


def percents(low: float, high: float) -> str:
    """Format a range of shares.

    >>> percents(0.041, 0.062), percents(-0.02, 0.09)
    ('4 to 6%', '−2 to 9%')
    """
    digits = 0 if high - low >= 0.01 or max(abs(low), abs(high)) >= 0.1 else 1
    ends = [use_minus_sign(f"{100 * x:.{digits}f}") for x in (low, high)]
    return f"{ends[0]} to {ends[1]}%" if ends[0] != ends[1] else f"{ends[0]}%"


def times(speedup: Estimate | None) -> str:
    """Format a speedup, with its interval if it has one that is wider than a point.

    >>> times(Estimate(1.314, 1.25, 1.38, 0.95, 5, "t")), times(None)
    ('1.31× [1.25, 1.38]', 'unknown')
    >>> times(Estimate(0.962, 0.95, 0.974))
    '0.962× [0.950, 0.974]'
    >>> times(Estimate(1.504, 1.483, 1.526)), times(Estimate(2.0, 2.0, 2.0000001))
    ('1.50× [1.48, 1.53]', '2.00× [2.00, 2.00]')
    """
    if speedup is None or speedup.value is None:
        return "unknown"
    if speedup.low is None or speedup.high is None or speedup.low == speedup.high:
        return f"{speedup.value:.3g}×"
    digits = min(decimals(speedup.value, speedup.low, speedup.high), decimals_of(speedup.value, 3))
    value, low, high = (
        format_rounded(x, decimals_beside(x, digits)) for x in (speedup.value, speedup.low, speedup.high)
    )
    return f"{value}× [{low}, {high}]"


def change(ratio: Estimate, noun: str, over: str = "") -> str:
    """Format a ratio over a base as percent more or less, from a factor of 2 on as a multiple.

    >>> change(Estimate(1.22, 1.18, 1.25), "time"), change(Estimate(0.957, 0.954, 0.96), "time", "old")
    ('22% more time [18, 25]', '4.3% less time than old [4.0, 4.6]')
    >>> change(Estimate(4.41, 4.2, 4.6), "time", "old"), change(Estimate(3.0, 1.0, 9.0), "time")
    ('4.41× the time of old [4.20, 4.60]', 'inconclusive')
    >>> change(Estimate(4.79747, 4.79747, 4.79747), "threads")
    '4.8× the threads'
    """
    if ratio.value is None or ratio.low is None or ratio.high is None or ratio.high > WIDEST * ratio.low:
        return INCONCLUSIVE
    if not 0.5 < ratio.value < 2:
        shown = estimate(ratio)
        value = shown.value if ratio.low < ratio.high else f"{ratio.value:.3g}"  # counts have no last digit
        return f"{value}× the {noun}{over and f' of {over}'} {shown.interval}".rstrip()
    word, sign = ("more", 1) if ratio.value >= 1 else ("less", -1)
    low, high = sorted(100 * sign * (end - 1) for end in (ratio.low, ratio.high))
    shown = estimate(replace(ratio, value=100 * sign * (ratio.value - 1), low=low, high=high))
    return f"{shown.value}% {word} {noun}{over and f' than {over}'} {shown.interval}".rstrip()


def inverse(ratio: Estimate) -> Estimate:
    """Return one over a ratio above zero."""
    value, low, high = (1 / x if x else None for x in (ratio.value, ratio.high, ratio.low))
    return replace(ratio, value=value, low=low, high=high)


def response_ratio(gain: Estimate, better: str) -> Estimate:
    """Return the ratio of the values of a response, as they are measured, of a ratio of performances.

    >>> response_ratio(Estimate(2.0), "lower").value, response_ratio(Estimate(2.0), "higher").value
    (0.5, 2.0)
    """
    return gain if better == "higher" else inverse(gain)


def ends(ratio: Estimate) -> str:
    """Format the interval of a ratio.

    >>> ends(Estimate(1.0, 0.973, 1.032))
    '0.973× to 1.032×'
    """
    digits = decimals(ratio.value, ratio.low, ratio.high)
    return f"{format_rounded(ratio.low, digits)}× to {format_rounded(ratio.high, digits)}×"


def gibibytes(n_bytes: float) -> str:
    """Format a size in GiB.

    >>> gibibytes(3 * 2**29)
    '1.5 GiB'
    """
    return f"{n_bytes / _GIB:.3g} GiB"


def mebibytes(n_bytes: float) -> str:
    """Format a size in MiB.

    >>> mebibytes(3 * 2**19)
    '1.5 MiB'
    """
    return f"{n_bytes / 2**20:.3g} MiB"


def count_noun(n: int, noun: str) -> str:
    """Format a count of things.

    >>> count_noun(1, "run"), count_noun(1980, "run")
    ('1 run', '1,980 runs')
    """
    return f"{n:,} {noun}{'s' * (n != 1)}"


MAX_FACTOR = 100.0  # beyond that a value lies at the very end of the range: no number is reported


def runs_needed_text(times: float | None) -> str:
    """Say how many times as many runs may decide a claim; empty if that is unknown."""
    if times is None:
        return ""
    if times > MAX_FACTOR:
        return f"more than {MAX_FACTOR:.0f} times as many runs may be needed"
    n = math.ceil(times)
    return f"about {'twice' if n <= 2 else f'{n} times'} as many runs may decide it"


def excess_memory(most_gib: float | None, memory_bytes: object) -> str:
    """Say that a machine has more memory than something needs; empty where it has not, or none is known.

    >>> excess_memory(1, 24 << 30), excess_memory(1, 1 << 30), excess_memory(None, 1)
    ('it needs a machine with at most 1 GiB, this one has 24 GiB', '', '')
    """
    if not most_gib or not isinstance(memory_bytes, int) or memory_bytes <= most_gib * _GIB:
        return ""
    return f"it needs a machine with at most {most_gib:g} GiB, this one has {gibibytes(memory_bytes)}"


def cpus(n: int) -> str:
    return count_noun(n, "CPU")


def axis_value(level: object) -> str:
    """Format a number on an axis; other levels as they are.

    >>> axis_value(1234.5), axis_value(0.1234), axis_value("none")
    ('1234', '0.123', 'none')
    """
    if not isinstance(level, int | float):
        return str(level)
    return f"{level:.0f}" if abs(level) >= 1000 else f"{level:.3g}"


def megabytes(n_bytes: float) -> str:
    """Format the size of a file in MB.

    >>> megabytes(725_113), megabytes(261_000_000), megabytes(3_612)
    ('0.73 MB', '261 MB', '0.0036 MB')
    """
    return f"{two_digits(n_bytes / 1e6)} MB"
