"""Points that are spread evenly over a cube: a scrambled Sobol sequence, bit for bit as scipy draws it.

A search asks again for the points that it asked for before, so they are those of scipy.stats.qmc, which would take half
of the time of planning a study to import. Sources: S. Joe and F. Y. Kuo, Constructing Sobol sequences with better
two-dimensional projections, SIAM J. Sci. Comput. 30 (2008); J. Matousek, On the L2-discrepancy for anchored boxes,
J. Complexity 14 (1998), for the scrambling by triangular matrices and a shift.
"""

from math import ceil, log2

import numpy as np

from scalograph.analysis.center import FloatArray

BITS = 30
# The first direction numbers of each axis: as many as 16 points take.
_DIRECTIONS = ((1, 1, 1, 1), (1, 3, 5, 15), (1, 3, 3, 9), (1, 3, 1, 5))
MOST_AXES, MOST_POINTS = len(_DIRECTIONS), 16


def sobol(n_axes: int, n: int, seed: int) -> FloatArray:
    """Return at least n points, a row each, from 0 to 1 on every axis.

    Args:
        n_axes: 1 to 4.
        n: at most 16; the next power of two is drawn.
        seed: of the scrambling; the same seed gives the same points.

    Raises:
        ValueError: more axes or points than that.
    """
    if n_axes > MOST_AXES or n > MOST_POINTS:
        raise ValueError(f"found {n_axes} axes and {n} points, expected at most {MOST_AXES} and {MOST_POINTS}")
    # scipy draws with a child of the generator that it is given.
    rng, digits = np.random.default_rng(abs(seed)).spawn(1)[0], ceil(log2(max(n, 2)))
    shifts = rng.integers(2, size=(n_axes, BITS), dtype=np.uint32)[:, ::-1]
    below = np.tril(rng.integers(2, size=(n_axes, BITS, BITS), dtype=np.uint32), -1)
    index = np.arange(2**digits)
    coded = (index ^ index >> 1)[:, None] >> np.arange(digits) & 1  # Gray code: shape (points, digits)
    axes = []
    for numbers, shift, lower in zip(_DIRECTIONS, shifts, below, strict=False):
        directions = (lower + np.eye(BITS, dtype=np.uint32)) @ _bits(numbers[:digits])
        bits = (coded @ directions.T + shift) % 2
        axes.append(bits @ 0.5 ** np.arange(1, BITS + 1))  # exact: these are sums of different powers of two
    return np.stack(axes, axis=1)


def _bits(numbers: tuple[int, ...]) -> "np.ndarray[tuple[int, int], np.dtype[np.int64]]":
    """The bits of each direction, a column each, the highest first; number j has j + 1 of them."""
    scaled = np.array([number << (BITS - 1 - j) for j, number in enumerate(numbers)])
    return scaled >> np.arange(BITS - 1, -1, -1)[:, None] & 1
