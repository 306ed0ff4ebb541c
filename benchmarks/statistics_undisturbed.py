"""Do corrected contrasts hold the truth? A CPU of two speeds, one that others take, and pairs that were added.

Coverage is of both cases, no effect and 5%. False is "different" of equals; an interval moves with the effect, so that
false shares and coverage of an extension are one figure.
"""

import zlib
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import product
from math import log, log1p

import numpy as np
from simulate.noise import FloatArray
from simulate.two_studies import SPREAD, TYPICAL, Kind, session
from simulate.undisturbed import Program, TakenRuns, TimedPairs, TwoSpeeds, quiet_time, run_program, time_pairs
from statistics_common import Case, Measure, main, share

from scalograph.analysis.center import center
from scalograph.analysis.contrast import Contrast, paired_contrast, speed_adjusted_contrast
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.stopping import Stopping, level_of_look
from scalograph.analysis.versus import versus

EFFECT, COVERS, FOUND, FALSE = 0.05, (93.0, 97.0), (95.0, 100.0), (0.0, 6.0)
PHASES = {"30-300 ms": (0.03, 0.3), "30 ms-5 s": (0.03, 5.0), "2-20 s": (2.0, 20.0)}
# From one time of the loop to the next, and their spread: as the probe times it, and twice as often with more noise.
LOOPS = {"8 ms, 2%": (0.008, 0.02), "4 ms, 5%": (0.004, 0.05)}
PROBE = next(iter(LOOPS))
SIZES = {"10 x 100 ms": (10, 0.1), "50 x 20 ms": (50, 0.02)}
FELT = 1.5  # times as long a program takes in slow phases; 1 for one that does not depend on them
Ends = tuple[float, float]
Estimator = Callable[[TimedPairs, int], Ends]


@lru_cache(maxsize=1)
def draw(phases: str, loop: str, size: str, felt: float, slowed: float, n_cases: int) -> tuple[TimedPairs, TimedPairs]:
    """The same machines for all estimators, without an effect and with one; a share of the runs takes three times."""
    rng = np.random.default_rng(zlib.crc32(f"{phases}{loop}{size}{felt}".encode()))
    period_s, noise = LOOPS[loop]
    machine = TwoSpeeds(*PHASES[phases], program=felt, period_s=period_s, noise=noise)
    same, more = (time_pairs(rng, machine, n_cases, *SIZES[size], effect) for effect in (0.0, EFFECT))
    for pairs in (same, more):
        pairs.times[rng.random(pairs.times.shape) < slowed] += log(3)
    return same, more


def cpu_time(pairs: TimedPairs, i: int) -> Ends:
    """CPU time alone, paired t."""
    return _contrast_ends(paired_contrast(*pairs.times[i]))


def covariate(pairs: TimedPairs, i: int, trim: float = 0.1) -> Ends:
    """With the loop time of the CPU, as the inverse of its mean speed, as covariate."""
    return _contrast_ends(speed_adjusted_contrast(*pairs.times[i], *pairs.speeds[i], trim).contrast)


def mean_loop(pairs: TimedPairs, i: int) -> Ends:
    """The same with the mean time of the loop."""
    return _contrast_ends(speed_adjusted_contrast(*pairs.times[i], *pairs.means[i]).contrast)


def least_squares(pairs: TimedPairs, i: int) -> Ends:
    """Least squares of the differences in place of the median of slopes, trimmed alike."""
    y, x = (values[i][0] - values[i][1] for values in (pairs.times, pairs.speeds))
    x_off = x - x.mean()
    squares = float(x_off @ x_off)
    slope = max(0.0, float(x_off @ y) / squares)
    rest = y - y.mean() - slope * x_off
    left = center(y - slope * x, 0.1)
    se_slope = (float(rest @ rest) / (y.size - 2) / squares) ** 0.5
    se = np.hypot(left.se * (left.df / (left.df - 1)) ** 0.5, float(x.mean()) * se_slope)
    return _contrast_ends(Contrast(left.value, float(se), left.df - 1, y.size, ""))


def over_loop(pairs: TimedPairs, i: int) -> Ends:
    """Time over the time of the loop, the ratio to a reference."""
    return _contrast_ends(paired_contrast(*(pairs.times[i] - pairs.speeds[i])))


def no_blocks(pairs: TimedPairs, i: int) -> Ends:
    """Least squares over all runs without block effects."""
    y, x = pairs.times[i], pairs.speeds[i]
    y_off, x_off = (z - z.mean(axis=1, keepdims=True) for z in (y, x))
    squares, df = float(np.square(x_off).sum()), y.size - 3
    slope = max(0.0, float((x_off * y_off).sum()) / squares)
    variance = float(np.square(y_off - slope * x_off).sum()) / df
    apart = float(x[0].mean() - x[1].mean())
    se = (variance * (2 / y.shape[1] + apart**2 / squares)) ** 0.5
    return _contrast_ends(Contrast(float(y[0].mean() - y[1].mean()) - slope * apart, se, df, y.shape[1], ""))


def minimum(pairs: TimedPairs, i: int) -> Ends:
    """Ratio of the fastest runs, bootstrap of pairs."""
    a, b = pairs.times[i]
    drawn = np.random.default_rng(i).integers(a.size, size=(400, a.size))
    low, high = np.quantile(a[drawn].min(axis=1) - b[drawn].min(axis=1), [0.025, 0.975])
    return float(low), float(high)


def _contrast_ends(contrast: Contrast) -> Ends:
    return _ends(contrast.estimate(0.95))


def _ends(estimate: Estimate) -> Ends:
    """The logs of both ends."""
    low, high = estimate.low, estimate.high
    return (-np.inf if low is None else log(low), np.inf if high is None else log(high))


OTHERS: dict[str, Estimator] = {
    "not trimmed": partial(covariate, trim=0.0), "mean time of the loop": mean_loop, "no block effects": no_blocks,
    "CPU time": cpu_time, "over the loop": over_loop, "minimum": minimum,
}  # fmt: skip


SLOWED: dict[str, Estimator] = {
    "covariate": covariate, "not trimmed": OTHERS["not trimmed"], "least squares": least_squares,
    "CPU time, trimmed": lambda pairs, i: _contrast_ends(paired_contrast(*pairs.times[i], 0.1)),
}  # fmt: skip


def two_speeds(estimator: Estimator, figure: str, *cell: str, felt: float = FELT, slowed: float = 0.0) -> Measure:
    """Share of intervals that hold the truth, share of effects that are found, or median half-width in percent."""

    def measure(_: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        both = draw(*cell, felt, slowed, n_cases // 2)
        same, more = (np.array([estimator(pairs, i) for i in range(n_cases // 2)]) for pairs in both)
        half, found = half_width(same, more), int(np.sum(more[:, 0] > 0))
        if figure == "half-width":
            return half, 0.0, f"percent: {half:.2f}"
        if figure == "found":
            return share(found, len(more))
        slower, found_percent = (100 * float(np.mean(ends[:, 0] > 0)) for ends in (same, more))
        note = f"slower where equal {slower:.1f}%, 5% found {found_percent:.0f}%, +-{half:.1f}%"
        return share(holds(same, 0.0) + holds(more, log1p(EFFECT)), 2 * len(same), note)

    return measure


def half_width(*ends: FloatArray) -> float:
    """The median half-width, in percent."""
    return 50 * float(np.median(np.diff(np.concatenate(ends), axis=1)))


def holds(ends: FloatArray, truth: float) -> int:
    """Count the intervals that hold it."""
    return int(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).sum())


SLEEPS: tuple[Program, ...] = ("sleeper", "ticker")
EXTENDED: tuple[Kind, ...] = ("normal", "lognormal", "outliers", "modes", "autocorrelated", "drift", "step")


def taken_from(program: Program, taken: float, way: str) -> Measure:
    """Share of the intervals of ten pairs that hold the ratio of the quiet machine."""

    def ratio_ends(a: TakenRuns, b: TakenRuns, i: int) -> Ends:
        if way == "wall":
            return _ends(versus(a.wall[i], b.wall[i]))
        if way == "without_waits":
            return _ends(versus(a.without_waits[i], b.without_waits[i], is_shared=True))
        # As a study does: the middle of both ends, and half of their distance as doubt.
        lows, walls = (a.without_waits[i], b.without_waits[i]), (a.wall[i], b.wall[i])
        doubt = sum(float(np.log(wall / low).mean()) / 2 for low, wall in zip(lows, walls, strict=True))
        middles = [np.sqrt(low * wall) for low, wall in zip(lows, walls, strict=True)]
        return _ends(versus(middles[0], middles[1], is_shared=True).widen(doubt))

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        ends, n, hits = {}, n_cases // 2, 0
        for effect in (0.0, EFFECT):
            a, b = run_program(rng, program, (n, 10), taken, effect), run_program(rng, program, (n, 10), taken)
            ends[effect] = np.array([ratio_ends(a, b, i) for i in range(n)])
            hits += holds(ends[effect], log(quiet_time(program, effect) / quiet_time(program)))
        longer = 100 * float(np.mean(ends[EFFECT][:, 0] > 0))
        return share(hits, 2 * n, f"5% more work: longer {longer:.0f}%, +-{half_width(*ends.values()):.1f}%")

    return measure


def add_pairs(
    rng: np.random.Generator, kind: Kind, planned: int, spread: float, n_cases: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Intervals of the log ratio of equals after the planned pairs, then after an extension; and pairs made."""
    rule = Stopping(0.01, planned)
    first, last, made = [], [], []
    for _ in range(n_cases):
        scores = _blocks(rng, kind, planned + rule.most_further, spread)
        ratios = scores[0] / scores[1]
        looks = range(rule.first_look + 1, planned)
        n = next((n for n in looks if rule.is_precise(ratios[:n])), planned)
        first.append(_look(scores[:, :n], planned))
        n += rule.n_further(ratios[:n]) if n == planned else 0
        last.append(_look(scores[:, :n], planned))
        made.append(n)
    return np.array(first), np.array(last), np.array(made, dtype=float)


def _look(scores: FloatArray, planned: int) -> Ends:
    return _ends(versus(*scores, level_of_look(0.95, range(scores.shape[1]), planned)))


def _blocks(rng: np.random.Generator, kind: Kind, n: int, spread: float) -> FloatArray:
    """Times of two equal versions by block, shape (2, n), the spread of runs that of the kind times a factor."""
    times = (session(rng, kind, 2 * n) / TYPICAL) ** (spread / SPREAD)
    is_new = (rng.random(n) < 0.5)[:, None] ^ np.array([False, True])
    by_block = times.reshape(n, 2)
    return np.stack([by_block[is_new], by_block[~is_new]])


def extension(kind: Kind, planned: int, spread: float) -> Measure:
    """Share of equals that are called different after an extension."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        first, last, made = add_pairs(rng, kind, planned, spread, n_cases)
        before = 100 - 100 * holds(first, 0.0) / n_cases
        now, then = (100 * np.mean(ends[:, 0] + log1p(0.03) > 0) for ends in (last, first))
        extended = f"{100 * np.mean(made > planned):.0f}% extended, {made.mean():.0f} pairs"
        note = f"{extended}; without {before:.1f}%; 3% found {now:.0f}%, without {then:.0f}%"
        return share(n_cases - holds(last, 0.0), n_cases, note)

    return measure


def cases() -> Iterator[Case]:
    """A CPU of two speeds, then one that is taken, then extensions."""
    for size, phases, loop in product(SIZES, PHASES, LOOPS):
        cell, name = (phases, loop, size), f"{size}, {phases}; loop {loop}"
        yield Case(f"{name}: covariate", COVERS, two_speeds(covariate, "holds", *cell))
        yield Case(f"{name}: 5% found", FOUND, two_speeds(covariate, "found", *cell))
        yield Case(f"{name}: half-width", (0.0, 1.5), two_speeds(covariate, "half-width", *cell))
        for other, estimator in OTHERS.items() if loop == PROBE else ():
            yield Case(f"{name}: {other}", None, two_speeds(estimator, "holds", *cell))
    for size in SIZES:
        measure = two_speeds(covariate, "holds", "30-300 ms", PROBE, size, felt=1.0)
        yield Case(f"{size}, 30-300 ms, program that does not slow down: covariate", COVERS, measure)
        for other, estimator in SLOWED.items():
            measure = two_speeds(estimator, "holds", "30-300 ms", PROBE, size, slowed=0.05)
            target = COVERS if estimator is covariate else None
            yield Case(f"{size}, 30-300 ms, one run in 20 at 3x: {other}", target, measure)
    for taken in (0.0, 0.05, 0.3, 0.6, 0.9):
        percent = f"{100 * taken:.0f}% taken"
        yield Case(f"worker, {percent}: without waits", COVERS, taken_from("worker", taken, "without_waits"))
        yield Case(f"worker, {percent}: wall", None, taken_from("worker", taken, "wall"))
        for program in SLEEPS:
            yield Case(f"{program}, {percent}: hull", (93.0, 100.0), taken_from(program, taken, "hull"))
            yield Case(f"{program}, {percent}: without waits", None, taken_from(program, taken, "without_waits"))
    for kind, planned in product(EXTENDED, (10, 20, 40)):
        spread = 0.01 if kind in ("lognormal", "modes") else 0.02
        yield Case(f"{kind}, {planned} pairs, extended: false", FALSE, extension(kind, planned, spread))


if __name__ == "__main__":
    main("statistics_undisturbed", list(cases()), n_long=2_000, n_quick=300)
