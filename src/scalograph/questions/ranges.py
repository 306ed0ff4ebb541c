"""Levels over which something is searched: all counts of a range, or where they are very many, some of them."""

import re
from math import exp, log

from scalograph.errors import StudyError

# A place is told within 5 %: of levels that lie closer than 0.5 % to each other, some are enough.
MOST = 1000
_RANGE = re.compile(r"(\d{1,9}):(\d{1,9})", re.ASCII)


def search_levels(text: str) -> str:
    """Levels as a study has them.

    Raises:
        StudyError: no range of counts.

    >>> search_levels("1:512"), search_levels("1:65536")[:24], search_levels("1:65536").count(",")
    ('1:512', '1,2,3,4,5,6,7,8,9,10,11,', 683)
    """
    return levels_of_range(text, MOST, "--range")


def is_range(text: str) -> bool:
    """Whether it is a plain one, LOW:HIGH.

    >>> is_range("1:512"), is_range("1:512:*2")
    (True, False)
    """
    return _RANGE.fullmatch(text.strip()) is not None


def levels_of_range(text: str, most: int, option: str) -> str:
    """At most so many counts of a range, each as far above the one before, as a ratio.

    Raises:
        StudyError: no range of counts, told of the option.

    >>> levels_of_range("1:64", 7, "--size")
    '1,2,4,8,16,32,64'
    """
    found = _RANGE.fullmatch(text.strip())
    low, high = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= low < high:
        raise StudyError.one(option, f"{text[:40]!r}", "LOW:HIGH, counts from 1 on", "such as 1:512")
    if high - low < most:
        return f"{low}:{high}"
    step = log(high / low) / (most - 1)
    return ",".join(map(str, sorted({round(low * exp(i * step)) for i in range(most)})))
