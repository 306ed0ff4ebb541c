"""Which of two groups of settings matters more? On programs of which it is known what each setting does.

Six factors over four, with as many settings as those of studies/vm-tunables, 33 in all. How far the levels of each lie
apart is given; their gains are drawn. Every setting alone five times.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from simulate.noise import LOW
from simulate.tunables import TunedProgram, search
from statistics_common import SEED, Case, Measure, main, share

from scalograph.analysis.estimate import Estimate
from scalograph.questions.tunables.model_groups import GroupSpread, group_ratio
from scalograph.study.model import ONE_AT_A_TIME

FIRST, SECOND = range(6), range(6, 10)
N_LEVELS = (4, 4, 5, 5, 4, 4, 4, 5, 5, 3)


class Truth(NamedTuple):
    """Standard deviations of the levels of each factor of both groups, in percent, and mean over mean of them."""

    first: tuple[float, ...]
    second: tuple[float, ...]
    ratio: float


TRUTHS = {
    "no effect": Truth((0,) * 6, (0,) * 4, 1.0),
    "all 1%": Truth((1,) * 6, (1,) * 4, 1.0),
    "all 4%": Truth((4,) * 6, (4,) * 4, 1.0),
    "one of six 9%, each of four 1.5%": Truth((9, 0, 0, 0, 0, 0), (1.5,) * 4, 1.0),
    "each of six 1.5%, one of four 6%": Truth((1.5,) * 6, (6, 0, 0, 0), 1.0),
    "each of six 4%, each of four 2%": Truth((4,) * 6, (2,) * 4, 2.0),
    "one of six 9%, one of four 3%": Truth((9, 0, 0, 0, 0, 0), (3, 0, 0, 0), 2.0),
}


@cache
def ratios(name: str, n: int) -> tuple[Estimate, ...]:
    """Estimate the contrast of n programs."""
    rng = np.random.default_rng([SEED, [*TRUTHS].index(name)])
    return tuple(_ratio(TRUTHS[name], rng) for _ in range(n))


def _ratio(truth: Truth, rng: np.random.Generator) -> Estimate:
    spreads = [x / 100 for x in (*truth.first, *truth.second)]
    made = TunedProgram(tuple(_gains(rng, n, sd) for n, sd in zip(N_LEVELS, spreads, strict=True)))
    found = search(made, rng, LOW, ONE_AT_A_TIME, 5).fit_settings()
    assert found is not None
    return group_ratio(GroupSpread(found, FIRST), GroupSpread(found, SECOND), 0.95, len(spreads))


def _gains(rng: np.random.Generator, n: int, sd: float) -> tuple[float, ...]:
    drawn = np.append(0.0, rng.standard_normal(n - 1))
    return tuple((sd * drawn / drawn.std(ddof=1)).tolist())


def of(name: str, told: Callable[[Estimate], bool]) -> Measure:
    """Share of the programs of whose contrast something is true; the note has the typical value."""

    def measure(rng: np.random.Generator, n: int) -> tuple[float, float, str]:
        found = ratios(name, n)
        return share(sum(map(told, found)), n, f"{np.median([one.value or 0 for one in found]):.2f} times typically")

    return measure


def cases() -> Iterator[Case]:
    for name, truth in TRUTHS.items():

        def holds(one: Estimate, ratio: float = truth.ratio) -> bool:
            return (one.low or 0.0) <= ratio and (one.high is None or ratio <= one.high)

        def is_more(one: Estimate) -> bool:
            return (one.low or 0.0) > 1

        yield Case(f"{name}: the interval holds the truth", (93.0, 100.0), of(name, holds))
        target = (0.0, 4.0) if truth.ratio == 1 else None
        yield Case(f"{name}: the first group is said to matter more", target, of(name, is_more))


if __name__ == "__main__":
    main("statistics_groups", list(cases()), n_long=100, n_quick=10)
