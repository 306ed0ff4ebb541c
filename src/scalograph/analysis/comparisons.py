"""Comparison of two samples: faster, slower, equivalent within a margin, or uncertain."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from scalograph.analysis.center import Scores, finite_scores, has_logs
from scalograph.analysis.contrast import Contrast, paired_contrast, welch_contrast
from scalograph.analysis.estimate import Estimate, check_confidence
from scalograph.analysis.modes import FEWEST, MODES_OF_FEW, find_modes
from scalograph.analysis.quantiles import student_t, t_quantile
from scalograph.analysis.ratios import paired_ratio, pairs, ratio

Label = Literal["faster", "slower", "equivalent", "uncertain"]
Better = Literal["lower", "higher"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Result of comparing a with b.

    Attributes:
        ratio: a over b, with its interval.
        p_value: two-sided, of no difference; None if there are too few runs.
        label: faster or slower if the interval lies beyond the margin, equivalent if within it.
        margin: the smallest relative difference that matters; 0.01 is 1%.
        minimum_detectable_effect: log ratio that these runs detect with 80% power; None as for p.
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
    """Compare the runs of two configurations; too few data are "uncertain", with the reason on the ratio.

    Args:
        a: scores.
        b: scores in the same unit; with `paired`, b[i] ran in the block of a[i].
        paired: whether runs were interleaved in blocks.
        better: whether lower (a time) or higher (a rate) scores are faster.
        margin: relative difference that matters, 0 or more; faster means a ratio below 1 / (1 + margin) for
            times. At 0 only a ratio without any spread is equivalent.
        confidence: of the interval that decides the label.

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
        raise ValueError(f"margin: found {margin}, expected 0 or more (0.01 is 1%)")
    estimate = _guard_bimodal(paired_ratio(a, b, confidence) if paired else ratio(a, b, confidence), a, b)
    c = _contrast(a, b, paired)
    p_value = None if c is None else c.p_value()
    effect = _quantiles(c.df, 0.8, confidence) * c.se if c and c.df > 0 else None
    return Comparison(estimate, p_value, label(estimate, margin, better), margin, effect)


def _guard_bimodal(estimate: Estimate, a: Scores, b: Scores) -> Estimate:
    """Drop the interval where few runs of one stand against two modes of the other."""
    n = min(finite_scores(a)[0].size, finite_scores(b)[0].size)
    if n >= FEWEST or not (find_modes(a) or find_modes(b)):
        return estimate
    return replace(estimate, low=None, high=None).add_warnings(MODES_OF_FEW.format(n))


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
    """Return the smallest log ratio of two configurations that n runs of each detect; None below 2 runs.

    (t(1 - alpha/2) + t(power)) sd sqrt(2/n) with 2n - 2 degrees of freedom. The true power at this effect is
    79% at n = 3 and within half a point of 80% from 5 on. `sd_log` is the standard deviation of log scores between
    runs (0.03 is 3%). Raises ValueError if an argument is out of range.

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
    """Adjust the p values of a family by Holm's method; None stays None and is not counted.

    Source: S. Holm, A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6 (1979).

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    ranked = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, i) in enumerate(ranked):
        largest = max(largest, min(1.0, p * (len(ranked) - rank)))
        adjusted[i] = largest
    return adjusted


def _contrast(a: Scores, b: Scores, is_paired: bool) -> Contrast | None:
    x, y = pairs(a, b)[:2] if is_paired else (finite_scores(a)[0], finite_scores(b)[0])
    if min(x.size, y.size) == 0 or not has_logs(x, y):
        return None
    return paired_contrast(np.log(x), np.log(y)) if is_paired else welch_contrast(np.log(x), np.log(y))


def _quantiles(df: float, power: float, confidence: float) -> float:
    check_confidence(confidence)
    if not 0 < power < 1:
        raise ValueError(f"power: found {power}, expected a number between 0 and 1")
    return t_quantile(confidence, df) + student_t(power, df)
