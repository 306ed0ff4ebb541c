"""What a study of throughput offers to the claims of a paper: where nothing more is gained, and where the peak is."""

from collections.abc import Mapping, Sequence

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.published_claim import OfferedFigure
from scalograph.questions.throughput.document import LoadedGroup, Throughputs

QUANTITIES = {
    "plateau": "least level beyond which none carries 5 % more",
    "knee": "clients with which queues begin",
    "corner_over_best": "rate with the most of everything over that of the best other configuration",
}
DRIVER = "the driver gave out first"


def quantities(document: Throughputs) -> Mapping[str, Sequence[OfferedFigure]]:
    """Offer the figures of each setting of the factors that the load does not run along.

    Args:
        document: the groups.

    Returns:
        By name; the interval of a plateau spans the levels that may be the least. Where a rate still rises, and where
        the driver gave out first, these runs cannot show it.
    """
    corners = [OfferedFigure(one.over_best, one.group) for one in document.corners]
    plateaus = [_plateau(one) for one in document.groups if len(one.known) > 1]
    knees = [OfferedFigure(one.knee, one.group) for one in document.groups if one.knee is not None]
    found = {"plateau": plateaus, "knee": knees, "corner_over_best": corners}
    return {name: each for name, each in found.items() if each}


def _plateau(one: LoadedGroup) -> OfferedFigure:
    at = one.point(one.at)
    if at is not None and at.driver_limits in ("late", "CPU"):
        return OfferedFigure(Estimate(warnings=(DRIVER,)), one.group, DRIVER)
    return OfferedFigure(one.plateau, one.group)
