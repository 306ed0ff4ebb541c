"""How the curves of a family can be arranged: which factor tells lines apart, and which make panels."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from scalograph.text.axes import Factors

MANY_PANELS = 12  # more than this, and one factor makes panels
MOST_PANELS = 48  # more than this are not drawn at all: each is a figure for each measure


def arrangement(groups: Sequence[str], drawn: Sequence[dict[str, Any]], factors: Factors) -> dict[str, Any]:
    """Of each factor the levels that curves have, and what can make panels where it tells lines apart.

    Args:
        groups: factors by which curves differ.
        drawn: the curves of a family, each with its levels in the order of `groups`.
        factors: that have titles.
    """
    used = {name: sorted({curve["group"][i] for curve in drawn}) for i, name in enumerate(groups)}
    titles = {name: factors[name].title for name in groups}
    return {
        "used": used,
        "panels": {name: _panels({k: len(used[k]) for k in groups if k != name}, titles) for name in groups or [""]},
    }


def _panels(others: Mapping[str, int], titles: Mapping[str, str]) -> dict[str, Any]:
    """What makes panels at first, and the choices, each a value and a text: all other factors, one of them, none.

    Args:
        others: factors that tell no lines apart, with the number of their levels.
        titles: of factors.
    """
    n, is_several = math.prod(others.values()), len(others) > 1
    single = [(name, titles[name]) for name, levels in others.items() if levels <= MOST_PANELS]
    whole = [("all", " \N{MULTIPLICATION SIGN} ".join(titles[name] for name in others))]
    every = whole if is_several and n <= MOST_PANELS else []
    if n <= MANY_PANELS:
        return {"first": "all", "choices": [*every, *single] if is_several else []}
    few = [name for name, levels in others.items() if levels <= MANY_PANELS]
    first = max(few, key=others.__getitem__, default="none")
    return {"first": first, "choices": [*every, *single, ("none", "none: one at a time")]}
