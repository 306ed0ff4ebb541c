"""Are two treatments the same, within what matters? "No difference was found" does not say so; this test does."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from scalograph.analysis.center import Scores, has_logs, present
from scalograph.analysis.contrast import Contrast, welch
from scalograph.analysis.estimate import Estimate, check_confidence
from scalograph.analysis.ratios import ratio

# Two builds that differ by less are the same to whoever waits for them.
MARGIN = 0.02

Label = Literal["equivalent", "different", "not shown"]


@dataclass(frozen=True, slots=True)
class Equivalence:
    """What is known about a over b.

    Attributes:
        ratio: a over b with the interval that decides, of confidence 1 - 2 alpha: 90 % for a test at 5 %.
        p_value: of the larger of both one-sided tests; None where there are too few runs.
        label: `equivalent` where the interval lies within the margin; `different` where it lies wholly beyond it;
            else `not shown`.
        margin: largest relative difference that does not matter; 0.02 is a ratio of 1/1.02 to 1.02.
    """

    ratio: Estimate
    p_value: float | None
    label: Label
    margin: float


def equivalence(a: Scores, b: Scores, *, margin: float = MARGIN, confidence: float = 0.95) -> Equivalence:
    """Two one-sided tests on the log ratio of typical scores, from independent runs.

    Args:
        a: scores, shape (n,).
        b: scores, shape (m,), same unit.
        margin: relative difference that does not matter, above 0.
        confidence: 0.95 tests each side at 5 %: the chance to call treatments equivalent that lie on the margin.

    Returns:
        The test; `not shown` where data are short or have no logs, with the reason on the ratio.

    Raises:
        ValueError: when an argument has no meaning (never for want of data).

    Source: D. J. Schuirmann, A comparison of the two one-sided tests procedure and the power approach, J.
    Pharmacokinet. Biopharm. 15 (1987); on ratios: E. Diletti, D. Hauschke and V. W. Steinijans, Int. J. Clin.
    Pharmacol. 29 (1991).

    >>> equivalence([10.0, 10.01, 9.99], [10.0, 10.02, 9.98]).label
    'equivalent'
    >>> equivalence([10.0, 11.0, 9.0], [10.0, 11.5, 9.5]).label
    'not shown'
    """
    check_confidence(confidence)
    if not margin > 0 or confidence <= 0.5:
        raise ValueError(f"equivalence: found margin {margin} at {confidence}, expected above 0, at above 0.5")
    estimate = ratio(a, b, 2 * confidence - 1)
    x, y = present(a)[0], present(b)[0]
    found = welch(np.log(x), np.log(y)) if min(x.size, y.size) and has_logs(x, y) else None
    return Equivalence(estimate, _p_value(found, margin), _label(estimate, margin, found is not None), margin)


def _p_value(found: Contrast | None, margin: float) -> float | None:
    if found is None or found.df <= 0:
        return None
    away = math.log1p(margin) - abs(found.delta)
    if found.se == 0:
        return 0.0 if away > 0 else 1.0
    from scipy.special import stdtr  # it takes a tenth of a second

    return float(stdtr(found.df, -away / found.se))


def _label(estimate: Estimate, margin: float, on_logs: bool) -> Label:
    if not on_logs or estimate.low is None or estimate.high is None:
        return "not shown"
    if 1 / (1 + margin) < estimate.low and estimate.high < 1 + margin:
        return "equivalent"
    beyond = estimate.high < 1 / (1 + margin) or estimate.low > 1 + margin
    return "different" if beyond else "not shown"
