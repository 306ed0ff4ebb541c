"""How often is a claim of a paper decided wrongly, and how often is it decided at all?

Studies of three and of five runs, four kinds of claims, six kinds of noise. The truth lies at the end of the range that
bears a claim out, where each error is most frequent; then by twice the least visible effect inside.
"""

from collections.abc import Iterator
from math import exp

import numpy as np
from simulate.scaling import CLAIMS, NOISES, WAYS, decide_claim
from statistics_common import Case, Measure, main, share

from scalograph.analysis.comparisons import minimum_detectable_effect

RUNS = (3, 5)
# Of both errors at the end of the range: 5%, and what 400 cases may show of it by chance, two standard errors.
TARGET = (0.0, 7.2)


def decided(wanted: str, kind: str, way: str, alone: bool, times_visible: float = 0.0) -> Measure:
    """Share of claims with a decision, three and five runs in turn."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        found = []
        for turn in range(n_cases):
            n_runs = RUNS[turn % len(RUNS)]
            seen = minimum_detectable_effect(NOISES["normal"][0].score_sd(1), n_runs) or 0
            found.append(decide_claim(rng, kind, way, n_runs, alone, exp(times_visible * seen)))
        return share(sum(one == wanted for one in found), n_cases)

    return measure


def cases() -> Iterator[Case]:
    """Both errors of each kind under each noise, then what is decided rightly."""
    for way in WAYS:
        for kind in CLAIMS:
            yield Case(f'{kind}, {way}: just outside, and "holds"', TARGET, decided("holds", kind, way, alone=True))
            name = f'{kind}, {way}: just inside, and "does not hold"'
            yield Case(name, TARGET, decided("does not hold", kind, way, alone=False))
    for kind in CLAIMS:
        name = f'{kind}, normal: twice what is visible inside, and "holds"'
        yield Case(name, (80.0, 100.0), decided("holds", kind, "normal", alone=False, times_visible=2.0))


if __name__ == "__main__":
    main("statistics_published_claims", list(cases()), n_long=2_000, n_quick=400)
