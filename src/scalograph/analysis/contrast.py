"""Contrasts: differences of mean logs of two configurations, unpaired (Welch) or paired within blocks."""

import math
from dataclasses import dataclass, replace
from typing import Self

from scalograph.analysis.center import Center, FloatArray, center
from scalograph.analysis.estimate import Estimate, exp, need_runs
from scalograph.analysis.quantiles import satterthwaite, t_quantile

WELCH = "ratio of typical runs, Welch t on log scores"
PAIRED = "ratio of typical runs, paired t on log scores"
NO_SPREAD = "the runs of each configuration are identical: the interval has no width; the clock may be too coarse"
NO_PAIR_SPREAD = "the ratio is identical in all pairs: the interval has no width; the clock may be too coarse"
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


def welch_contrast(a: FloatArray, b: FloatArray, trim: float = 0.0) -> Contrast:
    """Return the contrast log(a / b) of two independent, non-empty samples of logs.

    Source: B. L. Welch, The generalization of Student's problem, Biometrika 34 (1947).
    """
    x, y = center(a, trim), center(b, trim)
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


def _df(x: Center, y: Center) -> float:
    """Return Satterthwaite's degrees of freedom, bounded for a sample of two or three runs beside many.

    Without this rule the interval of 2 against 20 runs covers 88%, of 3 against 10 93%; with it 95% and more.
    """
    df, (least, most) = satterthwaite(x, y), sorted((x.df, y.df))
    return min(df, least + 1) if least <= _FEW_DF and most >= 4 * least else df
