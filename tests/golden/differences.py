"""In what two documents differ, in lines that a person can read."""

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

# The last digits of a sum are those of the order of its terms, which a library chooses by the CPU that it finds.
EXACT = 1e-12
MOST = 20
_ABSENT = object()


def shown(was: Any, now: Any, within: float = EXACT) -> str:
    """The first differences, one a line; empty where there is none."""
    found = list(islice(differences(was, now, within), MOST + 1))
    return "\n".join([*found[:MOST], *(["..."] if len(found) > MOST else [])])


def differences(was: Any, now: Any, within: float = EXACT, at: str = "") -> Iterator[str]:
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
    return type(was) is type(now) and bool(was == now)


def _short(value: Any) -> str:
    return "absent" if value is _ABSENT else f"{value!r:.160}"
