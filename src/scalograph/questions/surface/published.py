"""Offer the slope of rows, and their deviation at the ridge, to published claims."""

from collections.abc import Mapping, Sequence

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
    slopes = [OfferedValue(surface.slope_ratio(row), _group(surface, row)) for surface, row in rows]
    ridges = [(surface, row, *surface.ridge(row)) for surface, row in rows]
    flat = [(s, row, over) for s, row, n, over in ridges if over is not None and 1 < n == s.y_levels[row]]
    flat = flat or [(surface, row, NO_RIDGE) for surface, row in rows]
    deviations = [OfferedValue(over, _group(surface, row)) for surface, row, over in flat]
    return {"slope_over_expected": slopes, "ridge_deviation": deviations}


def _group(surface: Surface, row: int) -> dict[str, int | float | str | bool]:
    return {**surface.group, surface.y: surface.y_levels[row]}
