"""Counts: a whole number that is the same in every run is known; a time that is the same tells of a coarse clock."""

from collections.abc import Sequence

from scalograph.analysis.estimate import Estimate
from scalograph.study.model import Response


def is_count(response: Response) -> bool:
    """Tell whether a response counts something: it has neither a unit nor a better direction, as times and rates do."""
    return not response.unit and response.better == "none"


def known_count(scores: Sequence[float], confidence: float) -> Estimate | None:
    """Return the count that all runs came to.

    Args:
        scores: one for each run, of a response that counts.
        confidence: of the intervals beside it.

    Returns:
        None where it is not one whole number, the same in two runs or more.
    """
    if len(scores) < 2 or len({*scores}) > 1 or not float(scores[0]).is_integer():
        return None
    return Estimate(scores[0], scores[0], scores[0], confidence, len(scores), "counted, the same in every run")
