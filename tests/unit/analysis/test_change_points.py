"""Change points of short series: seldom where there are none, and at their place where there are."""

import numpy as np
import pytest

from scalograph.analysis.change_points import FEWEST, change_points


def series(rng: np.random.Generator, *levels: tuple[int, float], sd: float = 0.01) -> list[float]:
    return [float(level + sd * rng.standard_normal()) for n, level in levels for _ in range(n)]


@pytest.mark.parametrize("n", [FEWEST, 12, 30])
def test_a_series_without_a_change_seldom_has_one(n: int) -> None:
    rng = np.random.default_rng([31, n])
    found = sum(bool(change_points(series(rng, (n, 0.0)), seed=i)) for i in range(60))
    assert found <= 8  # of 60 at 5 %: more once in a hundred


def test_steps_are_found_where_they_are() -> None:
    rng = np.random.default_rng(32)
    for i in range(6):
        found = change_points(series(rng, (8, 0.0), (8, 0.05), (8, 0.0)), seed=i)
        assert [change.place for change in found] == pytest.approx([8, 16], abs=1)


def test_few_or_equal_values_have_none() -> None:
    assert change_points([0.0, 0.0, 1.0, 1.0, 1.0]) == change_points([1.0] * 20) == []
