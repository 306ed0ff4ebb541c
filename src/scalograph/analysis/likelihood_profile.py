"""Where does a profile likelihood fall below its limit? The ends of an interval that knows its bounds."""

from collections.abc import Callable

from scipy.special import fdtri

# How far from the estimate an end is looked for, in doublings.
_DOUBLINGS = 60


def limit(rss: float, n: int, n_parameters: int, confidence: float) -> float | None:
    """The sum of squares at which a parameter leaves its interval; None where no point is left to tell the noise.

    rss (1 + F / (n - p)) with the quantile F of F(1, n - p): exact for a linear model, and for one on a bound a little
    wide. Source: D. M. Bates and D. G. Watts, Nonlinear Regression Analysis and Its Applications (1988), sec. 6.1.
    """
    left = n - n_parameters
    if left < 1:
        return None
    return float(rss * (1 + fdtri(1, left, confidence) / left))


def lower_end(profile: Callable[[float], float], best: float, top: float, bound: float = 0.0) -> float:
    """The least value whose sum of squares is at most `top`; `bound` where that is allowed too."""
    if best <= bound or profile(bound) <= top:
        return bound
    if profile(best) > top:  # points so near to the curve that rounding is all that differs
        return best
    return _crossing(profile, top, bound, best)


def upper_end(profile: Callable[[float], float], best: float, top: float, first: float) -> float | None:
    """The largest value whose sum of squares is at most `top`; None where none is too large.

    `first` is a step of the size of the parameter, for an estimate of zero.
    """
    if profile(best) > top:  # as for the lower end
        return best
    inside, step = best, max(best, first)
    for _ in range(_DOUBLINGS):
        outside = inside + step
        if profile(outside) > top:
            return _crossing(profile, top, inside, outside)
        inside, step = outside, 2 * step
    return None


def _crossing(profile: Callable[[float], float], top: float, low: float, high: float) -> float:
    from scipy.optimize import brentq  # it takes a second to import, and most commands fit nothing

    return float(brentq(lambda x: profile(x) - top, low, high, xtol=1e-9 * high, rtol=1e-6))
