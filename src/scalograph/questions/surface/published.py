"""Offer the slope of rows, and their deviation at the ridge, to published claims."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import exp, hypot, log

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.published_claim import OfferedValue
from scalograph.questions.surface.document import Surface, Surfaces

QUANTITIES = {
    "slope_over_expected": "time that each worker beyond the CPUs adds, over that of one alone by the CPUs",
    "ridge_deviation": "time of as many workers as CPUs, over that of one",
}
NO_RIDGE = Estimate(value=None, warnings=("no count of workers is that of two or more CPUs",))


def quantities(document: Surfaces) -> Mapping[str, Sequence[OfferedValue]]:
    """Offer one value for each count of CPUs of each surface.

    By name; of rows that have too few counts of workers for a figure, one without a value. A ridge is that of rows
    with as many workers as CPUs, two at least; where none has, each is without a value.
    """
    rows = [(surface, row) for surface in document.surfaces for row in range(len(surface.y_levels))]
    slopes = [OfferedValue(_slope(surface, row), _group(surface, row)) for surface, row in rows]
    ridges = [(surface, row, *surface.ridge(row)) for surface, row in rows]
    flat = [(s, row, over) for s, row, n, over in ridges if over is not None and 1 < n == s.y_levels[row]]
    flat = flat or [(surface, row, NO_RIDGE) for surface, row in rows]
    deviations = [OfferedValue(over, _group(surface, row)) for surface, row, over in flat]
    return {"slope_over_expected": slopes, "ridge_deviation": deviations}


def _group(surface: Surface, row: int) -> dict[str, int | float | str | bool]:
    return {**surface.group, surface.y: surface.y_levels[row]}


def _slope(surface: Surface, row: int) -> Estimate:
    """Divide the slope by T(1)/M; the half-widths of both intervals add up on logs."""
    slope, at = surface.slopes[row], surface.x_levels.index(1) if 1 in surface.x_levels else None
    cell = surface.cells[row][at] if at is not None else None
    if cell is None or not cell.estimate.value or slope.value is None:
        return replace(slope, value=None, low=None, high=None)
    over, alone = slope.rescale(surface.y_levels[row] / cell.estimate.value), cell.estimate
    if not over.value or not over.low or not over.high or over.low <= 0 or not alone.low or not alone.high:
        return over
    value = log(over.value)
    low = value - hypot(value - log(over.low), log(alone.high / (alone.value or 1.0)))
    high = value + hypot(log(over.high) - value, log((alone.value or 1.0) / alone.low))
    return replace(over, low=exp(low), high=exp(high))
