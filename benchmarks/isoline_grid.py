"""The line of break-even as a sweep finds it: every point of a whole grid once, and no model at all.

Along the elements of each row the line lies where the fewest signs stand on the wrong side; between the rows it is
straight. So a point that noise turned over does no harm, and what remains is the width of the grid and the noise
beside the line.
"""

from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt
from scipy.interpolate import RegularGridInterpolator
from simulate.break_even import RANGES, ForkJoin, spread_points
from simulate.noise import FloatArray, Noise
from simulate.runs import run_scores

# Levels of elements, cost and workers: of six ways to divide so many pairs, the one with the smallest errors.
SIDES = (96, 8, 16)
N_PAIRS = prod(SIDES)


def errors(program: ForkJoin, rng: np.random.Generator, noise: Noise, sides: tuple[int, ...] = SIDES) -> FloatArray:
    """Relative errors of the elements from which on parallel wins, at the same kind of points as `isolines.errors`."""
    levels = [np.linspace(low, high, side) for (low, high), side in zip(RANGES.values(), sides, strict=False)]
    at = np.array([*product(*levels)])
    parallel, sequential = run_scores(rng, (2, len(at)), noise)
    signs = (program.log_ratio(at) + np.log(parallel / sequential) < 0).reshape(sides)
    found = RegularGridInterpolator(levels[1:], _rows(signs, levels[0]))
    others = spread_points(len(sides), 60, rng)[:, 1:]
    true = program.lines(others, *map(float, RANGES["n"]))
    inside = np.isfinite(true)
    return np.abs(2.0 ** (found(others[inside]) - true[inside]) - 1)


def _rows(wins: npt.NDArray[np.bool_], elements: FloatArray) -> FloatArray:
    """Log2 of the elements from which on parallel wins, for each row; the end of the range where it never does."""
    # Cut k: it loses below level k and wins from there on. Wrong are wins below and losses from there on.
    below = np.concatenate([np.zeros((1, *wins.shape[1:])), np.cumsum(wins, axis=0)])
    above = np.concatenate([np.cumsum(~wins[::-1], axis=0)[::-1], np.zeros((1, *wins.shape[1:]))])
    cut = np.argmin(below + above, axis=0)
    step = elements[1] - elements[0]
    return np.asarray(np.clip(elements[0] + (cut - 0.5) * step, elements[0], elements[-1]))
