"""A ratio of two speedups: its interval holds what it claims, and the word follows the interval."""

import numpy as np
import pytest

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.ratios import paired_ratio
from scalograph.machine.ceiling.compare_ceiling import MARGIN, CeilingRatio, compare_speedup, label, ratio


def known(value: float, half: float = 0.02) -> Estimate:
    """Five runs; `half` is the half-width of the interval on logs."""
    return Estimate(value, value * np.exp(-half), value * np.exp(half), 0.95, 5, "t")


def labels(program: float, half: float = 0.02, **ceilings: float) -> dict[str, str]:
    found = compare_speedup(known(program, half), {kind: known(value) for kind, value in ceilings.items()})
    return {each.kind: each.label for each in found}


def test_each_word_the_highest_ceiling_first() -> None:
    found = labels(1.25, lock=0.4, arithmetic=1.98, memory=1.3)
    assert [*found.items()] == [("arithmetic", "below"), ("memory", "alike"), ("lock", "above")]


def test_a_wide_interval_or_none_says_nothing_unless_it_is_far_off() -> None:
    assert labels(1.25, 0.5, memory=1.3) == {"memory": "unknown"}
    assert labels(0.3, 0.5, arithmetic=2.0) == {"arithmetic": "below"}
    (found,) = compare_speedup(Estimate(1.25, None, None, 0.95, 1, "t"), {"memory": known(1.3)})
    assert found.label == "unknown" and found.ratio.value is None and "interval" in found.ratio.warnings[0]


@pytest.mark.parametrize(("low", "high", "word"), [
    (0.80, 0.95, "below"), (0.81, 0.96, "unknown"), (0.94, 0.98, "alike"), (0.82, 1.02, "alike"),
    (0.79, 1.02, "unknown"), (1.06, 1.1, "above"), (1.04, 1.1, "unknown"), (1.01, 1.06, "alike"),
    (0.99, 1.24, "alike"), (0.99, 1.26, "unknown"),
])  # fmt: skip
def test_the_margin_decides(low: float, high: float, word: str) -> None:
    assert label(Estimate((low * high) ** 0.5, low, high, 0.95, 5, "t"), MARGIN) == word


def test_mover_is_the_exact_root_of_squares_for_even_intervals_and_zero_has_no_log() -> None:
    found = ratio(known(2.0, 0.03), known(1.0, 0.04))
    assert (found.low, found.high) == pytest.approx((2 * np.exp(-0.05), 2 * np.exp(0.05)))
    assert ratio(Estimate(0.0, 0.0, 1.0, 0.95, 5, "t"), known(1.0)).value is None


def simulated(truth: float, ceiling: float, n: int, sd: float = 0.03) -> list[CeilingRatio]:
    """So many programs that reach `truth` where the machine gives `ceiling`: five runs of each, 3 % noise."""
    rng = np.random.default_rng(20264)

    def reached(value: float) -> Estimate:
        one, many = np.exp(sd * rng.standard_normal((2, 5)))
        return paired_ratio(list(one), list(many / value))

    return [compare_speedup(reached(truth), {"memory": reached(ceiling)})[0] for _ in range(n)]


def test_the_interval_covers_what_it_claims_and_far_below_the_ceiling_is_below() -> None:
    found = simulated(1.0, 1.3, 1000)
    assert 0.94 <= np.mean([each.ratio.contains(1 / 1.3) for each in found]) <= 0.995
    assert np.mean([each.label == "below" for each in found[:500]]) >= 0.9


def test_a_program_at_its_ceiling_is_seldom_called_below_or_above() -> None:
    found = [each.label for each in simulated(1.3, 1.3, 1000)]
    assert np.mean([word in ("below", "above") for word in found]) <= 0.02
    assert np.mean([word == "alike" for word in found]) >= 0.95
