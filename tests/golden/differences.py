"""In what two documents differ, in lines that a person can read."""

import math
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

# What a CPU may change: libraries choose the order of a sum, and so its last digits, by the CPU that they find, and a
# root or a minimum is found to its tolerance only.
ALIKE = 1e-6
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
MOST = 20
_ABSENT = object()


def shown(was: Any, now: Any, within: float = ALIKE) -> str:
    """The first differences, one a line; empty where there is none."""
    found = list(islice(differences(was, now, within), MOST + 1))
    return "\n".join([*found[:MOST], *(["..."] if len(found) > MOST else [])])


def differences(was: Any, now: Any, within: float = ALIKE, at: str = "") -> Iterator[str]:
    """`path: was ..., is ...` for each value that is gone, new, or off by more than `within` of itself."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in {**was, **now}:
            yield from differences(was.get(key, _ABSENT), now.get(key, _ABSENT), within, f"{at}.{key}".lstrip("."))
    elif isinstance(was, list) and isinstance(now, list):
        if len(was) != len(now):
            yield f"{at}: had {len(was)} items, has {len(now)}"
        for n, (before, after) in enumerate(zip(was, now, strict=False)):
            yield from differences(before, after, within, f"{at}[{n}]")
    elif not _same(was, now, within):
        yield f"{at}: was {_short(was)}, is {_short(now)}"


def _same(was: Any, now: Any, within: float) -> bool:
    """Whether two plain values are equal; 1 and 1.0 are, 1 and true are not."""
    if type(was) in (int, float) and type(now) in (int, float):
        return math.isclose(was, now, rel_tol=within)
    if isinstance(was, str) and isinstance(now, str):
        return was == now or same_text(was, now, within)
    return type(was) is type(now) and bool(was == now)


def same_text(was: str, now: str, within: float = ALIKE) -> bool:
    """Whether the words are the same, and each number is, or is one unit of its last digit away."""
    words = [[" ".join(part.split()) for part in _NUMBER.split(text)] for text in (was, now)]
    if words[0] != words[1]:
        return False
    pairs = zip(_NUMBER.findall(was), _NUMBER.findall(now), strict=True)
    return all(a == b or _is_near(a.replace(",", ""), b.replace(",", ""), within) for a, b in pairs)


def _is_near(was: str, now: str, within: float) -> bool:
    unit = max(10.0 ** -len(text.partition(".")[2]) for text in (was, now)) if "." in was + now else 1.0
    return ("." in was + now and math.isclose(float(was), float(now), rel_tol=within, abs_tol=1.01 * unit)) or (
        math.isclose(float(was), float(now), rel_tol=within)
    )


def _short(value: Any) -> str:
    return "absent" if value is _ABSENT else f"{value!r:.160}"
