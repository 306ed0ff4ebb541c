"""Theoretical speedup over n: curves with known parameters."""

import math
from collections.abc import Callable, Iterable


def linear(n: float) -> float:
    """Return the speedup without any limit, which is n."""
    return float(n)


def amdahl(n: float, serial: float) -> float:
    """Return the speedup with a share `serial` of the work, 0 to 1, that only one CPU can do.

    Source: G. M. Amdahl, AFIPS Spring Joint Computer Conference 1967.

    >>> amdahl(4, 0.0), amdahl(4, 1.0)
    (4.0, 1.0)
    """
    return 1 / (serial + (1 - serial) / n)


def usl(n: float, sigma: float, kappa: float) -> float:
    """Return the speedup with contention `sigma` and coherency `kappa`, both 0 or more.

    Source: N. J. Gunther, Guerrilla capacity planning, Springer 2007, universal scalability law.

    >>> usl(1, 0.1, 0.01)
    1.0
    """
    return n / (1 + sigma * (n - 1) + kappa * n * (n - 1))


def usl_peak(sigma: float, kappa: float) -> float:
    """Return the n at which `usl` is largest; infinite if kappa is 0."""
    return math.inf if kappa == 0 else math.sqrt((1 - sigma) / kappa)


def lock_collapse(n: float, at: float, left: float, before: Callable[[float], float] = linear) -> float:
    """Return a speedup that falls to `left` times the baseline's once `at` contenders meet at a lock.

    >>> lock_collapse(4, at=8, left=0.53), lock_collapse(8, at=8, left=0.53)
    (4.0, 0.53)
    """
    return left if n >= at else before(n)


def times(speedup: Callable[[float], float], levels: Iterable[int], first: float = 1.0) -> dict[int, float]:
    """Return the time of a fixed total work at each level, given that it takes `first` at n = 1, in the same unit.

    >>> times(linear, (1, 2, 4))
    {1: 1.0, 2: 0.5, 4: 0.25}
    """
    return {n: first / speedup(n) for n in levels}
