"""Which classes of growth are left of times over sizes, and how often is the true one refuted, or told alone?

Six sizes that span a factor of a thousand, three runs of each; times begin at 1 and rise to 100, with each run off by a
few percent. What grows otherwise must be refused: a sum of n and n^2 in equal parts at the middle, and n that costs
eight times as much from the fourth size on, powers of n between the classes and above them. Sizes of one run each have
no spread to compare with: there, curves that miss a point by half or more must be refused.
"""

from collections.abc import Callable, Iterator

import numpy as np
from statistics_common import Case, Measure, main, share

from scalograph.analysis.center import FloatArray
from scalograph.analysis.complexity import fit_complexity
from scalograph.analysis.growth_classes import CLASSES

SIZES = np.repeat([16.0, 64, 256, 1024, 4096, 16384], 3)
MIDDLE = 1024.0
NOISES = (0.02, 0.05)
KEPT, REFUSED = (95.0, 100.0), (80.0, 100.0)
OTHERWISE = {
    "n and n^2": SIZES / MIDDLE + (SIZES / MIDDLE) ** 2,
    "n with a step": np.where(SIZES >= MIDDLE, 8 * SIZES, SIZES),
    **{f"n^{power:g}": (SIZES / MIDDLE) ** power for power in (0.5, 1.5, 2.5, 4.0)},
}

SINGLE = 2.0 ** np.arange(4, 13)
REGIMES = {
    "n with a step of 3": np.where(SINGLE >= 256, 3 * SINGLE, SINGLE),
    "n, then n^2": np.maximum(SINGLE, SINGLE**2 / 256),
    "n, then exponential": SINGLE / SINGLE.max() + 20 * np.exp(8 * (SINGLE / SINGLE.max() - 1)),
    "n, the last 10 times as long": np.where(SINGLE.max() == SINGLE, 10 * SINGLE, SINGLE),
}


def exact(name: str, sizes: FloatArray = SIZES) -> FloatArray:
    """Times of a class without noise."""
    rise = CLASSES[name](sizes)
    return np.asarray(1 + 99 * rise / rise.max())


def counted(times: FloatArray, noise: float, is_hit: Callable[[list[str]], bool], sizes: FloatArray = SIZES) -> Measure:
    """Share of cases whose classes that are left are a hit; the note says how many are left."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        made = (times * np.exp(noise * rng.standard_normal(sizes.size)) for _ in range(n_cases))
        left = [[growth.name for growth in fit_complexity(sizes, one).possible] for one in made]
        return share(sum(map(is_hit, left)), n_cases, f"{np.mean([len(names) for names in left]):.1f} left")

    return measure


def cases() -> Iterator[Case]:
    """The true class kept, the true class alone, other growth refused."""
    for noise in NOISES:
        told = f"runs differ by {100 * noise:g}%"
        for name in CLASSES:
            yield Case(
                f"{told}: {name}, not refuted", KEPT, counted(exact(name), noise, lambda left, n=name: n in left)
            )
        for name in list(CLASSES)[1:]:
            is_alone = counted(exact(name), noise, lambda left, n=name: left == [n])
            yield Case(f"{told}: {name}, told alone", None, is_alone)
        for name, times in OTHERWISE.items():
            target = REFUSED if noise == NOISES[0] else None
            yield Case(f"{told}: {name}, none is left", target, counted(times, noise, lambda left: not left))
        told = f"one run each, off by {100 * noise:g}%"
        for name in CLASSES:
            is_kept = counted(exact(name, SINGLE), noise, lambda left, n=name: n in left, SINGLE)
            yield Case(f"{told}: {name}, not refuted", KEPT, is_kept)
        for name, times in REGIMES.items():
            refused = counted(times, noise, lambda left: not left, SINGLE)
            yield Case(f"{told}: {name}, none is left", REFUSED, refused)


if __name__ == "__main__":
    main("statistics_complexity", list(cases()), n_long=1000, n_quick=100)
