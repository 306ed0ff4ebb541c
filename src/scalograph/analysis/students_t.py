"""Student's t: its quantiles, and the degrees of freedom of a difference."""

from scalograph.analysis.center import Center
from scalograph.analysis.estimate import check_confidence
from scalograph.analysis.quantiles import student_t


def t_quantile(confidence: float, df: float) -> float:
    """Return the half-width, in standard errors, of a two-sided Student t interval.

    Args:
        confidence: nominal coverage, between 0 and 1, both excluded.
        df: degrees of freedom, above zero; need not be an integer.

    Raises:
        ValueError: `confidence` is no probability.

    >>> round(t_quantile(0.95, 4), 3)
    2.776
    """
    check_confidence(confidence)
    return student_t(0.5 + confidence / 2, df)


def satterthwaite(one: Center, two: Center) -> float:
    """Return the degrees of freedom of the difference of two means with their own variances."""
    largest = max(one.se, two.se)
    if largest == 0:
        return float(one.df + two.df)
    # Scaled by the larger, because the fourth power of a small standard error underflows.
    u, v = (one.se / largest) ** 2, (two.se / largest) ** 2
    return (u + v) ** 2 / (u**2 / one.df + v**2 / two.df)
