"""The points of a spread start are those that scipy draws: a study that is resumed asks for the same ones."""

import numpy as np
import pytest
from scipy.stats import qmc

from scalograph.questions.break_even.model import MOST_AXES, MOST_POINTS, sobol_points


@pytest.mark.parametrize("n_axes", range(1, MOST_AXES + 1))
@pytest.mark.parametrize("digits", [1, 2, 3, 4])
def test_they_are_those_of_scipy_bit_for_bit(n_axes: int, digits: int) -> None:
    for seed in (0, 5, 20_260_101, 2**63):
        expected = qmc.Sobol(n_axes, rng=np.random.default_rng(seed)).random_base2(digits)
        assert np.array_equal(sobol_points(n_axes, 2**digits, seed), expected)
        assert np.array_equal(sobol_points(n_axes, 2**digits, -seed), expected)


def test_more_than_it_has_numbers_for_is_refused() -> None:
    assert sobol_points(MOST_AXES, MOST_POINTS - 3, 1).shape == (MOST_POINTS, MOST_AXES)
    with pytest.raises(ValueError, match="expected at most 4 and 16"):
        sobol_points(MOST_AXES + 1, 4, 1)
    with pytest.raises(ValueError, match="expected at most 4 and 16"):
        sobol_points(1, MOST_POINTS + 1, 1)
