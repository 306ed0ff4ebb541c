"""An estimate in the few characters that a matrix has for it."""

import math

from scalograph.analysis.estimate import Estimate, step
from scalograph.protocol.findings import Matrix
from scalograph.protocol.plain import Level
from scalograph.text.format import DASH, level_text, minus, number, significant, trimmed
from scalograph.text.scale import PLAIN, Scale, scale_for
from scalograph.text.short_names import COUNTS, is_counted, short_setting

# Ends farther apart than this are no number, and halves of an interval more unlike than this are told as its ends.
WIDEST, LOPSIDED = 2.0, 1.5
NOT_RESOLVED = "not resolved"
EXACT = 1e-4  # an interval narrower than such a share of its value is none
NARROW = 0.1  # an interval within so much of its value is told as a share of it, however unlike its halves


def compact(estimate: Estimate | None, scale: Scale = PLAIN, tight: bool = False) -> str:
    """Format an estimate with its interval, whose width sets the digits of both, as a share of it.

    Args:
        estimate: with any interval.
        scale: in which it is told.
        tight: tell the wider half of a lopsided interval, too, where there is no room for both ends.

    >>> compact(Estimate(1.94, 1.81, 2.07)), compact(Estimate(1.0, 0.4, 3.0)), compact(Estimate(3.0))
    ('1.94 ±7 %', 'not resolved', '3')
    >>> compact(Estimate(0.5, 0.45, 0.75)), compact(Estimate(0.5, 0.45, 0.75), tight=True), compact(None)
    ('0.50 [0.45, 0.75]', '0.50 ±50 %', '–')
    >>> compact(Estimate(30461, 28329, 32593)), compact(Estimate(-13.2, -23.4, -3.8))
    ('30,500 ±7 %', '−13 [−23, −4]')
    """  # noqa: RUF002  the signs that people read
    if estimate is None or estimate.value is None:
        return DASH
    value = float(estimate.value * scale.factor)
    if estimate.low is None or estimate.high is None or estimate.high - estimate.low <= EXACT * abs(estimate.value):
        return number(round(value)) if math.isclose(value, round(value)) else significant(value)
    low, high = estimate.low * scale.factor, estimate.high * scale.factor
    digits = step(low, high)
    if high < 0:  # a difference
        return _ends(value, low, high, digits)
    if low <= 0 or high / low > WIDEST:
        return NOT_RESOLVED
    below, above = value - low, high - value
    share = 100 * max(below, above) / value
    if not tight and max(below, above) > LOPSIDED * min(below, above) and share > 100 * NARROW:
        return _ends(value, low, high, digits)
    return f"{at_step(value, digits, False)} \N{PLUS-MINUS SIGN}{_at_most(share)} %"


def matrix_scale(matrix: Matrix) -> Scale:
    """Return the unit in which the numbers of a claim read best; the figure that shows it takes the same."""
    return scale_for(matrix.unit, [c.estimate.value for row in matrix.rows for c in row.cells if c.estimate])


def _ends(value: float, low: float, high: float, digits: int) -> str:
    return "{} [{}, {}]".format(*(at_step(x, digits, False) for x in (value, low, high)))


def at_step(x: float, digits: int, is_trimmed: bool = True) -> str:
    """Round to tens and hundreds, too, where the interval carries no more."""
    text = minus(f"{round(x, digits):,.{max(digits, 0)}f}")
    return trimmed(text) if is_trimmed else text


def _at_most(share: float) -> str:
    """Round up, to whole percent from 1 on, below to one digit."""
    places = 0 if share > 1 else -math.floor(math.log10(share))
    return f"{math.ceil(round(share * 10**places, 6)) / 10**places:g}"


def is_resolved(e: Estimate) -> bool:
    """Tell whether an interval is narrow enough for its value to be said."""
    low, high = e.low or 0.0, e.high or 0.0
    return e.value is not None and 0 < low <= high <= WIDEST * low


def spoken(e: Estimate, scale: Scale = PLAIN, ends: bool = True) -> str:
    """Say a value, with the ends of its interval or without.

    >>> spoken(Estimate(33760, 25540, 44540)), spoken(Estimate(153.4, 140.5, 167.5), ends=False)
    ('34,000 [26,000, 45,000]', '153')
    >>> spoken(Estimate(2.0, 1.0, 3.0))
    'not resolved'
    """
    if not is_resolved(e):
        return NOT_RESOLVED
    low, value, high = ((x or 0) * scale.factor for x in (e.low, e.value, e.high))
    digits = step(low, high) if low < high else 3 - math.ceil(math.log10(value))
    shown, *both = (at_step(x, digits, is_trimmed=False) for x in (value, low, high))
    return f"{shown} [{', '.join(both)}]" if ends else shown


def sentence(text: str) -> str:
    """Begin with a capital."""
    return text[0].upper() + text[1:]


def amount(title: str, unit: str, *levels: Level, joined: str = " to ") -> str:
    """Say levels of a factor, those of a count before their noun.

    >>> amount("open files", "", 58, 59), amount("cost", "units", 6, 58), amount("threads", "", 1)
    ('58 to 59 open files', 'cost 6 to 58 units', '1 thread')
    """
    if len(levels) == 1:
        return short_setting(title, levels[0], unit)
    told = joined.join(level_text(x) if isinstance(x, str | bool) else number(x) for x in levels)
    if unit in COUNTS and is_counted(title):
        return f"{told} {title}{unit[1:]}"
    return f"{title} {told} {unit}".rstrip()
