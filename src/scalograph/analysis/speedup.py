"""How much faster does it get with n, and what does each of the n contribute?"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from scalograph.analysis.baseline import UNPAIRED, Blocks, blocked_columns, unpaired_columns
from scalograph.analysis.estimate import Estimate, check_confidence, unknown
from scalograph.analysis.ratio import ratio
from scalograph.analysis.sample import FloatArray, Scores, has_logs, present
from scalograph.analysis.serial_fraction import karp_flatt

Work = Literal["total", "per-worker"]

SHARED = "all levels share the baseline runs, so their errors are correlated: compare levels by `simultaneous`"
NO_BAND = "no simultaneous interval where single intervals on logs are missing"


@dataclass(frozen=True, slots=True)
class SpeedupPoint:
    """One level of a speedup table.

    Attributes:
        n: the level (threads, processes, jobs, CPUs).
        n_cpus: CPUs that n can use: min(n, cpus); n where the count of CPUs was not given.
        speedup: over the baseline level; 1 at the baseline, by definition.
        simultaneous: the same value with an interval that holds for all levels at once.
        efficiency: speedup over the growth of `n_cpus`.
        serial_fraction: Karp-Flatt, from the speedup and the growth of `n_cpus`.
        note: how the errors of the points hang together.
        warnings: flags of the point as a whole, in words.
    """

    n: int
    n_cpus: int
    speedup: Estimate
    simultaneous: Estimate
    efficiency: Estimate
    serial_fraction: Estimate
    note: str = SHARED
    warnings: tuple[str, ...] = ()


def speedup(
    scores: Mapping[int, Scores],
    *,
    baseline: int = 1,
    work: Work = "total",
    cpus: int | None = None,
    blocks: Blocks | None = None,
    confidence: float = 0.95,
) -> list[SpeedupPoint]:
    """Speedup of each level over the baseline level, in ascending order of the levels.

    With b the baseline: `total` work is the same at all levels and the speedup is T(b)/T(n), the published
    scaling factor; `per-worker` work is the same for each of the n, and the speedup is that of the rate of
    work, (n/b) T(b)/T(n). Intervals are Welch t on logs against the shared baseline, or paired t on logs of
    block means where `blocks` are given (then a level may run several times in a block).

    Args:
        scores: level n >= 1 -> times of its runs, any unit, the same for all levels.
        baseline: the level that counts as 1.
        work: what the work belongs to.
        cpus: CPUs the program may use; n above it adds no capacity.
        blocks: level -> block of each of its runs, as many as it has scores.
        confidence: nominal coverage, of each interval and of the simultaneous ones together.

    Returns:
        A point for each level and the baseline, those without runs included.

    Raises:
        ValueError: when an argument has no meaning (never for want of data).

    >>> one, two = speedup({1: [10.0, 10.2, 9.8], 2: [5.0, 5.1, 4.9]}, cpus=2)
    >>> one.speedup.value, round(two.speedup.value, 3), round(two.efficiency.value, 3)
    (1.0, 2.0, 1.0)
    """
    _check([*scores, baseline], work, cpus, confidence)
    cleaned = {n: present(scores.get(n, ())) for n in sorted({*scores, baseline})}
    samples = {n: values for n, (values, _) in cleaned.items()}
    singles = {n: _single(samples, n, baseline, confidence) for n in samples}
    bands: dict[int, Estimate] = {}
    if samples[baseline].size and has_logs(*samples.values()):
        if blocks is None:
            columns = unpaired_columns(samples, baseline, confidence)
        else:
            columns = blocked_columns(scores, baseline, blocks, confidence)
            singles = {n: e if n == baseline else e.warned(UNPAIRED) for n, e in singles.items()}
        singles |= columns.singles()
        bands = columns.bands()
    return [_point(n, singles[n], bands.get(n), baseline, work, cpus, cleaned[n][1]) for n in samples]


def _check(levels: list[int], work: str, cpus: int | None, confidence: float) -> None:
    check_confidence(confidence)
    if work not in ("total", "per-worker"):
        raise ValueError(f'work: found "{work}", expected total or per-worker')
    for n in levels:
        if n < 1:
            raise ValueError(f"level: found {n}, expected a count of 1 or more")
    if cpus is not None and cpus < 1:
        raise ValueError(f"cpus: found {cpus}, expected a count of 1 or more")


def _single(samples: Mapping[int, FloatArray], n: int, baseline: int, confidence: float) -> Estimate:
    """T(b)/T(n) with its own interval; exactly 1 at the baseline."""
    if samples[baseline].size == 0:
        reason = f"need runs of the baseline level {baseline}, have 0"
        return unknown("speedup over the baseline", confidence, samples[n].size, reason)
    if n == baseline:
        return Estimate(1.0, 1.0, 1.0, confidence, samples[n].size, "the baseline, 1 by definition")
    return ratio(samples[baseline], samples[n], confidence)


def _point(
    n: int,
    single: Estimate,
    band: Estimate | None,
    baseline: int,
    work: Work,
    cpus: int | None,
    notes: tuple[str, ...],
) -> SpeedupPoint:
    if n == baseline and single.value is not None:
        band = single
    if band is None:
        band = replace(single, low=None, high=None).warned(NO_BAND)
    if work == "per-worker":
        single, band = single.scaled(n / baseline), band.scaled(n / baseline)
    n_cpus = n if cpus is None else min(n, cpus)
    growth = n_cpus / (baseline if cpus is None else min(baseline, cpus))
    share = replace(single.scaled(1 / growth), method=f"{single.method}, over {growth:g} times the CPUs")
    return SpeedupPoint(
        n=n,
        n_cpus=n_cpus,
        speedup=single,
        simultaneous=band,
        efficiency=share,
        serial_fraction=karp_flatt(single, growth),
        warnings=(*notes, *_too_fast(single, growth)),
    )


def _too_fast(gain: Estimate, growth: float) -> tuple[str, ...]:
    """Flag a speedup that the CPUs cannot give."""
    if gain.value is None or gain.value <= growth * (1 + 1e-9):
        return ()
    if gain.low is not None and gain.low <= growth:
        return ()
    proof = "(no interval)" if gain.low is None else "with its whole interval"
    reason = f"above {growth:g}, the growth of the CPUs in use: the baseline is slow, or caches grow with n"
    return (f"speedup {gain.value:.2f} {proof} {reason}",)
