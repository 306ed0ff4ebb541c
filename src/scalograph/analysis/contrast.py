"""Contrasts: differences of mean logs of two configurations, unpaired (Welch) or paired within blocks.

Pairs may be adjusted for the speed of the CPU. A guest can measure it only by the time of a short loop.
"""

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from scalograph.analysis.center import Center, FloatArray, center
from scalograph.analysis.estimate import Estimate, exp, need_runs
from scalograph.analysis.quantiles import satterthwaite, t_quantile

WELCH = "ratio of typical runs, Welch t on log scores"
PAIRED = "ratio of typical runs, paired t on log scores"
NO_SPREAD = "the runs of each configuration are identical: the interval has no width; the clock may be too coarse"
NO_PAIR_SPREAD = "the ratio is identical in all pairs: the interval has no width; the clock may be too coarse"
SPEED = "adjusted for the speed of the CPU"
OWN_EFFECT = 0.001  # p value below which the two configurations themselves differ in the speed of their CPUs
FEWEST_SPEEDS = 8  # pairs with both speeds that a slope needs, and at least half of all
ROUNDED = 1e-9  # logs of loop times that differ by less are equal; a slope below it is 0
MOST_SLOPES = 500  # pairs of which all slopes are computed
STEADY = 0.01  # standard deviation of the differences in log loop time: below it, they are the noise of the loop
_FEW_DF = 2  # of two or three runs


@dataclass(frozen=True, slots=True)
class Contrast:
    """Difference `delta` of two mean logs: log(a / b).

    Attributes:
        se: standard error of `delta`; NaN if there are too few runs.
        df: degrees of freedom of `se` (Welch-Satterthwaite: not an integer); 0 if there is none.
        n: number of runs, or of pairs.
        method: the procedure, in words.
        warnings: what was needed and what was available.
    """

    delta: float
    se: float
    df: float
    n: int
    method: str
    warnings: tuple[str, ...] = ()

    def estimate(self, confidence: float, quantile: float | None = None) -> Estimate:
        """Return exp(delta) with its interval; `quantile` (standard errors) replaces that of Student t."""
        if self.df <= 0:
            return Estimate(exp(self.delta), None, None, confidence, self.n, self.method, self.warnings)
        half = (t_quantile(confidence, self.df) if quantile is None else quantile) * self.se
        low, high = exp(self.delta - half), exp(self.delta + half)
        estimate = Estimate(exp(self.delta), low, high, confidence, self.n, self.method, self.warnings)
        return estimate if high is not None else estimate.add_warnings("the upper end exceeds what a number can hold")

    def invert(self) -> Self:
        """Return the contrast log(b / a)."""
        return replace(self, delta=-self.delta)

    def p_value(self, least: float = 0.0) -> float | None:
        """Return the two-sided p value of no difference above `least`, a log; None without a standard error."""
        if self.df <= 0:
            return None
        beyond = max(abs(self.delta) - least, 0.0)
        if self.se == 0:
            return 1.0 if beyond == 0 else 0.0
        from scipy.special import stdtr  # it takes a tenth of a second

        return float(2 * stdtr(self.df, -beyond / self.se))


def welch_contrast(
    a: FloatArray, b: FloatArray, trim: float = 0.0, spreads: tuple[float, float] = (0.0, 0.0)
) -> Contrast:
    """Return the contrast log(a / b) of two independent, non-empty samples of logs.

    `spreads` are the given standard deviations of a single log of each; 0 where unknown.

    Source: B. L. Welch, The generalization of Student's problem, Biometrika 34 (1947).
    """
    x, y = center(a, trim, spreads[0]), center(b, trim, spreads[1])
    n, delta = a.size + b.size, x.value - y.value
    if min(x.df, y.df) < 1:
        return Contrast(delta, math.nan, 0.0, n, WELCH, (need_runs(2, (a.size, b.size)),))
    se = math.hypot(x.se, y.se)
    return Contrast(delta, se, _df(x, y), n, WELCH, (NO_SPREAD,) if se == 0 else ())


def paired_contrast(a: FloatArray, b: FloatArray, trim: float = 0.0) -> Contrast:
    """Return the contrast log(a / b) of one or more pairs of logs; a[i] and b[i] share block i."""
    c = center(a - b, trim)
    if c.df < 1:
        short = f"need >= 2 pairs for an interval, have {a.size}"
        return Contrast(c.value, math.nan, 0.0, a.size, PAIRED, (short,))
    return Contrast(c.value, c.se, c.df, a.size, PAIRED, (NO_PAIR_SPREAD,) if c.se == 0 else ())


@dataclass(frozen=True, slots=True)
class SpeedContrast:
    """A paired contrast, adjusted for the speed of the CPU.

    Attributes:
        contrast: adjusted; of all pairs without adjustment if `slope` is 0.
        slope: relative change of a run's time per relative change of the loop's time; 0 without adjustment.
    """

    contrast: Contrast
    slope: float


def speed_adjusted_contrast(
    a: FloatArray, b: FloatArray, speed_a: FloatArray, speed_b: FloatArray, trim: float = 0.1
) -> SpeedContrast:
    """Return the contrast log(a / b) of one or more pairs of logs, with the log loop time of the CPU as covariate.

    The caller ensures that both configurations have the same number of tasks, CPUs, and placement. Otherwise the
    configuration itself changes the speed of its CPUs, and the adjustment would remove the effect.

    The slope comes from a regression of the differences of logs on those of the loop. With two runs in a block this
    equals a regression over all runs with an effect for each block. Without block effects, slow phases and drift widen
    the interval (benchmarks/statistics_undisturbed.py). The slope is a weighted median of the slopes between any two
    pairs. Least squares follow one slow run in twenty, and the interval is then five times as wide. A ratio to the loop
    is wrong, because programs slow down by different amounts on a slow CPU. Errors of the loop time lower the slope.

    The result is the plain contrast if the slope would be negative, or if the speed hardly varies. The same holds if
    the speed differs between the configurations, or if fewer than 8 pairs, or less than half, have both speeds. The
    best loop time is the harmonic mean over a run, which is the inverse of its mean speed.

    `speed_a` and `speed_b` are logs of loop times, NaN where unknown; a[i] and b[i] share block i. As in `versus`,
    trimming removes the effect of slowed runs on slope and interval.

    Source: G. L. Sievers, Weighted rank statistics for simple linear regression, J. Am. Statist. Assoc. 73 (1978).
    """
    plain = paired_contrast(a, b, trim)
    both = np.isfinite(speed_a) & np.isfinite(speed_b)
    n = int(both.sum())
    if n < max(FEWEST_SPEEDS, a.size / 2):
        return SpeedContrast(plain, 0.0)
    y, x = (a - b)[both], (speed_a - speed_b)[both]
    squares = float(np.square(x - x.mean()).sum())
    own = paired_contrast(speed_a[both], speed_b[both]).p_value()
    is_steady = squares <= STEADY**2 * (n - 1) or (own is not None and own < OWN_EFFECT)
    slope = 0.0 if is_steady else _slope(x, y)
    if slope <= ROUNDED:
        return SpeedContrast(plain, 0.0)
    left = center(y - slope * x, trim)
    df = left.df - 1
    se = left.se * math.sqrt(left.df / df * (1 + n * float(x.mean()) ** 2 / squares))
    lost = (f"{a.size - n} of {a.size} pairs miss the speed of the CPU",) if n < a.size else ()
    notes = (*lost, *((NO_PAIR_SPREAD,) if se == 0 else ()))
    return SpeedContrast(Contrast(left.value, se, df, n, f"{PAIRED}; {SPEED}", notes), slope)


def _slope(x: FloatArray, y: FloatArray) -> float:
    """Return the median of the slopes between two points each, weighted by their distance along `x`."""
    step = math.ceil(x.size / MOST_SLOPES)
    x, y = x[::step], y[::step]
    i, j = np.triu_indices(x.size, 1)
    x_apart, y_apart = x[i] - x[j], y[i] - y[j]
    differs = np.abs(x_apart) > ROUNDED
    slopes, weights = y_apart[differs] / x_apart[differs], np.abs(x_apart[differs])
    order = np.argsort(slopes)
    summed = np.cumsum(weights[order])
    return float(slopes[order[np.searchsorted(summed, summed[-1] / 2)]]) if slopes.size else 0.0


def _df(x: Center, y: Center) -> float:
    """Return Satterthwaite's degrees of freedom, bounded for a sample of two or three runs beside many.

    Without this rule the interval of 2 against 20 runs covers 88%, of 3 against 10 93%; with it 95% and more.
    """
    df, (least, most) = satterthwaite(x, y), sorted((x.df, y.df))
    return min(df, least + 1) if least <= _FEW_DF and most >= 4 * least else df
