"""Where a function changes its sign: as few steps as scipy takes, without the third of a second to import that.

Source: T. R. Chandrupatla, A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear function
without using derivatives, Advances in Engineering Software 28 (1997).
"""

from collections.abc import Callable

# As a share of where it is.
EXACT = 1e-10
_MOST_STEPS = 100

Point = tuple[float, float]


def crossing(f: Callable[[float], float], low: float, high: float) -> float:
    """Find where a function changes its sign.

    Args:
        f: continuous.
        low: one end of where it is searched.
        high: the other end, where the function has the other sign.

    >>> round(crossing(lambda x: x * x - 2, 0.0, 3.0), 9)
    1.414213562
    """
    new, across = (low, f(low)), (high, f(high))
    share = 0.5
    for _ in range(_MOST_STEPS):
        x = new[0] + share * (across[0] - new[0])
        found = x, f(x)
        is_same_side = (found[1] > 0) == (new[1] > 0)
        new, across, old = (found, across, new) if is_same_side else (found, new, across)
        best = min(new, across, key=lambda point: abs(point[1]))
        least = EXACT * abs(best[0]) / abs(across[0] - new[0]) if across[0] != new[0] else 1.0
        if best[1] == 0 or least > 0.5:
            break
        share = min(max(_share(new, across, old), least), 1 - least)
    return best[0]


def _share(new: Point, across: Point, old: Point) -> float:
    """Where to look next, from `new` (0) to `across` (1): by the inverse parabola where it is trusted, else halfway."""
    (a, fa), (b, fb), (c, fc) = new, across, old
    place, height = (a - b) / (c - b), (fa - fb) / (fc - fb)
    if not (height**2 < place and (1 - height) ** 2 < 1 - place):
        return 0.5
    return fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
