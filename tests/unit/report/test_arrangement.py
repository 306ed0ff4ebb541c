"""What can make panels: all other factors while they are few, else one of them, else none."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from scalograph.report.families import arrangement
from scalograph.text.axes import Factors


def arranged(*n_levels: int) -> dict[str, Any]:
    """Curves of every combination of so many levels of the factors a, b and c."""
    names = "abc"[: len(n_levels)]
    groups: list[tuple[int, ...]] = [()]
    for n in n_levels:
        groups = [(*group, level) for group in groups for level in range(n)]
    titles = {name: SimpleNamespace(title=name.upper()) for name in names}
    return arrangement(list(names), [{"group": group} for group in groups], cast(Factors, titles))


def test_curves_that_differ_by_one_factor_leave_nothing_to_choose() -> None:
    found = arranged(3)
    assert found == {"used": {"a": [0, 1, 2]}, "panels": {"a": {"first": "all", "choices": []}}}
    assert arrangement([], [{"group": ()}], cast(Factors, {}))["panels"][""] == {"first": "all", "choices": []}


@pytest.mark.parametrize(("levels", "first", "choices"), [
    ((2, 3, 4), "all", ["all", "b", "c"]),
    ((2, 4, 12), "c", ["all", "b", "c", "none"]),
    ((2, 5, 13), "b", ["b", "c", "none"]),
    ((2, 13, 49), "none", ["b", "none"]),
])  # fmt: skip
def test_panels_are_few_or_one_factor_makes_them(levels: tuple[int, ...], first: str, choices: list[str]) -> None:
    found = arranged(*levels)["panels"]["a"]
    assert (found["first"], [value for value, _ in found["choices"]]) == (first, choices)
    assert dict(found["choices"]).get("all", "B \N{MULTIPLICATION SIGN} C") == "B \N{MULTIPLICATION SIGN} C"
