"""Offer the best level, and levels slower than both neighbors, to published claims."""

from collections.abc import Mapping, Sequence

from scalograph.protocol.published_claim import OfferedValue
from scalograph.questions.scaling.document import Swept

QUANTITIES = {
    "best_level": "level with the least time for the same work",
    "slower_than_both": "time over that of the slower one of both neighbors",
}


def quantities(document: Swept) -> Mapping[str, Sequence[OfferedValue]]:
    """Offer the best level of each curve, and one value for each level with two neighbors.

    By name; the interval of `best_level` spans the levels that cannot be told apart from the best.
    """
    best = [OfferedValue(curve.best, curve.group) for curve in document.curves if curve.best is not None]
    bumps = [(curve, bump) for curve in document.curves for bump in curve.bumps]
    slower = [OfferedValue(bump.slower, {**curve.group, curve.factor: bump.level}) for curve, bump in bumps]
    return {name: values for name, values in (("best_level", best), ("slower_than_both", slower)) if values}
