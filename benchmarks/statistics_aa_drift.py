"""How often do two samples of the same thing seem to differ, when times drift by 6% over the session?

An A/A test compares a configuration with itself: every difference is false, and 5% of the tests may find one.
The order of the runs decides: pairs in random order and compared pair by pair, or all of A and then all of B.
"""

from collections.abc import Iterator

import numpy as np
from simulate.noise import NOISES, Noise
from simulate.runs import Order, aa_tests, sweep
from statistics_common import Case, Measure, main, share

from scalograph.analysis.comparisons import compare
from scalograph.analysis.speedup_points import speedup

TARGET = (0.0, 6.0)
DRIFT = 0.06
LEVELS = (1, 2, 4, 8, 16, 32)


def sessions(
    noise: Noise, n_pairs: int, order: Order, *, paired: bool, drift: float = DRIFT, margin: float = 0.0
) -> Measure:
    """Share of A/A sessions with a false difference; one below the margin does not count."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        a, b = aa_tests(rng, n_cases, n_pairs, order=order, drift_total=drift, noise=noise)
        found = [compare(x, y, paired=paired, margin=margin) for x, y in zip(a, b, strict=True)]
        effect = np.median([c.minimum_detectable_effect or 0.0 for c in found])
        wrong = sum(c.label in ("faster", "slower") for c in found)
        return share(wrong, n_cases, f"would find {100 * effect:.1f}%")

    return measure


def tables(noise: Noise, pair: bool) -> Case:
    """Five levels that are all like the baseline: how often does any seem to differ?"""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        wrong = 0
        for _ in range(n_cases):
            scores, blocks = sweep(rng, dict.fromkeys(LEVELS, 1.0), 5, noise=noise, drift_total=DRIFT)
            points = speedup(scores, blocks=blocks if pair else None)
            wrong += not all(p.simultaneous.contains(1.0) for p in points)
        return share(wrong, n_cases, "any of 5 levels")

    name = next(k for k, v in NOISES.items() if v == noise)
    way = "paired" if pair else "Welch"
    return Case(f"{name}: speedup table, 5 randomized blocks, max-t {way}", TARGET, measure, share_of_n=0.1)


def cases() -> Iterator[Case]:
    """All figures: ours first, then the contrasts."""
    for name, noise in NOISES.items():
        for n in (3, 5, 10):
            ours = sessions(noise, n, "randomized", paired=True)
            yield Case(f"{name}: {n} randomized pairs, paired t", TARGET, ours)
        labeled = sessions(noise, 10, "randomized", paired=True, margin=0.01)
        yield Case(f"{name}: 10 randomized pairs, called faster or slower by 1%", TARGET, labeled)
        yield tables(noise, pair=True)
    asked = sessions(NOISES["low"], 10, "randomized", paired=True)
    yield Case("low: 10 randomized pairs, paired t, 1000 sessions", TARGET, asked, fixed_n=1000)
    for name, noise in NOISES.items():
        yield tables(noise, pair=False)
        for order in ("randomized", "alternating", "blocked"):
            for paired in (True, False):
                if order == "randomized" and paired:
                    continue
                way = "paired t" if paired else "Welch t"
                wrong = sessions(noise, 10, order, paired=paired)
                yield Case(f"{name}: 10 + 10 {order}, {way}", None, wrong)
        still = sessions(noise, 10, "blocked", paired=False, drift=0.0)
        yield Case(f"{name}: 10 + 10 blocked, Welch t, no drift", None, still)


if __name__ == "__main__":
    main("statistics_aa_drift", list(cases()), n_long=20_000, n_quick=1_000)
