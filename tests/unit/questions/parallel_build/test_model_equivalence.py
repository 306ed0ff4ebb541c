"""Two one-sided tests."""

import numpy as np
import pytest
from scipy import stats

from scalograph.questions.parallel_build.model_equivalence import equivalence


def test_agrees_with_two_t_tests_of_scipy() -> None:
    rng = np.random.default_rng(1)
    a, b = np.exp(rng.normal(0.005, 0.01, 6)), np.exp(rng.normal(0, 0.02, 9))
    edge = np.log(1.02)
    sides = [
        stats.ttest_ind(np.log(a) + edge, np.log(b), equal_var=False, alternative="greater").pvalue,
        stats.ttest_ind(np.log(a) - edge, np.log(b), equal_var=False, alternative="less").pvalue,
    ]
    assert equivalence(a, b).p_value == pytest.approx(max(sides))


def test_the_label_is_the_test() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        found = equivalence(np.exp(rng.normal(0.01, 0.01, 4)), np.exp(rng.normal(0, 0.01, 4)))
        assert found.p_value is not None
        assert (found.label == "equivalent") == (found.p_value < 0.05)


def test_on_the_margin_equivalence_is_claimed_in_at_most_one_case_of_twenty() -> None:
    rng = np.random.default_rng(4)
    edge = np.log(1.02)
    claimed = sum(
        equivalence(np.exp(rng.normal(edge, 0.005, 5)), np.exp(rng.normal(0, 0.005, 5))).label == "equivalent"
        for _ in range(1000)
    )
    assert claimed <= 70


def test_no_difference_found_is_not_equivalence() -> None:
    assert equivalence([10, 12, 9], [10, 11, 9.5]).label == "not shown"
    assert equivalence([10.0], [10.0, 10.1]).label == "not shown"
    assert equivalence([0.0, 0.0], [0.0, 0.0]).label == "not shown"


def test_different() -> None:
    assert equivalence([11, 11.1, 10.9], [10, 10.1, 9.9]).label == "different"


@pytest.mark.parametrize("wrong", [{"margin": 0.0}, {"confidence": 0.5}])
def test_refuses(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="equivalence: found"):
        equivalence([1.0, 2.0], [1.0, 2.0], **wrong)
