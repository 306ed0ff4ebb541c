"""How often does `watch` cry wolf over 212 series of 60 commits, and how soon does it find a step of 5%?

Simulated levels: the mean log score of a result over its configurations, independent from commit to commit, with a
standard deviation of 1, 1.5, or 2%; some with one outlier of twenty, five times as wide. The recent time holds the last
15 commits. `history` (circular binary segmentation) at 5% over all series stands beside it, and apache-otava where
OTAVA names a Python that has it: the benchmarks do not install it.

`--quick` makes 20 nights. A night of a step has 20 series with one among the 212.
"""

import json
import os
import subprocess
from functools import partial
from math import log

import numpy as np
from statistics_common import Case, Measure, main, share

from scalograph.analysis.change_points import change_points, recent_rises

SERIES, COMMITS, RECENT, CHANGED, STEP = 212, 60, 15, 20, log(1.05)
OUTLIERS, WIDER = 0.05, 5.0
# Of a place that counts as right.
NEAR = 2


def levels(rng: np.random.Generator, noise: float, outliers: bool = False) -> np.ndarray:
    """Logs of the levels of all series, without a change."""
    wide = np.where(rng.random((SERIES, COMMITS)) < OUTLIERS, WIDER, 1.0) if outliers else 1.0
    return rng.normal(0, noise, (SERIES, COMMITS)) * wide


def rises(every: np.ndarray, seed: int) -> list[list[int]]:
    """Places of recent rises of each series."""
    begin = COMMITS - RECENT
    changes = recent_rises([*every], [begin] * SERIES, seed=seed)
    return [[change.place for change in series if change.place >= begin] for series in changes]


def false_nights(
    rng: np.random.Generator, n: int, noise: float, outliers: bool, drift: float
) -> tuple[float, float, str]:
    """Nights without a change in which some series has an alarm."""
    hits = 0
    for seed in range(n):
        every = levels(rng, noise, outliers)
        walk = np.cumsum(rng.normal(0, drift, COMMITS)) if drift else 0.0
        hits += any(rises(every + walk, seed))
    return share(hits, n)


def older_step_nights(rng: np.random.Generator, n: int) -> tuple[float, float, str]:
    """Nights with an alarm although all steps, of a quarter of the series, are older than the recent time."""
    hits = 0
    for seed in range(n):
        every = levels(rng, 0.01)
        for i in range(SERIES // 4):
            every[i, rng.integers(5, COMMITS - RECENT - 2) :] += STEP * rng.choice([-2, 2])
        hits += any(rises(every, seed))
    return share(hits, n)


def steps_found(rng: np.random.Generator, n: int, noise: float, late: int) -> tuple[float, float, str]:
    """Steps that are found when so many results are on the new level."""
    hits = 0
    for seed in range(n):
        every, at = levels(rng, noise), COMMITS - late
        every[:CHANGED, at:] += STEP
        hits += sum(any(abs(place - at) <= NEAR for place in series) for series in rises(every, seed)[:CHANGED])
    return share(hits, CHANGED * n)


def steps_found_within(rng: np.random.Generator, n: int, noise: float, most: int) -> tuple[float, float, str]:
    """Steps that some night finds of those with 2 to `most` results on the new level."""
    hits = 0
    for seed in range(n):
        every, seen = rng.normal(0, noise, (SERIES, COMMITS + most - 2)), np.zeros(CHANGED, dtype=bool)
        every[:CHANGED, COMMITS - 2 :] += STEP
        for late in range(2, most + 1):
            night = every[:, late - 2 : COMMITS + late - 2]
            near = [any(abs(place - COMMITS + late) <= NEAR for place in series) for series in rises(night, seed)]
            seen |= near[:CHANGED]
        hits += int(seen.sum())
    return share(hits, CHANGED * n)


def otava_figures(rng: np.random.Generator, n: int, noise: float) -> tuple[float, float, str]:
    """Steps that apache-otava finds with 5 results on the new level, at its own p of 0.001, and its false alarms."""
    at = COMMITS - 5
    steps = rng.normal(0, noise, (CHANGED * n, COMMITS))
    steps[:, at:] += STEP
    series = np.exp([*steps, *(values for _ in range(n) for values in levels(rng, noise))])
    script = (
        "import json, sys; from otava.analysis import compute_change_points as c\n"
        "for x in json.load(sys.stdin): print(*(p.index for p in c(x, window_len=50, max_pvalue=0.001)[0]))"
    )
    done = subprocess.run(
        [os.environ["OTAVA"], "-c", script],
        input=json.dumps(series.tolist()),
        capture_output=True,
        text=True,
        check=True,
    )
    places = [[int(word) for word in line.split()] for line in done.stdout.split("\n")[: len(series)]]
    hits = sum(any(abs(place - at) <= NEAR for place in each) for each in places[: len(steps)])
    nights = np.array([any(place >= COMMITS - RECENT for place in each) for each in places[len(steps) :]])
    false = int(nights.reshape(n, SERIES).any(axis=1).sum())
    return share(hits, len(steps), f"{false} of {n} nights without a step have an alarm")


def found_by_segmentation(rng: np.random.Generator, n: int, noise: float, late: int) -> tuple[float, float, str]:
    """The same by circular binary segmentation at 5% for each series, not over all."""
    hits = false = 0
    for _ in range(n):
        every, at = levels(rng, noise)[: 2 * CHANGED], COMMITS - late
        every[:CHANGED, at:] += STEP
        places = [[change.place for change in change_points([*series])] for series in every]
        hits += sum(any(abs(place - at) <= NEAR for place in series) for series in places[:CHANGED])
        false += sum(any(place >= COMMITS - RECENT for place in series) for series in places[CHANGED:])
    return share(hits, CHANGED * n, f"{100 * false / (CHANGED * n):.1f}% of series without a step have one")


def cases() -> list[Case]:
    """All figures."""
    kinds = {"1% noise": (0.01, False, 0.0), "1% noise with outliers": (0.01, True, 0.0)}
    nights: list[Case] = [
        Case(f"nights with a false alarm, {name}", (0, 5), partial(_false_nights, kind)) for name, kind in kinds.items()
    ]
    nights.append(Case("nights with an alarm, older steps alone", (0, 5), older_step_nights))
    drift = partial(_false_nights, (0.01, False, 0.003))
    nights.append(Case("nights with an alarm, a common drift of 0.3% a commit", None, drift, 0.1))
    for noise in (0.01, 0.015, 0.02):
        for late in (2, 3, 5):
            target = (80, 100) if late == 5 else None
            nights.append(
                Case(f"5% steps found after {late}, {100 * noise:g}% noise", target, _steps(noise, late), 0.1)
            )
    within = partial(steps_found_within, noise=0.02, most=5)
    nights.append(Case("5% steps found by some night within 5 commits, 2% noise", (80, 100), within, 0.1))
    if "OTAVA" in os.environ:
        nights.append(Case("apache-otava: found after 5, 2% noise", None, partial(otava_figures, noise=0.02), 0.1))
    nights.append(Case("history, each series at 5%: found after 5, 1.5% noise", None, _segmentation(0.015, 5), 0.1))
    return nights


def _false_nights(kind: tuple[float, bool, float], rng: np.random.Generator, n: int) -> tuple[float, float, str]:
    return false_nights(rng, n, *kind)


def _steps(noise: float, late: int) -> Measure:
    return lambda rng, n: steps_found(rng, n, noise, late)


def _segmentation(noise: float, late: int) -> Measure:
    return lambda rng, n: found_by_segmentation(rng, n, noise, late)


if __name__ == "__main__":
    main("watch_truth", cases(), 200, 20)
