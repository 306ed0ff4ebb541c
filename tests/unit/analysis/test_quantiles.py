"""Quantiles in plain Python against those of scipy, and those of histograms against the true ones."""

import numpy as np
import pytest
from scipy.special import chdtri, stdtrit

from scalograph.analysis.quantiles import MOST_DEGREES, chi_square_median, histogram, merge_histograms, student_t

SOME = (1, 2, 3, 4, 5, 9, 10, 19, 38, 49, 98, 499, MOST_DEGREES - 1, MOST_DEGREES)
RNG = np.random.default_rng(4)
VALUES = [float(x) for x in np.exp(RNG.normal(-7, 1, 5000))]


@pytest.mark.parametrize("df", [*SOME, MOST_DEGREES + 1, 2.5, 7.75])
@pytest.mark.parametrize("p", [0.2, 0.5, 0.75, 0.8, 0.95, 0.975, 0.995, 0.9999])
def test_students_t(p: float, df: float) -> None:
    assert student_t(p, df) == pytest.approx(float(stdtrit(df, p)), rel=1e-11, abs=1e-15)


@pytest.mark.parametrize("df", [*SOME, MOST_DEGREES + 1])
def test_the_median_of_chi_square(df: int) -> None:
    assert chi_square_median(df) == pytest.approx(float(chdtri(df, 0.5)), rel=1e-12)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_quantile_is_known_within_a_bin(share: float) -> None:
    found = histogram(VALUES)
    assert found is not None and found.n == 5000
    assert found.quantile(share) == pytest.approx(np.quantile(VALUES, share), rel=0.012)


def test_parts_merge_to_the_whole_and_the_largest_is_exact() -> None:
    found = histogram([1.0, 2.0, 1000.123])
    assert found is not None and found.quantile(1) == found.largest == 1000.123
    assert found.quantile(0.999) == pytest.approx(1000, rel=0.01)
    found = histogram([0.0, -1.0, 3.0])
    assert found is not None and found.n == 1
    assert histogram([0.0]) is None and histogram([]) is None and merge_histograms([]) is None
    parts = [part for i in range(5) if (part := histogram(VALUES[i::5]))]
    assert merge_histograms(parts) == histogram(VALUES)
    # What averaging the quantiles of parts gives is something else.
    slow = [part for values in ([1.0] * 99 + [50.0], [1.0] * 100) if (part := histogram(values))]
    whole = merge_histograms(slow)
    assert whole is not None and whole.quantile(0.99) == pytest.approx(1, rel=0.01)
    assert whole.quantile(0.999) == pytest.approx(50, rel=0.01)
