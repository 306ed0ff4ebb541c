"""What a count out of a count says of the share behind it: Wilson's interval."""

from math import sqrt

from scalograph.analysis.estimate import Estimate, unknown

METHOD = "share of observations, Wilson's interval"


def proportion(n_least: int, n_most: int, n: int, confidence: float) -> Estimate:
    """Estimate a share from `n` observations, of which between `n_least` and `n_most` have the property.

    Observations count as independent. Source: E. B. Wilson, Probable inference, the law of succession, and statistical
    inference, Journal of the American Statistical Association 22 (1927), 209-212.

    Args:
        n_least: observations that are known to have the property.
        n_most: those that may have it; more than `n_least` where some were not looked at.
        n: of all; 0 gives no value.
        confidence: of the interval, between 0 and 1.

    >>> estimate = proportion(5, 5, 10, 0.95)
    >>> estimate.value, round(estimate.low, 3), round(estimate.high, 3)
    (0.5, 0.237, 0.763)
    """
    if not n:
        return unknown(METHOD, confidence, 0, "no observation")
    low, high = _wilson(n_least / n, n, confidence)[0], _wilson(n_most / n, n, confidence)[1]
    # Exactly so, where rounding leaves 3e-17.
    low, high = low if n_least else 0.0, high if n_most < n else 1.0
    return Estimate(n_least / n, low, high, confidence, n, METHOD)


def _wilson(share: float, n: int, confidence: float) -> tuple[float, float]:
    from scipy.stats import norm  # half a second, which most commands do not have to wait for

    z = float(norm.ppf((1 + confidence) / 2))
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)
