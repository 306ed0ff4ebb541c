"""Orthogonal arrays of three symbols: in any two columns each pair of symbols stands equally often.

OA(9), OA(27) and OA(81) hold 4, 13 and 40 columns: the points of a space over the field of three elements, and one
column for each of its directions. Factors of other than three levels take a column all the same: each block fills its
three symbols with the default and two further levels in turn; of two levels one stands for two symbols, the default in
the first block.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from scalograph.analysis.center import FloatArray
from scalograph.analysis.estimate import Estimate, proportion
from scalograph.study.model import Study
from scalograph.study.scalars import Level, is_same_level

IntArray = NDArray[np.int64]
# A setting of all factors: the place of each one's level, 0 being the default.
Settings = tuple[int, ...]
SYMBOLS = 3
# Dimensions of the largest array: 81 rows.
MOST_DIMENSIONS = 4


def orthogonal_array(n_factors: int) -> IntArray:
    """Return the smallest array with a column for each factor, shape (rows, columns), of symbols 0, 1, 2.

    Source: C. R. Rao, Factorial experiments derivable from combinatorial arrangements of arrays, J. R. Statist. Soc.
    Suppl. 9 (1947): linear functions over GF(3), one of each direction.

    >>> [orthogonal_array(n).shape for n in (3, 4, 5, 13, 14)]
    [(9, 4), (9, 4), (27, 13), (27, 13), (81, 40)]
    """
    dimensions = next(m for m in range(2, MOST_DIMENSIONS + 1) if n_columns(m) >= n_factors)
    points = np.array(list(product(range(SYMBOLS), repeat=dimensions)))
    directions = [d for d in product(range(SYMBOLS), repeat=dimensions) if next((x for x in d if x), 0) == 1]
    return np.asarray(points @ np.array(directions).T % SYMBOLS, dtype=np.int64)


def n_columns(dimensions: int) -> int:
    """Return how many columns an array of 3^dimensions rows has."""
    return int(SYMBOLS**dimensions - 1) // (SYMBOLS - 1)


def block_rows(n_levels: Sequence[int], number: int, seed: int) -> list[Settings]:
    """Return the runs of a block in order, with columns, symbols and rows of the array permuted anew.

    `n_levels`: of each factor, two or more; `number`: of the block, from 0 on.
    """
    draw = np.random.default_rng([seed % 2**63, number])
    array = orthogonal_array(len(n_levels))
    chosen = draw.permutation(array.shape[1])[: len(n_levels)]
    columns = [
        _symbol_levels(n, number, draw)[array[:, column]] for n, column in zip(n_levels, chosen, strict=True)
    ]  # fmt: skip
    return [tuple(int(x) for x in row) for row in np.stack(columns, axis=1)[draw.permutation(len(array))]]


def n_rotations(n_levels: Sequence[int]) -> int:
    """Return the number of blocks after which each level has been tried."""
    return max((n // 2 for n in n_levels), default=1)


def _symbol_levels(n_levels: int, number: int, draw: np.random.Generator) -> IntArray:
    others = n_levels - 1
    two = (1, number % 2) if others == 1 else (1 + 2 * number % others, 1 + (2 * number + 1) % others)
    return draw.permutation(np.array([0, *two], dtype=np.int64))


def dummies(rows: Sequence[Settings], n_levels: Sequence[int]) -> tuple[FloatArray, list[tuple[int, int]]]:
    """Return a 0/1 column for each non-default setting with a run, shape (runs, settings), and its factor and level."""
    at = np.array(rows, dtype=np.int64).reshape(len(rows), len(n_levels))
    names = [(j, level) for j, n in enumerate(n_levels) for level in range(1, n) if bool(np.any(at[:, j] == level))]
    if not names:
        return np.zeros((len(rows), 0)), []
    return np.stack([(at[:, j] == level).astype(np.float64) for j, level in names], axis=1), names


def indicators(blocks: Sequence[int]) -> FloatArray:
    """Return one column for each block, shape (runs, blocks): 1.0 where a run is of it."""
    at = np.asarray(blocks)
    return np.stack([(at == block).astype(np.float64) for block in np.unique(at)], axis=1)


# Probability of blaming any setting for failures that come by chance; a setting that is why, and fails in at least that
# share of its runs, gets no more of them.
BLAME, HOPELESS = 0.05, 0.5


@dataclass(frozen=True, slots=True)
class FailedRuns:
    """Failures among the runs of a setting.

    Attributes:
        n_failed: of them.
        n: all of them.
        share: that fails, Wilson's interval.
        p: probability of as many by chance, if it failed as the default of its factor does (Fisher's exact test);
            None where none failed.
    """

    n_failed: int
    n: int
    share: Estimate
    p: float | None


def failures(
    rows: Sequence[Settings], failed: Sequence[bool], factor: int, level: int, confidence: float = 0.95
) -> FailedRuns:
    """Count failures of a setting beside those of all runs that have its factor at the default.

    `rows`: the level of each factor, run by run; an array balances the others.
    """
    own = [bad for row, bad in zip(rows, failed, strict=True) if row[factor] == level]
    default = [bad for row, bad in zip(rows, failed, strict=True) if row[factor] == 0]
    share = proportion(sum(own), sum(own), len(own), confidence)
    return FailedRuns(sum(own), len(own), share, _fisher(own, default) if any(own) else None)


def causes_failures(p: float | None, n_settings: int) -> bool:
    """Tell whether a setting causes failures beyond chance, as one of so many (Bonferroni)."""
    return p is not None and p * n_settings < BLAME


def _fisher(own: Sequence[bool], default: Sequence[bool]) -> float:
    from scipy.stats import fisher_exact  # it takes half a second

    table = np.array([[sum(bad), len(bad) - sum(bad)] for bad in (own, default)])
    return float(fisher_exact(table, alternative="greater").pvalue)


def failing_settings(rows: Sequence[Settings], failed: Sequence[bool], n_levels: Sequence[int]) -> set[tuple[int, int]]:
    """Return the settings that are not worth further runs: they cause failures."""
    if not any(failed):
        return set()
    settings = [(j, level) for j, n in enumerate(n_levels) for level in range(1, n)]
    counts = {setting: failures(rows, failed, *setting) for setting in settings}
    n = len(settings)
    return {s for s, x in counts.items() if causes_failures(x.p, n) and x.n_failed >= HOPELESS * x.n}


@dataclass(frozen=True)
class FactorSpace:
    """What is varied, and how a row of an array becomes a configuration.

    Attributes:
        levels: of each, the default first.
        fixed: levels of the others.
        order: all factors, as the study has them.
    """

    names: tuple[str, ...]
    levels: tuple[tuple[Level, ...], ...]
    fixed: Mapping[str, Level]
    order: tuple[str, ...]

    @cached_property
    def n_levels(self) -> list[int]:
        return [len(levels) for levels in self.levels]

    @property
    def default(self) -> Settings:
        return tuple(0 for _ in self.names)

    @property
    def settings(self) -> list[tuple[int, int]]:
        """Return every non-default setting, by the indexes of its factor and its level."""
        return [(j, level) for j, n in enumerate(self.n_levels) for level in range(1, n)]

    def alone(self, factor: int, level: int) -> Settings:
        """Return one setting with all other factors at their defaults."""
        return tuple(level if j == factor else 0 for j in range(len(self.names)))

    def configuration(self, settings: Sequence[int]) -> dict[str, Level]:
        """Return the levels of all factors of the study, in its order."""
        varied = {name: levels[k] for name, levels, k in zip(self.names, self.levels, settings, strict=True)}
        return {name: varied.get(name, self.fixed.get(name, "")) for name in self.order}


def read_factor_space(study: Study) -> FactorSpace:
    """Read what is varied from a resolved study; the default without a baseline is the first level."""
    varied = {name: list(factor.levels) for name, factor in study.factors.items() if len(factor.levels) > 1}
    base = {name: study.baseline.get(name, levels[0]) for name, levels in varied.items()}
    return FactorSpace(
        names=tuple(varied),
        levels=tuple((base[name], *(x for x in varied[name] if not is_same_level(x, base[name]))) for name in varied),
        fixed={name: factor.levels[0] for name, factor in study.factors.items() if name not in varied},
        order=tuple(study.factors),
    )
