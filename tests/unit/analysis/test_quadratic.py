import numpy as np
import pytest
from scipy.optimize import nnls

from scalograph.analysis.law import linear_columns
from scalograph.analysis.quadratic import least


def test_the_least_coefficients_are_those_that_scipy_finds() -> None:
    rng, bounds = np.random.default_rng(7), 0
    for _ in range(200):
        sizes = np.repeat(np.arange(1.0, rng.integers(4, 9)), rng.integers(1, 5))
        columns = linear_columns(sizes) * rng.lognormal(0, 0.2, sizes.size)[:, None]
        columns[:, rng.integers(3)] *= rng.choice([0.0, 1.0, 1e-6])
        target = np.ones(sizes.size) * rng.choice([1.0, -1.0], p=[0.9, 0.1])
        scale = np.where(columns.any(axis=0), np.sqrt((columns**2).sum(axis=0)), 1.0)
        expected = nnls(columns / scale, target)[0] / scale
        assert least(columns, target) == pytest.approx(tuple(expected), rel=1e-8, abs=1e-12)
        bounds += int((expected == 0).any())
    assert 20 < bounds < 200


def test_numbers_that_are_none_have_no_coefficients() -> None:
    with pytest.raises(ValueError):
        least(np.array([[1.0, np.nan, 1.0]] * 4), np.ones(4))
