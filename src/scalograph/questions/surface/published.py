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
    rows = [(surface, row) for surface in document.surfaces for row in range(len(surface.y_levels))]
    slopes = [OfferedFigure(_slope(surface, row), _group(surface, row)) for surface, row in rows]
    ridges = [(surface, row, surface.ridge(row)) for surface, row in rows]
    flat = [
        (surface, row, deviation)
        for surface, row, (n, deviation) in ridges
        if deviation is not None and 1 < n == surface.y_levels[row]
    ]
    flat = flat or [(surface, row, NO_RIDGE) for surface, row in rows]
    return {
        "slope_over_expected": slopes,
        "ridge_deviation": [OfferedFigure(deviation, _group(surface, row)) for surface, row, deviation in flat],
    }


def _group(surface: Surface, row: int) -> dict[str, int | float | str | bool]:
    return {**surface.group, surface.y: surface.y_levels[row]}


def _slope(surface: Surface, row: int) -> Estimate:
    """The slope over T(1)/M; both have an interval, and their half-widths add up as those of logs do."""
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
