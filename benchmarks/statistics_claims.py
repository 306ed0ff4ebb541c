"""How often is a sentence of a sweep false, and how often is it said where it is true?

Studies of eight curves over 1 to 16 threads on four CPUs, five blocks: all curves of one shape, and shapes mixed. A
template counts as false where it is said and does not hold of the truth; an effect of twice the least that such runs
can show is to be told.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from math import exp

import numpy as np
from simulate.scaling import NOISES, SHAPES, Shape, check_sentences, simulate_study
from statistics_common import SEED, Case, Measure, main, share

from scalograph.analysis.comparisons import minimum_detectable_effect
from scalograph.findings.sample import samples_by_configuration
from scalograph.questions.levels.model import differences

N_CURVES, N_BLOCKS = 8, 5
MIXED = [SHAPES[name] for name in ("flat", "linear", "amdahl", "cap", "cliff", "odd-even", "slower", "flat")]
STUDIES: Sequence[Sequence[Shape]] = [
    *([shape] * N_CURVES for shape in SHAPES.values()),
    MIXED,
    [SHAPES["slower"], *[SHAPES["linear"]] * (N_CURVES - 1)],
    [SHAPES["linear"], SHAPES["cliff"]],
]
TEMPLATES = ("faster", "gain", "lower", "decline", "split decline", "slower", "no gain", "equivalent")
EFFECT = exp(2 * (minimum_detectable_effect(NOISES["normal"][0].score_sd(1), N_BLOCKS) or 0))


def rise(n: float) -> float:
    """A gain of twice what can be seen."""
    return EFFECT if n >= 4 else 1.0


def drop(n: float) -> float:
    """A loss of as much."""
    return 1 / EFFECT if n >= 8 else 1.0


def fall(n: float) -> float:
    """A loss of as much after a gain."""
    return 4 / EFFECT if n == 16 else min(n, 4)


def is_false(template: str, noise: str) -> Measure:
    """Share of studies that say something false by this template."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        said = [found[template] for found in told(noise, n_cases) if template in found]
        return share(sum(said), n_cases, f"said {len(said)} times")

    return measure


@cache
def told(noise: str, n_cases: int) -> list[dict[str, bool]]:
    """What is said of as many studies, each in its turn; the same for all templates."""
    rng = np.random.default_rng([SEED, n_cases])
    turns = (STUDIES[i % len(STUDIES)] for i in range(n_cases))
    return [check_sentences(simulate_study(rng, shapes, *NOISES[noise]), shapes) for shapes in turns]


def is_told(shape: Callable[[float], float], template: str) -> Measure:
    """Share of studies that tell the one curve that differs."""
    shapes = [shape, *[SHAPES["flat"]] * (N_CURVES - 1)]

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        found = (check_sentences(simulate_study(rng, shapes, *NOISES["normal"]), shapes) for _ in range(n_cases))
        return share(sum(template in said for said in found), n_cases)

    return measure


def levels(shape: Callable[[float], float], noise: str) -> Measure:
    """Share of studies without a baseline that tell a difference."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        n_told = 0
        for _ in range(n_cases):
            table = simulate_study(rng, [shape, *[SHAPES["flat"]] * (N_CURVES - 1)], *NOISES[noise])
            n_told += differences(table, samples_by_configuration(table), "wall")[0].is_sure
        return share(n_told, n_cases)

    return measure


def cases() -> Iterator[Case]:
    """What is false, then what is told."""
    for noise in NOISES:
        for template in TEMPLATES:
            yield Case(f'"{template}" is false, noise {noise}', (0.0, 5.0), is_false(template, noise))
        yield Case(f"flat levels seem to differ, noise {noise}", (0.0, 5.0), levels(SHAPES["flat"], noise), 0.3)
    for name, shape, template in (("gain", rise, "faster"), ("loss", drop, "slower"), ("fall", fall, "decline")):
        yield Case(f"a {name} of twice what can be seen is told", (80.0, 100.0), is_told(shape, template), 0.5)
    yield Case("levels that differ by as much are told to", (80.0, 100.0), levels(rise, "normal"), 0.3)


if __name__ == "__main__":
    main("statistics_claims", list(cases()), n_long=800, n_quick=24)
