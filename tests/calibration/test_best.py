"""The short version of benchmarks/statistics_best.py: the best level is among those that may be, and intervals hold."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from scalograph.analysis.contenders import Contender, contenders
from tests.calibration.sequential import is_share

# Two of four levels are best by a hair.
TYPICAL = {1: 1.8, 2: 1.0, 4: 1.01, 8: 1.03}
OVER_BEST = {k: t / min(other for j, other in TYPICAL.items() if j != k) for k, t in TYPICAL.items()}


def tables() -> Iterator[list[Contender]]:
    rng = np.random.default_rng(3)
    while True:
        yield contenders({k: dict(enumerate(t * np.exp(rng.normal(0, 0.02, 5)))) for k, t in TYPICAL.items()})


def holds_the_best(table: list[Contender]) -> bool:
    return next(one.may_be_best for one in table if one.level == 2)


def holds_all_ratios(table: list[Contender]) -> bool:
    return all(one.over_best.contains(OVER_BEST[int(one.level)]) for one in table)


@pytest.mark.parametrize("holds", [holds_the_best, holds_all_ratios])
def test_as_often_as_was_asked_for(holds: Callable[[list[Contender]], bool]) -> None:
    assert is_share(map(holds, tables()), 0.96, rather_than=0.86)
