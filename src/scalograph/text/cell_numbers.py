"""Estimates in few characters, for cells of a matrix and for claims."""

import math

from scalograph.analysis.estimate import Estimate, interval_decimals
from scalograph.protocol.findings import Matrix
from scalograph.protocol.plain import Level
from scalograph.text.format import DASH, level_text, number, significant, trim_zeros, use_minus_sign
from scalograph.text.scale import PLAIN, Scale, scale_for
from scalograph.text.short_names import COUNTS, is_counted, short_setting

# Ends farther apart than this are no number; halves of an interval more unlike than this are shown as its ends.
WIDEST, LOPSIDED = 2.0, 1.5
INCONCLUSIVE = "inconclusive"
EXACT = 1e-4  # an interval narrower than such a share of its value is none
NARROW = 0.1  # an interval within so much of its value is shown as a share of it, however unlike its halves


def cell_number(estimate: Estimate | None, scale: Scale = PLAIN, tight: bool = False) -> str:
    """Format an estimate with its interval as a share of it; `tight` does so even if the interval is lopsided.

    >>> cell_number(Estimate(1.94, 1.81, 2.07)), cell_number(Estimate(1.0, 0.4, 3.0)), cell_number(Estimate(3.0))
    ('1.94 ±7%', 'inconclusive', '3')
    >>> cell_number(Estimate(0.5, 0.45, 0.75)), cell_number(Estimate(0.5, 0.45, 0.75), tight=True), cell_number(None)
    ('0.50 [0.45, 0.75]', '0.50 ±50%', '–')
    >>> cell_number(Estimate(30461, 28329, 32593)), cell_number(Estimate(-13.2, -23.4, -3.8))
    ('30,500 ±7%', '−13 [−23, −4]')
    """
    if estimate is None or estimate.value is None:
        return DASH
    value = float(estimate.value * scale.factor)
    if estimate.low is None or estimate.high is None or estimate.high - estimate.low <= EXACT * abs(estimate.value):
        return number(round(value)) if math.isclose(value, round(value)) else significant(value)
    low, high = estimate.low * scale.factor, estimate.high * scale.factor
    digits = interval_decimals(low, high)
    if high < 0:  # a difference
        return _ends(value, low, high, digits)
    if is_inconclusive(estimate):
        return INCONCLUSIVE
    below, above = value - low, high - value
    share = 100 * max(below, above) / value
    if not tight and max(below, above) > LOPSIDED * min(below, above) and share > 100 * NARROW:
        return _ends(value, low, high, digits)
    return f"{round_to_step(value, digits, False)} \N{PLUS-MINUS SIGN}{round_up(share)}%"


def half_share(estimate: Estimate) -> float | None:
    """Return the larger half of an interval as a share of the value, as a cell shows it.

    None where it is unbounded or beyond a factor of two.

    >>> round(half_share(Estimate(2.0, 1.9, 2.1)), 3), half_share(Estimate(2.0, 0.5, 8.0))
    (0.05, None)
    """
    if not estimate.value or not estimate.low or not estimate.high or estimate.low <= 0:
        return None
    if estimate.high > WIDEST * estimate.low:
        return None
    return max(estimate.value - estimate.low, estimate.high - estimate.value) / estimate.value


def is_inconclusive(e: Estimate | None) -> bool:
    """Tell whether an interval is too wide for its value to be said; a value without one is not.

    >>> is_inconclusive(Estimate(1.0, 0.4, 3.0)), is_inconclusive(Estimate(1.0, 0.9, 1.1)), is_inconclusive(None)
    (True, False, False)
    """
    if e is None or e.value is None or e.low is None or e.high is None:
        return False
    is_exact = e.high - e.low <= EXACT * abs(e.value)
    return not is_exact and e.high >= 0 and (e.low <= 0 or e.high > WIDEST * e.low)


def matrix_scale(matrix: Matrix) -> Scale:
    """Return the scale in which the numbers of a matrix read best."""
    cells = [cell for row in matrix.rows for cell in row.cells if not cell.text]
    return scale_for(matrix.unit, [cell.estimate.value for cell in cells if cell.estimate])


def _ends(value: float, low: float, high: float, digits: int) -> str:
    return "{} [{}, {}]".format(*(round_to_step(x, digits, False) for x in (value, low, high)))


def round_to_step(x: float, digits: int, is_trimmed: bool = True) -> str:
    """Format a number rounded to decimals, below 0 to tens and hundreds."""
    text = use_minus_sign(f"{round(x, digits):,.{max(digits, 0)}f}")
    return trim_zeros(text) if is_trimmed else text


def round_up(share: float) -> str:
    """Format a share rounded up, to whole percent from 1 on, below to one digit."""
    places = 0 if share > 1 else -math.floor(math.log10(share))
    return f"{math.ceil(round(share * 10**places, 6)) / 10**places:g}"


def is_resolved(e: Estimate) -> bool:
    """Tell whether an interval is narrow enough for its value to be shown."""
    low, high = e.low or 0.0, e.high or 0.0
    return e.value is not None and 0 < low <= high <= WIDEST * low


def claim_number(e: Estimate, scale: Scale = PLAIN, ends: bool = True) -> str:
    """Format a value, with the ends of its interval or without.

    >>> claim_number(Estimate(33760, 25540, 44540)), claim_number(Estimate(153.4, 140.5, 167.5), ends=False)
    ('34,000 [26,000, 45,000]', '153')
    >>> claim_number(Estimate(2.0, 1.0, 3.0))
    'inconclusive'
    """
    if not is_resolved(e):
        return INCONCLUSIVE
    low, value, high = ((x or 0) * scale.factor for x in (e.low, e.value, e.high))
    digits = interval_decimals(low, high) if low < high else 3 - math.ceil(math.log10(value))
    shown, *both = (round_to_step(x, digits, is_trimmed=False) for x in (value, low, high))
    return f"{shown} [{', '.join(both)}]" if ends else shown


def level_range(title: str, unit: str, *levels: Level, joined: str = " to ") -> str:
    """Format levels of a factor, those of a count before their noun.

    >>> level_range("open files", "", 58, 59), level_range("cost", "units", 6, 58), level_range("threads", "", 1)
    ('58 to 59 open files', 'cost 6 to 58 units', '1 thread')
    """
    if len(levels) == 1:
        return short_setting(title, levels[0], unit)
    span = joined.join(level_text(x) if isinstance(x, str | bool) else number(x) for x in levels)
    if unit in COUNTS and is_counted(title):
        return f"{span} {title}{unit[1:]}"
    return f"{title} {span} {unit}".rstrip()
