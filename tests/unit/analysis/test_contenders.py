"""Multiple comparisons with the best."""

import pytest

from scalograph.analysis.contenders import contenders


def in_blocks(samples: dict[float, list[float]]) -> dict[float, dict[int, float]]:
    return {level: dict(enumerate(scores)) for level, scores in samples.items()}


def test_one_is_the_only_best() -> None:
    runs = in_blocks({1: [20, 20.1, 19.9], 2: [10, 10.05, 9.95], 4: [15, 14.9, 15.1]})
    found = {c.level: c for c in contenders(runs)}
    assert [found[level].may_be_best for level in (1, 2, 4)] == [False, True, False]
    best = found[2].over_best
    assert best.high == 1
    assert best.low is not None and best.low < 0.7
    assert found[1].over_best.low == 1
    assert found[1].over_best.contains(2.0)


def test_those_that_cannot_be_told_apart_are_all_named() -> None:
    found = contenders(in_blocks({2: [10.0, 10.4, 9.7], 4: [10.1, 10.3, 9.8], 8: [9.9, 10.5, 9.6]}))
    assert all(c.may_be_best and c.over_best.contains(1.0) for c in found)


@pytest.mark.parametrize("samples", [{1: [1.0, 2.0]}, {1: [1.0], 2: [1.0, 2.0]}, {1: [0.0, 1.0], 2: [1.0, 2.0]}])
def test_nothing_can_be_said(samples: dict[float, list[float]]) -> None:
    assert contenders(in_blocks(samples)) == []


def test_scores_of_a_coarse_clock_are_told_apart_with_a_warning() -> None:
    found = contenders(in_blocks({1: [20.0, 20.0, 20.0], 2: [10.0, 10.0, 10.0], 4: [10.0, 10.1, 10.0]}))
    assert [c.may_be_best for c in found] == [False, True, True]
    assert found[0].over_best.warnings or found[1].over_best.warnings


def test_what_a_block_shares_hides_nothing() -> None:
    """Each block is half as slow again as the one before; the levels differ by 10 %."""
    slow = [1.5**block for block in range(5)]
    told = contenders(
        in_blocks({1: [x * (11 + 0.01 * (-1) ** i) for i, x in enumerate(slow)], 2: [10 * x for x in slow]})
    )
    assert [c.may_be_best for c in told] == [False, True] and max(c.visible for c in told) < 0.1
    assert contenders({1: {0: 1.0, 1: 1.0}, 2: {2: 1.0, 3: 1.0}}) == [], "no block has both"
