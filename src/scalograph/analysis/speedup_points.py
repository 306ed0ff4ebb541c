"""Speedup and efficiency at each level n over the baseline b.

If the work is the same at all levels (`total`), the speedup is T(b)/T(n); if each of the n does the same work
(`per-worker`), it is (n/b) T(b)/T(n). Rates R take the place of 1/T: R(n)/R(b), and (n/b) R(n)/R(b) if they are of one
worker. Intervals are Welch t on logs against the shared baseline, or paired t on logs of block means.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from scalograph.analysis.baseline import Blocks, block_logs, blocked_columns, missing_pairs, unpaired_columns
from scalograph.analysis.center import FloatArray, Scores, finite_scores, has_logs
from scalograph.analysis.comparisons import Better
from scalograph.analysis.estimate import Estimate, check_confidence, unknown_estimate
from scalograph.analysis.modes import widen_by_step
from scalograph.analysis.ratios import ratio


def karp_flatt(gain: Estimate, growth: float) -> Estimate:
    """Return the serial fraction (1/S - 1/p) / (1 - 1/p) of a speedup S on p = `growth` times the CPUs.

    0 is perfect scaling, 1 none; below zero, S is above p; no value if p <= 1. If the baseline itself runs on several
    CPUs, it is the fraction of that program, not of the sequential one.

    Source: A. H. Karp and H. P. Flatt, Measuring parallel processor performance, CACM 33 (1990), eq. 2.

    >>> karp_flatt(Estimate(1.6, 1.5, 1.7, 0.95, 5, "t"), 2.0).value
    0.25
    """
    method = "serial fraction (Karp-Flatt)"
    if growth <= 1:
        short = "need more CPUs than the baseline uses for a serial fraction"
        return unknown_estimate(method, gain.confidence, gain.n, short)

    def fraction(s: float | None) -> float | None:
        return None if s is None or s <= 0 else (1 / s - 1 / growth) / (1 - 1 / growth)

    value, low, high = fraction(gain.value), fraction(gain.high), fraction(gain.low)
    return replace(gain, value=value, low=low, high=high, method=f"{method}, {gain.method}")


Work = Literal["total", "per-worker"]

SHARED = "all levels share the baseline runs, so their errors are correlated: compare levels by `simultaneous`"
PLAY = 0.02  # excess that a warmer cache or a better moment explains
NO_BAND = "no simultaneous interval: this level has no interval on logs of the kind that the others have"


@dataclass(frozen=True, slots=True)
class SpeedupPoint:
    """One level of a speedup table.

    Attributes:
        n: the level (threads, processes, jobs, CPUs).
        n_cpus: CPUs that n can use: min(n, cpus).
        speedup: over the baseline level.
        simultaneous: the same value with an interval that holds for all levels at once.
        efficiency: speedup over the growth of `n_cpus`.
        serial_fraction: Karp-Flatt, from the speedup and the growth of `n_cpus`.
        note: how the errors of the points are related.
        warnings: flags of the point as a whole.
        exceeds_cpus: whether the speedup is above the growth of `n_cpus`, with its interval if it has one.
    """

    n: int
    n_cpus: int
    speedup: Estimate
    simultaneous: Estimate
    efficiency: Estimate
    serial_fraction: Estimate
    note: str = SHARED
    warnings: tuple[str, ...] = ()
    exceeds_cpus: bool = False


def speedup(
    scores: Mapping[int, Scores],
    *,
    baseline: int = 1,
    work: Work = "total",
    better: Better = "lower",
    cpus: int | None = None,
    blocks: Blocks | None = None,
    confidence: float = 0.95,
    step: float | None = None,
    open_logs: Mapping[int, float] | None = None,
) -> list[SpeedupPoint]:
    """Return the speedup of each level over the baseline, in ascending order of levels; the module gives the formula.

    Args:
        scores: level n >= 1 -> times of its runs, or rates, any unit, the same for all levels.
        baseline: the level that counts as 1; it has a point even without runs.
        work: what the work belongs to.
        better: lower if scores are times, higher if they are rates.
        cpus: CPUs the program may use; n above it adds no capacity.
        blocks: level -> block of each of its runs, one for each score; a level may run several times in a block.
        confidence: nominal coverage, of each interval and of the simultaneous ones together.
        step: of which all scores are multiples; intervals are wider by what that may hide.
        open_logs: level -> half of the distance between the ends of its undisturbed time, as a log.

    Raises ValueError if an argument is out of range (never for lack of data).

    >>> one, two = speedup({1: [10.0, 10.2, 9.8], 2: [5.0, 5.1, 4.9]}, cpus=2)
    >>> one.speedup.value, round(two.speedup.value, 3), round(two.efficiency.value, 3)
    (1.0, 2.0, 1.0)
    """
    _check([*scores, baseline], work, better, cpus, confidence)
    cleaned = {n: finite_scores(scores.get(n, ())) for n in sorted({*scores, baseline})}
    samples = {n: values for n, (values, _) in cleaned.items()}
    paired, bands, reasons = dict[int, Estimate](), dict[int, Estimate](), dict[int, str]()
    if samples[baseline].size and has_logs(*samples.values()):
        means = None if blocks is None else {n: block_logs(n, x, blocks) for n, x in scores.items()}
        reasons = {} if means is None else missing_pairs(means, baseline)
        of = (baseline, confidence)
        columns = unpaired_columns(samples, *of) if means is None else blocked_columns(means, *of)
        columns, open_logs = columns.invert() if better == "higher" else columns, open_logs or {}
        paired, bands = (_widen(x, step, samples, baseline, open_logs) for x in (columns.singles(), columns.bands()))
    alone = {n: _single(samples, n, baseline, better, confidence) for n in samples if n not in paired}
    singles = paired | {n: e.add_warnings(reasons[n]) if n in reasons else e for n, e in alone.items()}
    return [_point(n, singles[n], bands.get(n), baseline, work, cpus, cleaned[n][1]) for n in samples]


def _widen(
    estimates: Mapping[int, Estimate], step: float | None, samples: Mapping[int, FloatArray], baseline: int,
    open_logs: Mapping[int, float],
) -> dict[int, Estimate]:  # fmt: skip
    halves = {n: (open_logs.get(baseline, 0.0) + open_logs.get(n, 0.0)) * (n != baseline) for n in estimates}
    return {n: widen_by_step(e, step, samples[baseline], samples[n]).widen(halves[n]) for n, e in estimates.items()}


def _check(levels: list[int], work: str, better: str, cpus: int | None, confidence: float) -> None:
    check_confidence(confidence)
    if work not in ("total", "per-worker"):
        raise ValueError(f'work: found "{work}", expected total or per-worker')
    if better not in ("lower", "higher"):
        raise ValueError(f'better: found "{better}", expected lower or higher')
    for n in levels:
        if n < 1:
            raise ValueError(f"level: found {n}, expected a count of 1 or more")
    if cpus is not None and cpus < 1:
        raise ValueError(f"cpus: found {cpus}, expected a count of 1 or more")


def _single(samples: Mapping[int, FloatArray], n: int, baseline: int, better: Better, confidence: float) -> Estimate:
    if samples[baseline].size == 0:
        reason = f"need runs of the baseline level {baseline}, have 0"
        return unknown_estimate("speedup over the baseline", confidence, samples[n].size, reason)
    if n == baseline:
        return Estimate(1.0, 1.0, 1.0, confidence, samples[n].size, "the baseline, 1 by definition")
    if better == "higher":
        return ratio(samples[n], samples[baseline], confidence)
    return ratio(samples[baseline], samples[n], confidence)


def _point(
    n: int, single: Estimate, band: Estimate | None, baseline: int, work: Work, cpus: int | None, notes: tuple[str, ...]
) -> SpeedupPoint:
    if n == baseline and single.value is not None:
        band = single
    if band is None:
        band = replace(single, low=None, high=None).add_warnings(NO_BAND)
    if work == "per-worker":
        single, band = single.rescale(n / baseline), band.rescale(n / baseline)
    n_cpus = n if cpus is None else min(n, cpus)
    growth = n_cpus / (baseline if cpus is None else min(baseline, cpus))
    too_fast = _too_fast(single, growth)
    share = replace(single.rescale(1 / growth), method=f"{single.method}, over {growth:g} times the CPUs")
    return SpeedupPoint(
        n=n, n_cpus=n_cpus, speedup=single, simultaneous=band, efficiency=share,
        serial_fraction=karp_flatt(single, growth), warnings=(*notes, *too_fast), exceeds_cpus=bool(too_fast),
    )  # fmt: skip


def _too_fast(gain: Estimate, growth: float) -> tuple[str, ...]:
    if gain.value is None or gain.value <= growth * (1 + PLAY):
        return ()
    if gain.low is not None and gain.low <= growth * (1 + PLAY):
        return ()
    proof = "(no interval)" if gain.low is None else "with its whole interval"
    reason = f"above {growth:g}, the growth of the CPUs in use: the baseline is slow, or caches grow with n"
    return (f"speedup {gain.value:.2f} {proof} {reason}",)
