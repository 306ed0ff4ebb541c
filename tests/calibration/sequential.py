"""A share that is measured case by case, and only until it is decided."""

from collections.abc import Iterable
from math import log

# What a decision is wrong by, once in so many draws; with a fixed seed it is the same each time.
WRONG = 1 / 20


def is_share(cases: Iterable[bool], share: float, rather_than: float) -> bool:
    """Decide whether cases are true as often as `share` rather than `rather_than`.

    Wald's sequential test of a probability ratio (1945): near either share it needs about half the cases of a test
    with a fixed number of them that is wrong as seldom.

    Args:
        cases: drawn one after the other; more of them than are needed.
        share: that is claimed.
        rather_than: another one, which would be a defect.

    Raises:
        ValueError: the cases ended before it was decided.
    """
    if_true, if_false = log(share / rather_than), log((1 - share) / (1 - rather_than))
    odds = 0.0
    for case in cases:
        odds += if_true if case else if_false
        if abs(odds) >= log((1 - WRONG) / WRONG):
            return odds > 0
    raise ValueError("not decided: draw more cases")
