"""Numbers and levels as a claim says them: as many digits as the interval carries, counts with their noun."""

import math

from scalograph.analysis.digits import step
from scalograph.analysis.estimate import Estimate
from scalograph.protocol.plain import Level
from scalograph.text.compact import NOT_RESOLVED, WIDEST, at_step
from scalograph.text.format import level_text, number
from scalograph.text.scale import PLAIN, Scale
from scalograph.text.short_names import COUNTS, is_counted, short_setting


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
