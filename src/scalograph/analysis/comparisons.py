"""Is a faster than b, slower, equivalent, or is that uncertain?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from scalograph.analysis.center import Scores, has_logs, present
from scalograph.analysis.contrast import Contrast, paired, welch
from scalograph.analysis.estimate import Estimate, check_confidence
from scalograph.analysis.modes import FEWEST, MODES_OF_FEW, modes
from scalograph.analysis.quantiles import student_t, t_quantile
from scalograph.analysis.ratios import paired_ratio, pairs, ratio

Label = Literal["faster", "slower", "equivalent", "uncertain"]
Better = Literal["lower", "higher"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is known about a against b.

    Attributes:
        ratio: a over b, with its interval.
        p_value: two-sided, of "no difference at all"; None if there are too few runs.
        label: faster or slower when the interval lies beyond the margin, equivalent when within it,
            else uncertain.
        margin: the smallest relative difference that matters; 0.01 is 1 %.
        minimum_detectable_effect: log ratio that these runs detect with 80 % power; None as for p.
    """

    ratio: Estimate
    p_value: float | None
    label: Label
    margin: float
    minimum_detectable_effect: float | None


def compare(
    a: Scores,
    b: Scores,
    *,
    paired: bool = False,
    better: Better = "lower",
    margin: float = 0.01,
    confidence: float = 0.95,
) -> Comparison:
    """Compare the runs of two treatments.

    Args:
        a: scores, shape (n,).
        b: scores, shape (m,), same unit; with `paired`, b[i] ran in the block of a[i].
        paired: whether runs were interleaved in blocks.
        better: whether lower (a time) or higher (a rate) scores are faster.
        margin: relative difference that matters, 0 or more; faster means a ratio below 1 / (1 + margin) for
            times. At 0 only a ratio without any spread is equivalent.
        confidence: of the interval that decides the label.

    Returns:
        The comparison; "uncertain" if there are too few data, with the reason on the ratio.

    Raises:
        ValueError: an argument is out of range (never for lack of data).

    >>> compare([10.0, 10.1, 9.9], [20.0, 20.2, 19.8]).label
    'faster'
    >>> compare([10.0], [20.0, 20.2]).label
    'uncertain'
    """
    if better not in ("lower", "higher"):
        raise ValueError(f'better: found "{better}", expected lower or higher')
    if not margin >= 0:
        raise ValueError(f"margin: found {margin}, expected 0 or more (0.01 is 1 %)")
    estimate = _guarded(paired_ratio(a, b, confidence) if paired else ratio(a, b, confidence), a, b)
    found = _contrast(a, b, paired)
    return Comparison(
        ratio=estimate,
        p_value=None if found is None else found.p_value(),
        label=label(estimate, margin, better),
        margin=margin,
        minimum_detectable_effect=None if found is None else _detectable(found, confidence),
    )


def _guarded(estimate: Estimate, a: Scores, b: Scores) -> Estimate:
    """Return the estimate, without an interval where few runs of one stand against two modes of the other."""
    n = min(present(a)[0].size, present(b)[0].size)
    if n >= FEWEST or not (modes(a) or modes(b)):
        return estimate
    return replace(estimate, low=None, high=None).warned(MODES_OF_FEW.format(n))


def label(estimate: Estimate, margin: float = 0.01, better: Better = "lower") -> Label:
    """Return the label of a ratio with its interval, given the margin that matters.

    >>> label(Estimate(1.0, 0.995, 1.005, 0.95, 9, "t")), label(Estimate(1.0, 0.9, 1.1, 0.95, 9, "t"))
    ('equivalent', 'uncertain')
    """
    low, high = estimate.low, estimate.high
    if low is None or high is None:
        return "uncertain"
    if high < 1 / (1 + margin):
        return "faster" if better == "lower" else "slower"
    if low > 1 + margin:
        return "slower" if better == "lower" else "faster"
    return "equivalent" if low >= 1 / (1 + margin) and high <= 1 + margin else "uncertain"


def minimum_detectable_effect(sd_log: float, n: int, power: float = 0.8, confidence: float = 0.95) -> float | None:
    """Return the smallest difference of two treatments that n runs of each detect with this power.

    (t(1 - alpha/2) + t(power)) sd sqrt(2/n) with 2n - 2 degrees of freedom. The true power at this effect is
    79 % at n = 3 and within half a point of 80 % from 5 on.

    Args:
        sd_log: standard deviation of log scores between runs; 0.03 is 3 %.
        n: runs of each treatment.
        power: chance to detect it, between 0 and 1.
        confidence: of the interval that must exclude 1.

    Returns:
        A log ratio (0.091: a ratio of exp(+-0.091)); None below 2 runs of each.

    Raises:
        ValueError: an argument is out of range.

    Source: J. Cohen, Statistical power analysis for the behavioral sciences, 1988, two-sample t.

    >>> [round(100 * minimum_detectable_effect(0.03, n), 1) for n in (3, 5, 10, 20)]
    [9.1, 6.1, 4.0, 2.7]
    """
    if not sd_log >= 0:
        raise ValueError(f"sd_log: found {sd_log}, expected 0 or more")
    if n < 2:
        return None
    return _quantiles(2 * n - 2, power, confidence) * sd_log * math.sqrt(2 / n)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust the p values of a family, in the given order: reject those <= alpha, and at most alpha err.

    None stands for a comparison that could not be made; it stays None and is not counted.

    Source: S. Holm, A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6 (1979).

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    known = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, i) in enumerate(known):
        largest = max(largest, min(1.0, p * (len(known) - rank)))
        adjusted[i] = largest
    return adjusted


def _contrast(a: Scores, b: Scores, is_paired: bool) -> Contrast | None:
    """Return the contrast on logs; None if runs are missing or a score has no log."""
    x, y = pairs(a, b)[:2] if is_paired else (present(a)[0], present(b)[0])
    if min(x.size, y.size) == 0 or not has_logs(x, y):
        return None
    return paired(np.log(x), np.log(y)) if is_paired else welch(np.log(x), np.log(y))


def _detectable(found: Contrast, confidence: float) -> float | None:
    return _quantiles(found.df, 0.8, confidence) * found.se if found.df > 0 else None


def _quantiles(df: float, power: float, confidence: float) -> float:
    check_confidence(confidence)
    if not 0 < power < 1:
        raise ValueError(f"power: found {power}, expected a number between 0 and 1")
    return t_quantile(confidence, df) + student_t(power, df)
