"""Intervals that were made one by one, made to hold all at once."""

import math
from dataclasses import replace

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.students_t import t_quantile


def at_once(cell: Estimate, n_cells: int) -> Estimate:
    """The estimate with the interval that it needs so that those of `n_cells` hold together.

    Each has the confidence 1 - alpha / n (Bonferroni). A half-width grows as the quantile of Student's t with one
    degree of freedom less than runs; on logs where both ends are above 0: so the interval was made.
    """
    low, value, high = cell.low, cell.value, cell.high
    if low is None or value is None or high is None or cell.n < 2 or n_cells < 2:
        return cell
    level = 1 - (1 - cell.confidence) / n_cells
    wider = t_quantile(level, cell.n - 1) / t_quantile(cell.confidence, cell.n - 1)
    if low > 0:
        low, high = value * (low / value) ** wider, value * _power(high / value, wider)
    else:
        low, high = value - wider * (value - low), value + wider * (high - value)
    return replace(cell, low=low, high=high, confidence=level)


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return math.inf
