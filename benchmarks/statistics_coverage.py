"""Does a 95% interval hold the truth 95 times in 100? Ours, and the ways that are often used instead.

Noise `low`: 2% between the iterations of a run, 3% between runs. `high`: 5%, 3%, and 3% of the runs are
slowed 1.5 times. A score is the median of 20 iterations. The truth is named with each figure: the median, the
geometric or the arithmetic mean of the scores of all runs there could be.
"""

from collections.abc import Callable, Iterator

import numpy as np
from scipy import stats
from simulate.noise import NOISES, FloatArray, Noise, Truth
from simulate.runs import run_iterations, run_scores, sweep
from simulate.two_studies import coverage
from statistics_common import Case, Measure, main, share

from scalograph.analysis.comparisons import minimum_detectable_effect
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.interval import summarize
from scalograph.analysis.ratios import paired_ratio, ratio
from scalograph.analysis.speedup_points import speedup

TARGET = (93.0, 97.0)
POWER = (78.0, 82.0)
COUNTS = (3, 5, 10)
LEVELS = (1, 2, 4, 8, 16, 32)


def of_one(noise: Noise, n: int, truth: Truth, interval: Callable[[FloatArray], Estimate]) -> Measure:
    """Coverage of an interval of one configuration."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        found = coverage(map(interval, run_scores(rng, (n_cases, n), noise)), noise.truth(truth))
        return 100 * found.share, 100 * found.error, f"+-{100 * found.half_width:.2f}%"

    return measure


def of_two(noise: Noise, n: int, interval: Callable[[FloatArray, FloatArray], Estimate]) -> Measure:
    """Coverage of a ratio that is truly 1.25."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        a, b = 1.25 * run_scores(rng, (n_cases, n), noise), run_scores(rng, (n_cases, n), noise)
        found = coverage(map(interval, a, b), 1.25)
        return 100 * found.share, 100 * found.error, f"+-{100 * found.half_width:.2f}%"

    return measure


def pooled_iterations(noise: Noise, n: int) -> Measure:
    """The wrong way: every iteration counted as if it were a run."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        pools = (run_iterations(rng, 1.0, n, 20, noise).ravel() for _ in range(n_cases))
        found = coverage(map(summarize, pools), noise.truth("median"))
        return 100 * found.share, 100 * found.error, f"+-{100 * found.half_width:.2f}%"

    return measure


def bca(x: FloatArray) -> Estimate:
    """The wrong way: a BCa bootstrap of a handful of runs (arithmetic mean)."""
    rng = np.random.default_rng(1)
    found = stats.bootstrap((x,), np.mean, n_resamples=999, method="BCa", vectorized=True, rng=rng)
    low, high = found.confidence_interval
    return Estimate(float(x.mean()), float(low), float(high), 0.95, x.size, "BCa")


def quotient(a: FloatArray, b: FloatArray) -> Estimate:
    """The wrong way: low end over high end, high end over low end."""
    one, two = summarize(a), summarize(b)
    assert one.value and two.value and one.low and two.low and one.high and two.high
    ends = one.low / two.high, one.high / two.low
    return Estimate(one.value / two.value, *ends, 0.95, a.size, "quotient of intervals")


def table(noise: Noise, n: int, pair: bool, simultaneous: bool) -> Measure:
    """How often all five columns of a speedup table hold their truth at once."""
    truth = {level: float(level) ** 0.8 for level in LEVELS}

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        hits = 0
        for _ in range(n_cases):
            scores, blocks = sweep(rng, {m: 1 / truth[m] for m in LEVELS}, n, noise=noise)
            points = speedup(scores, blocks=blocks if pair else None)
            hits += all((p.simultaneous if simultaneous else p.speedup).contains(truth[p.n]) for p in points)
        return share(hits, n_cases)

    return measure


def power(n: int) -> Measure:
    """How often an effect of the stated minimum detectable size is found (two samples, 3% noise)."""
    effect = minimum_detectable_effect(0.03, n) or 0.0

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        a = np.exp(effect + 0.03 * rng.standard_normal((n_cases, n)))
        b = np.exp(0.03 * rng.standard_normal((n_cases, n)))
        p = stats.ttest_ind(np.log(a), np.log(b), axis=1).pvalue
        return share(int((p < 0.05).sum()), n_cases, f"effect {100 * effect:.1f}%")

    return measure


def cases() -> Iterator[Case]:
    """All figures: ours first, then the contrasts."""
    for name, noise in NOISES.items():
        for n in COUNTS:
            at = f"{name}, {n} runs"
            yield Case(f"{at}: typical, t on logs (median)", TARGET, of_one(noise, n, "median", summarize))
            yield Case(f"{at}: ratio, Welch t on logs", TARGET, of_two(noise, n, ratio))
            yield Case(f"{at}: ratio, paired t on logs", TARGET, of_two(noise, n, paired_ratio))
            mean = of_one(noise, n, "mean", lambda x: summarize(x, estimand="mean"))
            yield Case(f"{at}: mean, t (arithmetic mean)", TARGET, mean)
        yield from trimmed(name, noise)
        yield Case(f"{name}, 5 runs: all 5 columns, max-t Welch", TARGET, table(noise, 5, False, True), share_of_n=0.1)
        yield Case(
            f"{name}, 5 blocks: all 5 columns, max-t paired", TARGET, table(noise, 5, True, True), share_of_n=0.1
        )
    for n in (3, 5, 10, 20):
        yield Case(f"power at the minimum detectable effect, {n} runs", POWER, power(n), share_of_n=5)
    yield from contrasts()


def trimmed(name: str, noise: Noise) -> Iterator[Case]:
    """The option for studies with rare slow runs."""
    for n in (10, 20):
        at = f"{name}, {n} runs, 10% trimmed"
        one = of_one(noise, n, "median", lambda x: summarize(x, trim=0.1))
        two = of_two(noise, n, lambda a, b: ratio(a, b, trim=0.1))
        yield Case(f"{at}: typical (median)", TARGET, one)
        yield Case(f"{at}: ratio, Welch t on logs", TARGET, two)
        pairs = of_two(noise, n, lambda a, b: paired_ratio(a, b, trim=0.1))
        yield Case(f"{at}: ratio, paired t on logs", TARGET, pairs)


def contrasts() -> Iterator[Case]:
    """What happens with another truth, and with other methods."""
    for name, noise in NOISES.items():
        for n in COUNTS:
            at = f"{name}, {n} runs"
            yield Case(f"{at}: t on logs (geometric mean)", None, of_one(noise, n, "geometric", summarize))
            yield Case(f"{at}: pooled iterations (median)", None, pooled_iterations(noise, n), share_of_n=0.2)
            yield Case(f"{at}: BCa bootstrap (median)", None, of_one(noise, n, "median", bca), share_of_n=0.1)
            yield Case(f"{at}: ratio, quotient of intervals", None, of_two(noise, n, quotient), share_of_n=0.2)
        yield Case(
            f"{name}, 5 runs: all 5 columns, single intervals", None, table(noise, 5, False, False), share_of_n=0.1
        )
        yield Case(f"{name}, 20 runs: typical, t on logs (median)", None, of_one(noise, 20, "median", summarize))
        yield Case(f"{name}, 20 runs: ratio, Welch t on logs", None, of_two(noise, 20, ratio))


if __name__ == "__main__":
    main("statistics_coverage", list(cases()), n_long=20_000, n_quick=1_000)
