import numpy as np
import pytest

from scalograph.analysis.contrast import Contrast, paired_contrast
from scalograph.analysis.variance_moderation import moderate_variances


def drawn(rng: np.random.Generator, sds: list[float], n: int = 5, delta: float = 0.0) -> list[Contrast]:
    return [paired_contrast(sd * rng.standard_normal(n) + delta, np.zeros(n)) for sd in sds]


def test_equal_spreads_lend_each_other_their_degrees_of_freedom() -> None:
    found = moderate_variances(drawn(np.random.default_rng(1), [0.02] * 24))
    assert min(contrast.df for contrast in found) > 20


def test_no_contrast_becomes_more_precise_than_its_own_runs_are() -> None:
    before = drawn(np.random.default_rng(2), [0.01, 0.02, 0.5, 0.01, 0.03])
    after = moderate_variances(before)
    assert all(new.se >= old.se * (1 - 1e-12) and new.df >= old.df for old, new in zip(before, after, strict=True))
    assert [new.delta for new in after] == [old.delta for old in before]


def test_few_contrasts_stay_as_they_are() -> None:
    two = drawn(np.random.default_rng(3), [0.01, 0.02])
    assert moderate_variances(two) == two and moderate_variances([]) == []


@pytest.mark.parametrize("sds", [[0.02] * 24, [0.005] * 12 + [0.1] * 12], ids=["alike", "unlike"])
def test_nothing_seems_to_differ_more_often_than_it_may(sds: list[float]) -> None:
    rng = np.random.default_rng(4)
    n_wrong = sum((c.p_value() or 0) < 0.05 for _ in range(40) for c in moderate_variances(drawn(rng, sds)))
    assert n_wrong / (40 * len(sds)) < 0.08


def test_runs_that_do_not_differ_at_all_borrow_a_spread() -> None:
    same = Contrast(0.001, 0.0, 4, 5, "")
    [*_, found] = moderate_variances([*drawn(np.random.default_rng(5), [0.02] * 6), same])
    assert found.se > 0 and (found.p_value() or 0) > 0.05
