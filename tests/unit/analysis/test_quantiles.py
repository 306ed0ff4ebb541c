"""Quantiles in plain Python against those of scipy."""

import pytest
from scipy.special import chdtri, stdtrit

from scalograph.analysis.quantiles import MOST_DEGREES, chi_square_median, student_t

SOME = (1, 2, 3, 4, 5, 9, 10, 19, 38, 49, 98, 499, MOST_DEGREES - 1, MOST_DEGREES)


@pytest.mark.parametrize("df", [*SOME, MOST_DEGREES + 1, 2.5, 7.75])
@pytest.mark.parametrize("p", [0.2, 0.5, 0.75, 0.8, 0.95, 0.975, 0.995, 0.9999])
def test_students_t(p: float, df: float) -> None:
    assert student_t(p, df) == pytest.approx(float(stdtrit(df, p)), rel=1e-11, abs=1e-15)


@pytest.mark.parametrize("df", [*SOME, MOST_DEGREES + 1])
def test_the_median_of_chi_square(df: int) -> None:
    assert chi_square_median(df) == pytest.approx(float(chdtri(df, 0.5)), rel=1e-12)
