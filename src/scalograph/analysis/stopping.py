"""Sequential stopping: a rule that looks at the data after each run and still gives a valid interval.

Stopping as soon as an interval is narrow favors samples that happen to spread too little: from three runs on, a 95%
interval then covers 91.6%. So the rule waits for half of the planned runs, at least eight, and must pass twice in a
row (from a quarter on it covers 93.8% under the noise `low`, from half on 94.0%, for 0.2 runs more). A twentieth of
the runs is trimmed at each end; otherwise the 3% of runs that something slowed down would decide how many are needed:
176 instead of 59 for +-1% under the noise `high` of benchmarks/simulate/noise.py.

If the interval of a ratio is still too wide after the planned pairs, pairs are added once. Their number depends on the
width of the interval, never on its position. It is at most half of the plan, or four times the plan for brief runs.
The second look has a confidence of its own. At 95%, equal versions would be called different in up to 6.7% of the
studies with ten pairs; at 96.5%, no more often than without a second look.

Source: Y. S. Chow and H. Robbins, On the asymptotic theory of fixed-width sequential confidence intervals for the mean,
Ann. Math. Statist. 36 (1965), with a late first look; C. Stein, A two-sample test for a linear hypothesis whose power
is independent of the variance, Ann. Math. Statist. 16 (1945), for numbers by width alone. The coverage reached is
printed by benchmarks/statistics_stopping.py and benchmarks/statistics_undisturbed.py.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from scalograph.analysis.center import FloatArray, Scores, center, finite_scores, has_logs
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.interval import summarize
from scalograph.analysis.quantiles import t_quantile
from scalograph.analysis.versus import SAME

TRIM = 0.05
FIRST_LOOK = 8
SHARE_OF_PLAN = 2
BRIEF_S, FURTHER_BRIEF = 0.02, 4
SECOND_LOOK = 0.7  # error rate of the second look over that of the first
SEQUENTIAL = "sequentially stopped: runs were added until the interval was narrow enough"


@dataclass(frozen=True, slots=True)
class Stopping:
    """A requested precision: half-width of the interval over the value; `planned` is the most runs."""

    precision: float
    planned: int
    confidence: float = 0.95

    @property
    def first_look(self) -> int:
        """Runs before which nothing is decided."""
        return max(FIRST_LOOK, self.planned // SHARE_OF_PLAN)

    def is_precise(self, scores: Scores) -> bool:
        """Tell whether the runs so far, in order, pass the rule twice in a row.

        >>> Stopping(0.01, 16).is_precise([1.0, 1.001] * 4), Stopping(0.01, 16).is_precise([1.0, 1.001] * 5)
        (False, True)
        """
        values, _ = finite_scores(scores)
        return values.size > self.first_look and self._narrow(values[:-1]) and self._narrow(values)

    def _narrow(self, values: FloatArray) -> bool:
        half = half_width(values, self.confidence)
        return half is not None and half <= self.precision

    @property
    def most_further(self) -> int:
        """Most pairs that may be added if runs are not brief: half of the plan."""
        return self.planned // 2

    def n_further(self, ratios: Scores, run_s: float = math.inf) -> int:
        """Return how many pairs to add to the planned ones, given their ratios; 0 if the interval is narrow enough.

        Narrow enough is half of the default margin of a comparison, or the precision if that is wider. At most half of
        the plan is added, or four times the plan if a run takes `run_s` of less than 20 ms, about as long as its start.

        >>> rule = Stopping(0.01, 10)
        >>> [rule.n_further([1.0, x] * 5) for x in (1.01, 1.028, 1.3)], rule.n_further([1.0, 1.3] * 5, 0.01)
        ([0, 4, 5], 40)
        """
        values, _ = finite_scores(ratios)
        goal, half = max(self.precision, SAME / 2), half_width(values, self.confidence)
        if half is None or half <= goal:
            return 0
        half = half_width(values, level_of_look(self.confidence, [self.planned], self.planned)) or half
        most = FURTHER_BRIEF * self.planned if run_s < BRIEF_S else self.most_further
        return min(most, math.ceil(runs_to(half, values.size, goal)))

    def estimate(self, scores: Scores) -> Estimate:
        """Return the estimate of a configuration, trimmed as in the rule; a warning says what ended its runs."""
        estimate = summarize(scores, self.confidence, trim=TRIM)
        return estimate.add_warnings(SEQUENTIAL if self.is_precise(scores) else self._not_ended(scores, estimate.n))

    def misses_precision(self, scores: Scores) -> bool:
        """Tell whether there is an interval and it is wider than requested.

        >>> Stopping(0.01, 16).misses_precision([1.0, 1.1] * 5), Stopping(0.01, 16).misses_precision([1.0, 1.001] * 2)
        (True, False)
        """
        values, _ = finite_scores(scores)
        return half_width(values, self.confidence) is not None and not self._narrow(values)

    def _not_ended(self, scores: Scores, n: int) -> str:
        reached, asked = half_width(scores, self.confidence), f"+-{100 * self.precision:.2g}%"
        if reached is None:
            return f"{asked} was asked for after {n} runs"
        if reached <= self.precision:
            return f"+-{100 * reached:.2g}% reached after {n} runs, as narrow as asked ({asked}); no rule ended them"
        return f"{asked} was asked for, +-{100 * reached:.2g}% reached after {n} runs"


def level_of_look(confidence: float, blocks: Iterable[int], planned: int) -> float:
    """Return the confidence of an interval over pairs from these blocks: higher after pairs were added.

    >>> level_of_look(0.95, range(10), 10), round(level_of_look(0.95, range(14), 10), 9)
    (0.95, 0.965)
    """
    return 1 - SECOND_LOOK * (1 - confidence) if max(blocks, default=0) >= planned else confidence


def half_width(scores: Scores, confidence: float = 0.95) -> float | None:
    """Return the half-width of the trimmed interval on logs; None without an interval.

    >>> half_width([1.0]) is None
    True
    """
    values, _ = finite_scores(scores)
    if values.size < 2 or not has_logs(values):
        return None
    middle = center(np.log(values), TRIM)
    return t_quantile(confidence, middle.df) * middle.se


def narrow(half: float, n: float, more: float) -> float:
    """Return the half-width after `more` runs beside `n`, if they vary alike: it falls with the square root.

    >>> narrow(0.04, 10, 30)
    0.02
    """
    return float(half * np.sqrt(n / (n + more)))


def runs_to(half: float, n: float, goal: float) -> float:
    """Return the runs beside `n` after which a half-width is as narrow as `goal`; 0 where it is already.

    >>> runs_to(0.04, 10, 0.02), runs_to(0.04, 10, 0.05)
    (30.0, 0.0)
    """
    return max(0.0, n * ((half / goal) ** 2 - 1))
