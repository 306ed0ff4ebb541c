"""Up to which level is a limit met? Searches of fifteen runs on queues that are known: how far off, and how sure?

Queues are flat or steep, of one server or several, with a response without load of 2 to 60% of the limit. Runs near
the limit, and beyond it, are three times as noisy as those without load. Beside them a binary search with one run a
step, as it is done by hand (with k6, say, which is not among what the benchmarks install).
"""

from collections.abc import Iterator, Sequence

import numpy as np
from simulate.noise import Noise
from simulate.within_limit import bisect, queue, search
from statistics_common import Case, Measure, main, share

NOISES = {"1%": Noise(0.0, 0.01), "3%": Noise(0.0, 0.03), "8%": Noise(0.0, 0.08), "slowed": Noise(0.0, 0.03, 0.05)}
RANGES: dict[str, Sequence[int]] = {"10 to 1000": range(10, 1001), "1 to 64": range(1, 65)}


def within(noise: Noise, levels: Sequence[int], most: float) -> Measure:
    """Share of searches that end within such a share of the level, or between the same two levels."""

    def measure(rng: np.random.Generator, n: int) -> tuple[float, float, str]:
        hits, runs = 0, []
        for _ in range(n):
            over, place = queue(rng, levels[-1])
            found, k = search(over, levels, rng, noise)
            assert found is not None
            hits += abs(found.level - place) <= max(most * place, 1.0)
            runs.append(k)
        return share(hits, n, f"{np.mean(runs):.1f} runs")

    return measure


def held(noise: Noise, levels: Sequence[int]) -> Measure:
    """Share of intervals that hold the level; the note has those that the search ended with by itself."""

    def measure(rng: np.random.Generator, n: int) -> tuple[float, float, str]:
        hits = n_known = 0
        for _ in range(n):
            over, place = queue(rng, levels[-1])
            found, _ = search(over, levels, rng, noise)
            assert found is not None
            hits, n_known = hits + (found.low <= place <= found.high), n_known + found.is_known
        return share(hits, n, f"decided in {100 * n_known / n:.0f}%")

    return measure


def bisected(noise: Noise, levels: Sequence[int], most: float) -> Measure:
    """Share of binary searches that end as near."""

    def measure(rng: np.random.Generator, n: int) -> tuple[float, float, str]:
        hits, runs = 0, []
        for _ in range(n):
            over, place = queue(rng, levels[-1])
            level, k = bisect(over, levels, rng, noise)
            hits += abs(level - place) <= max(most * place, 1.0)
            runs.append(k)
        return share(hits, n, f"{np.mean(runs):.1f} runs")

    return measure


def cases() -> Iterator[Case]:
    for name, noise in NOISES.items():
        for span, levels in RANGES.items():
            text = f"runs differ by {name}, {span}" if name[0].isdigit() else f"1 in 20 runs slowed, {span}"
            yield Case(f"{text}: within 5%, or one level", (95.0, 100.0), within(noise, levels, 0.05))
            yield Case(f"{text}: a binary search is as near", None, bisected(noise, levels, 0.05))
            yield Case(f"{text}: the interval holds it", (95.0, 100.0), held(noise, levels))


if __name__ == "__main__":
    main("statistics_within_limit", list(cases()), n_long=1_000, n_quick=60)
