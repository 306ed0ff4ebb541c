"""An estimate in the few characters that a matrix has for it."""

import math

from scalograph.analysis.estimate import Estimate
from scalograph.text.format import DASH, number, significant
from scalograph.text.scale import PLAIN, Scale

# Ends farther apart than this are no number, and halves of an interval more unlike than this are told as its ends.
WIDEST, LOPSIDED = 2.0, 1.5
NOT_RESOLVED = "not resolved"


def compact(estimate: Estimate | None, scale: Scale = PLAIN) -> str:
    """Format an estimate with its interval as a share of it.

    >>> compact(Estimate(1.94, 1.81, 2.07)), compact(Estimate(1.0, 0.4, 3.0)), compact(Estimate(3.0))
    ('1.94 ±7 %', 'not resolved', '3')
    >>> compact(Estimate(0.5, 0.45, 0.75)), compact(None)
    ('0.500 [0.450, 0.750]', '–')
    """  # noqa: RUF002  the sign that people read
    if estimate is None or estimate.value is None:
        return DASH
    value = estimate.value * scale.factor
    if estimate.low is None or estimate.high is None or estimate.low == estimate.high or value == 0:
        return number(value)
    low, high = estimate.low * scale.factor, estimate.high * scale.factor
    if low <= 0 or high / low > WIDEST:
        return NOT_RESOLVED
    below, above = value - low, high - value
    if max(below, above) > LOPSIDED * min(below, above) and high / low > 1.1:
        return f"{significant(value)} [{significant(low)}, {significant(high)}]"
    share = 100 * max(below, above) / value
    return f"{significant(value)} \N{PLUS-MINUS SIGN}{math.ceil(share) if share >= 1 else significant(share, 1)} %"
