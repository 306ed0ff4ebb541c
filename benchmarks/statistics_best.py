"""Is the best level among those that may be the best, and do all intervals over the best hold at once?

Tables of four levels, two of them best by a hair, five runs of each.
"""

from collections.abc import Callable, Iterator

import numpy as np
from statistics_common import Case, Measure, main, share

from scalograph.analysis.contenders import Contender, contenders

TARGET = (93.0, 100.0)
TYPICAL = {1: 1.8, 2: 1.0, 4: 1.01, 8: 1.03}
OVER_BEST = {k: t / min(other for j, other in TYPICAL.items() if j != k) for k, t in TYPICAL.items()}


def table(rng: np.random.Generator) -> list[Contender]:
    """What is told of one table."""
    return contenders({k: dict(enumerate(t * np.exp(rng.normal(0, 0.02, 5)))) for k, t in TYPICAL.items()})


def holds_the_best(told: list[Contender]) -> bool:
    """Whether the best level is in the set."""
    return next(one.may_be_best for one in told if one.level == 2)


def holds_all_ratios(told: list[Contender]) -> bool:
    """Whether every interval over the best holds its ratio."""
    return all(one.over_best.contains(OVER_BEST[int(one.level)]) for one in told)


def tables(holds: Callable[[list[Contender]], bool]) -> Measure:
    """Share of tables that hold what they should."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        return share(sum(holds(table(rng)) for _ in range(n_cases)), n_cases)

    return measure


def cases() -> Iterator[Case]:
    """The set, then the intervals."""
    yield Case("tables whose set holds the best level", TARGET, tables(holds_the_best))
    yield Case("tables whose intervals over the best all hold", TARGET, tables(holds_all_ratios))


if __name__ == "__main__":
    main("statistics_best", list(cases()), n_long=3_000, n_quick=300)
