"""Where does a profile likelihood fall below its limit? The ends of an interval of a bounded parameter."""

from collections.abc import Callable

# How far from the estimate an end is searched first, as a share of it, and in how many doublings of that.
_NEAR, _DOUBLINGS = 1 / 16, 60


def limit(rss: float, n: int, n_parameters: int, confidence: float) -> float | None:
    """Return the sum of squares at which a parameter leaves its interval; None if no point is left for the noise.

    rss (1 + F / (n - p)) with the quantile F of F(1, n - p): exact for a linear model, slightly wide for one on a
    bound. Source: D. M. Bates and D. G. Watts, Nonlinear Regression Analysis and Its Applications (1988), sec. 6.1.
    """
    left = n - n_parameters
    if left < 1:
        return None
    from scipy.special import fdtri  # it takes a tenth of a second

    return float(rss * (1 + fdtri(1, left, confidence) / left))


def lower_end(profile: Callable[[float], float], best: float, top: float, bound: float = 0.0) -> float:
    """Find the least value whose sum of squares is at most `top`; `bound` if that is allowed too."""
    if best <= bound or profile(bound) <= top:
        return bound
    if profile(best) > top:  # points so near to the curve that only rounding differs
        return best
    inside, step = best, _NEAR * best
    while (outside := inside - step) > bound and profile(outside) <= top:
        inside, step = outside, 2 * step
    return _crossing(profile, top, max(outside, bound), inside)


def upper_end(profile: Callable[[float], float], best: float, top: float, first: float) -> float | None:
    """Find the largest value whose sum of squares is at most `top`; None if no value is too large.

    `first` is a step in the scale of the parameter, for an estimate of zero.
    """
    if profile(best) > top:  # as for the lower end
        return best
    inside, step = best, _NEAR * best if best >= first else first
    for _ in range(_DOUBLINGS):
        outside = inside + step
        if profile(outside) > top:
            return _crossing(profile, top, inside, outside)
        inside, step = outside, 2 * step
    return None


def _crossing(profile: Callable[[float], float], top: float, low: float, high: float) -> float:
    from scipy.optimize import brentq  # it takes a second to import, and most commands fit nothing

    return float(brentq(lambda x: profile(x) - top, low, high, xtol=1e-9 * high, rtol=1e-6))
