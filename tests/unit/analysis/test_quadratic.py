import numpy as np
import pytest

from scalograph.analysis.quadratic import least


def test_numbers_that_are_none_have_no_coefficients() -> None:
    with pytest.raises(ValueError):
        least(np.array([[1.0, np.nan, 1.0]] * 4), np.ones(4))
