"""What is said of two versions, and how often is it false? Runs in randomized blocks, eight kinds of noise.

False is: faster or slower where they are alike, or the wrong way round; the same, where they differ by 2% or more.
Useful is: an effect of twice what four of five sessions say is visible, told in four of five.
Modes: found where there are none, or missed.
"""

from collections.abc import Iterator
from math import expm1, log

import numpy as np
from simulate.two_studies import KINDS, Kind, blocks, session
from statistics_common import Case, Measure, main, share

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.modes import FEWEST, find_modes
from scalograph.analysis.quantiles import student_t, t_quantile
from scalograph.analysis.versus import SAME, classify_ratio, versus

FALSE, TOLD = (0.0, 6.5), (80.0, 100.0)
BLOCKS, EFFECTS = (5, 10, 20), (0.0, 0.01, 0.02, 0.04)


def false(kind: Kind, n: int, effect: float) -> Measure:
    """Share of comparisons that say what is false, with what they say."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        told = [classify_ratio(versus(*blocks(rng, kind, n, effect))) for _ in range(n_cases)]
        wrong = told.count("more") + (told.count("less") if effect == 0 else 0)
        wrong += told.count("equivalent") if effect >= SAME else 0
        shares = ", ".join(f"{100 * told.count(word) / n_cases:.0f}% {word}" for word in sorted(set(told)))
        return share(wrong, n_cases, shares)

    return measure


def detectable_effect(ratio: Estimate, power: float = 0.8) -> float | None:
    """The smallest relative effect that these pairs detect with this power; None without an interval."""
    if ratio.low is None or ratio.high is None or min(ratio.low, ratio.high) <= 0 or ratio.n < 2:
        return None
    half, df = log(ratio.high / ratio.low) / 2, ratio.n - 1
    return expm1(half * (1 + student_t(power, df) / t_quantile(ratio.confidence, df)))


def useful(kind: Kind, n: int) -> Measure:
    """Share of comparisons that tell twice the effect that four of five sessions say is visible."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        seen = [detectable_effect(versus(*blocks(rng, kind, n, 0.0))) for _ in range(n_cases)]
        effect = 2 * float(np.quantile([np.inf if x is None else x for x in seen], 0.8, method="higher"))
        if not np.isfinite(effect):
            return share(0, n_cases, "cannot be said, whatever the effect")
        less = 1 - 1 / (1 + effect)
        told = [classify_ratio(versus(*blocks(rng, kind, n, less))) for _ in range(n_cases)]
        return share(told.count("less"), n_cases, f"an effect of {100 * less:.1f}%")

    return measure


def two_modes(kind: Kind, n: int) -> Measure:
    """Share of samples in which two modes are found."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        return share(sum(find_modes(session(rng, kind, n)) is not None for _ in range(n_cases)), n_cases)

    return measure


def cases() -> Iterator[Case]:
    """False ones first, then useful ones, then modes."""
    for kind in KINDS:
        for n in BLOCKS:
            for effect in EFFECTS:
                yield Case(f"{kind}: {n} blocks, effect {100 * effect:g}%: false", FALSE, false(kind, n, effect))
            # So few runs against two modes, and a clock that shows no spread, say nothing whatever the effect.
            open_ended = kind == "ticks" or (kind == "modes" and n < FEWEST)
            target = None if open_ended else TOLD
            yield Case(f"{kind}: {n} blocks, twice the visible effect: told", target, useful(kind, n))
    for kind in KINDS:
        for n in (10, 20, 50):
            # A mode of 30% that is 23% lower; of ten runs it has fewer than three in 38%.
            target = ((50.0, 100.0) if n < 20 else TOLD) if kind == "modes" else FALSE
            yield Case(f"{kind}: two modes in {n} runs", target, two_modes(kind, n))


if __name__ == "__main__":
    main("statistics_ab", list(cases()), n_long=2_000, n_quick=800)
