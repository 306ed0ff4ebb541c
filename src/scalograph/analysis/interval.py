"""Confidence intervals of the score of one configuration.

`typical` is the geometric mean of run scores, which is their median if scores are log-normal. If a few runs are much
slower than the rest, the two differ: the interval then covers the median up to about 30 runs and moves towards the
geometric mean beyond that; `trim=0.1` keeps it on the median and makes it narrower.

`mean` is the arithmetic mean, the one that adds up to a cost. No interval accounts for slow runs rarer than the sample
can show: if 3% of the runs take 1.5 times as long, a nominal 95% covers 93, 89 and 81% at 3, 5 and 10 runs.
No method does better without assuming how slow an unseen run may be.

Source: T. Kalibera and R. Jones, Rigorous benchmarking in reasonable time, ISMM 2013 (the run is the unit);
R. R. Bahadur and L. J. Savage, Ann. Math. Statist. 27 (1956) (no interval for an unlimited mean).
"""

from typing import Literal

import numpy as np

from scalograph.analysis.center import IDENTICAL, Center, FloatArray, Scores, center, finite_scores, has_logs, trim_note
from scalograph.analysis.estimate import Estimate, check_confidence, exp, finite, need_runs, unknown_estimate
from scalograph.analysis.quantiles import t_quantile

Estimand = Literal["typical", "mean"]
TYPICAL = "typical run (geometric mean), Student t on log scores"
MEAN = "mean run, Student t on scores"


def summarize(
    scores: Scores, confidence: float = 0.95, *, estimand: Estimand = "typical", trim: float = 0.0, spread: float = 0.0
) -> Estimate:
    """Estimate the score of one configuration; the mean, with a warning, if a score <= 0 has no log.

    Args:
        scores: one score for each run, in any unit; None and NaN are missing.
        confidence: nominal coverage.
        estimand: `typical` or `mean`; the module says what each covers.
        trim: share of the runs trimmed at each end, 0 to 0.25; `typical` only.
        spread: given standard deviation of the log of a single score, 0 where unknown; `typical` only.

    Raises:
        ValueError: an argument is out of range (never for lack of data).

    >>> e = summarize([9.8, 10.0, 10.2])
    >>> round(e.value, 2), round(e.low, 2), round(e.high, 2)
    (10.0, 9.51, 10.51)
    >>> summarize([4.0]).warnings
    ('need >= 2 runs for an interval, have 1',)
    >>> e = summarize([4.0], spread=0.1)  # 4 times or over exp(1.96 * 0.1)
    >>> round(e.low, 3), round(e.high, 3)
    (3.288, 4.866)
    """
    check_confidence(confidence)
    if estimand not in ("typical", "mean"):
        raise ValueError(f'estimand: found "{estimand}", expected typical or mean')
    values, notes = finite_scores(scores)
    if values.size == 0:
        method = MEAN if estimand == "mean" else _typical(trim)
        return unknown_estimate(method, confidence, 0, *notes, need_runs(1, 0, "a value"))
    if estimand == "mean":
        n = values.size  # rule of three: what happens in fewer than 3/n of n runs may not have happened
        rare = f"{n} runs: slow runs that are rarer than {min(1.0, 3 / n):.0%} can be missing from this mean"
        return _arithmetic_mean(values, confidence).add_warnings(*(() if n >= 60 else (rare,)), *notes)
    return _typical_run(values, confidence, trim, spread).add_warnings(*notes)


def _typical_run(values: FloatArray, confidence: float, trim: float, spread: float) -> Estimate:
    if not has_logs(values):
        n_bad = int(np.count_nonzero(values <= 0))
        reason = f"{n_bad} of {values.size} scores <= 0, which have no log: plain t interval of the mean"
        return _arithmetic_mean(values, confidence).add_warnings(reason)
    c = center(np.log(values), trim, spread)
    low, high = (None if end is None else exp(end) for end in _ends(c, confidence))
    estimate = Estimate(exp(c.value), low, high, confidence, values.size, _typical(trim))
    return estimate.add_warnings(*_interval_warnings(c, estimate), *trim_note(values.size, trim))


def _typical(trim: float) -> str:
    return f"{TYPICAL}, {round(100 * trim)}% trimmed at each end" if trim > 0 else TYPICAL


def _arithmetic_mean(values: FloatArray, confidence: float) -> Estimate:
    c = center(values)
    low, high = _ends(c, confidence)
    estimate = Estimate(finite(c.value), low, high, confidence, values.size, MEAN)
    return estimate.add_warnings(*_interval_warnings(c, estimate))


def _ends(c: Center, confidence: float) -> tuple[float | None, float | None]:
    if c.df < 1:
        return None, None
    half = t_quantile(confidence, c.df) * c.se
    return finite(c.value - half), finite(c.value + half)


def _interval_warnings(c: Center, estimate: Estimate) -> tuple[str, ...]:
    if c.df < 1:
        return (need_runs(2, estimate.n),)
    if c.se == 0:
        return (IDENTICAL,)
    if estimate.low is None or estimate.high is None:
        return (f"{estimate.n} runs spread too far: the interval has no end that a number can hold",)
    return ()
