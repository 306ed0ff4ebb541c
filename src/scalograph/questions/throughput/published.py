"""Offer the plateau, the knee and the full configuration to published claims."""

from collections.abc import Mapping, Sequence

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.published_claim import OfferedValue
from scalograph.questions.throughput.document import LoadedGroup, Throughputs

QUANTITIES = {
    "plateau": "least level beyond which none reaches 5% more",
    "knee": "clients from which requests queue",
    "corner_over_best": "rate at the highest levels over that of the best other configuration",
}
DRIVER = "the load generator saturated first"


def quantities(document: Throughputs) -> Mapping[str, Sequence[OfferedValue]]:
    """Offer the values of each group of the factors other than the load.

    By name; the interval of a plateau spans the levels that may be the least. Where a rate still rises, and where
    the load generator saturated first, these runs cannot show it.
    """
    corners = [OfferedValue(group.over_best, group.group) for group in document.corners]
    plateaus = [_plateau(group) for group in document.groups if len(group.points_with_runs) > 1]
    knees = [OfferedValue(group.knee, group.group) for group in document.groups if group.knee is not None]
    offers = {"plateau": plateaus, "knee": knees, "corner_over_best": corners}
    return {name: each for name, each in offers.items() if each}


def _plateau(group: LoadedGroup) -> OfferedValue:
    at = group.point(group.at)
    if at is not None and at.driver_limits in ("late", "CPU"):
        return OfferedValue(Estimate(warnings=(DRIVER,)), group.group, DRIVER)
    return OfferedValue(group.plateau, group.group)
