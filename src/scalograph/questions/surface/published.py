"""What a surface offers to the claims of a paper: how its rows rise, and whether they are flat before."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import exp, hypot, log

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.published_claim import OfferedFigure
from scalograph.questions.surface.document import Surface, Surfaces

QUANTITIES = {
    "slope_over_expected": "time that each worker beyond the CPUs adds, over that of one alone by the CPUs",
    "ridge_deviation": "time of as many workers as CPUs, over that of one",
}
NO_RIDGE = Estimate(value=None, warnings=("no count of workers is that of two or more CPUs",))


def quantities(document: Surfaces) -> Mapping[str, Sequence[OfferedFigure]]:
    """Offer one figure for each count of CPUs, of each surface.

    Args:
        document: the surfaces.

    Returns:
        By name; of rows that have too few counts of workers for a figure, one without a value. A ridge is that of rows
        with as many workers as CPUs, two at least; where none has, each is without a value.
    """
    rows = [(one, row) for one in document.surfaces for row in range(len(one.y_levels))]
    slopes = [OfferedFigure(_slope(one, row), _group(one, row)) for one, row in rows]
    ridges = [(one, row, one.ridge(row)) for one, row in rows]
    flat = [(one, row, found) for one, row, (n, found) in ridges if found is not None and 1 < n == one.y_levels[row]]
    flat = flat or [(one, row, NO_RIDGE) for one, row in rows]
    return {
        "slope_over_expected": slopes,
        "ridge_deviation": [OfferedFigure(found, _group(one, row)) for one, row, found in flat],
    }


def _group(one: Surface, row: int) -> dict[str, int | float | str | bool]:
    return {**one.group, one.y: one.y_levels[row]}


def _slope(one: Surface, row: int) -> Estimate:
    """The slope over T(1)/M; both have an interval, and their half-widths add up as those of logs do."""
    slope, at = one.slopes[row], one.x_levels.index(1) if 1 in one.x_levels else None
    cell = one.cells[row][at] if at is not None else None
    if cell is None or not cell.estimate.value or slope.value is None:
        return replace(slope, value=None, low=None, high=None)
    found, alone = slope.scaled(one.y_levels[row] / cell.estimate.value), cell.estimate
    if not found.value or not found.low or not found.high or found.low <= 0 or not alone.low or not alone.high:
        return found
    value = log(found.value)
    low = value - hypot(value - log(found.low), log(alone.high / (alone.value or 1.0)))
    high = value + hypot(log(found.high) - value, log((alone.value or 1.0) / alone.low))
    return replace(found, low=exp(low), high=exp(high))
