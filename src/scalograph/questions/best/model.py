"""The grid that is searched: coordinates of its configurations, and which of them are measured first."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log2

import numpy as np
from numpy.typing import NDArray

from scalograph.analysis.center import FloatArray
from scalograph.protocol.plain import is_number
from scalograph.study.levels import Configuration
from scalograph.study.scalars import Level

IntArray = NDArray[np.int64]
# Coordinates that a factor with levels of 0 and less spans, as many octaves do of others.
LINEAR = 6.0
# Drawn designs of the first runs, of which the most even one is taken.
N_DESIGNS = 32


@dataclass(frozen=True)
class BestSpace:
    """A grid of configurations, those that may run.

    Attributes:
        names: the factors that vary.
        levels: of each, in their order.
        at: the place of each configuration's level, shape (configurations, factors).
        default: the index of the configuration that others are compared with.
    """

    names: tuple[str, ...]
    levels: tuple[tuple[Level, ...], ...]
    at: IntArray
    default: int

    @cached_property
    def axes(self) -> list[FloatArray | None]:
        """Return the coordinate of each level: octaves, or shares of `LINEAR`; None of texts, which have no order."""
        return [_coordinates(levels) for levels in self.levels]

    @cached_property
    def places(self) -> FloatArray:
        """Return the configurations in a unit cube, shape (configurations, columns); each text level is a column."""
        columns = []
        for j, axis in enumerate(self.axes):
            own = self.at[:, j]
            if axis is None:
                columns += [np.where(own == k, 0.7, 0.0) for k in range(len(self.levels[j]))]
            else:
                span = float(np.ptp(axis)) or 1.0
                columns.append((axis[own] - axis.min()) / span)
        return np.stack(columns, axis=1)

    def first(self, seed: int) -> list[int]:
        """Choose the configurations that are measured in any case: the default, and others spread evenly.

        Each factor's levels are taken equally often (a Latin hypercube), the nearest configurations that may run.
        """
        n = min(len(self.at), n_first(self))
        if n == len(self.at):
            return random.Random(seed).sample(range(n), n)
        draw = random.Random(f"{seed} first")
        designs = [self._design(n, draw) for _ in range(N_DESIGNS)]
        return max(designs, key=self._least_distance)

    def _design(self, n: int, draw: random.Random) -> list[int]:
        columns = []
        for axis, levels in zip(self.axes, self.levels, strict=True):
            order = draw.sample(range(n), n)
            if axis is None:
                kind = draw.sample(range(len(levels)), len(levels))
                columns += [np.array([0.7 * (kind[i % len(kind)] == k) for i in order]) for k in range(len(levels))]
            else:
                columns.append(np.array([i / max(n - 1, 1) for i in order]))
        chosen = [self.default]
        for target in np.stack(columns, axis=1)[: n - 1]:
            apart = np.round(((self.places - target) ** 2).sum(axis=1), 9)
            apart[chosen] = np.inf
            chosen.append(int(np.argmin(apart)))
        return chosen

    def _least_distance(self, chosen: Sequence[int]) -> float:
        at = self.places[[*chosen]]
        apart = ((at[:, None] - at[None, :]) ** 2).sum(axis=2) + 9.0 * np.eye(len(at))
        return float(np.round(apart.min(), 9))


def n_first(space: BestSpace) -> int:
    """Return how many configurations are measured first: by the number of factors and texts."""
    n_ordered = sum(axis is not None for axis in space.axes)
    texts = sum(len(levels) - 1 for levels, axis in zip(space.levels, space.axes, strict=True) if axis is None)
    return 2 + 5 * n_ordered + texts


def _coordinates(levels: Sequence[Level]) -> FloatArray | None:
    numbers = [float(level) for level in levels if is_number(level)]
    if len(numbers) < len(levels):
        return None
    if min(numbers) > 0:
        return np.array([log2(x) for x in numbers])
    span = max(numbers) - min(numbers) or 1.0
    return np.array([LINEAR * (x - min(numbers)) / span for x in numbers])


def read_space(configurations: Sequence[Configuration], default: Mapping[str, Level]) -> BestSpace:
    """Read the grid of configurations; the default is the one that has the most levels of `default`, the first such."""
    names = tuple(n for n in configurations[0] if len({(type(t[n]), t[n]) for t in configurations}) > 1)
    levels = tuple(tuple(dict.fromkeys(t[name] for t in configurations)) for name in names)
    index = [{level: k for k, level in enumerate(own)} for own in levels]
    at = np.array([[index[j][t[name]] for j, name in enumerate(names)] for t in configurations], dtype=np.int64)
    alike = [sum(t.get(name) == level for name, level in default.items()) for t in configurations]
    return BestSpace(names, levels, at.reshape(len(configurations), len(names)), alike.index(max(alike)))
