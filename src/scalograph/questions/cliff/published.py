"""Values that a search for cliffs offers to published claims."""

from collections.abc import Mapping, Sequence
from math import sqrt

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.published_claim import OfferedValue
from scalograph.questions.cliff.document import Cliffs

QUANTITIES = {
    "cliff": "level at which the time jumps",
    "cliff_factor": "time above the cliff over time below",
    "cliff_moves": "whether the place of the jump moves from run to run: 1, or 0 where it stays",
    "cliffs": "number of cliffs",
}
LOCATION, JUMP = "place of a cliff, 99% of its posterior", "time above over time below, 95% of its posterior"
COUNT = "cliffs that the search has found"


def quantities(document: Cliffs) -> Mapping[str, Sequence[OfferedValue]]:
    """Offer the first cliff, its size, and the number of cliffs, by name.

    An empty list: the search is decided, and there is no such value. A missing name: nothing is known of it.
    """
    if document.alternates:
        return {}  # a cliff was not looked for
    # The end is open where a further cliff may be.
    n, moves = float(max(len(document.cliffs), document.wanders is not None)), float(document.wanders is not None)
    count = [OfferedValue(Estimate(n, n, n if document.decided else None, 0.95, document.n, COUNT))]
    if document.wanders:
        low, high = document.wanders
        jump = Estimate(document.jump, n=document.n, method=JUMP)
        location = Estimate(sqrt(low * high), low, high, 0.95, document.n, "levels between which the jump moves")
    elif document.cliffs:
        first = document.cliffs[0]
        location = Estimate(first.location, first.low, first.high, 0.99, document.n, LOCATION)
        low, value, high = first.factor
        jump = Estimate(value, low, high, 0.95, document.n, JUMP)
    elif document.decided:
        return {"cliff": [], "cliff_factor": [], "cliff_moves": [], "cliffs": count}
    else:
        warning = ("the search ended before it was sure",)
        likely = Estimate(document.likely, n=document.n, method=LOCATION, warnings=warning)
        return {"cliff": [OfferedValue(likely)], "cliffs": count}
    wanders = OfferedValue(Estimate(moves, moves, moves, method="runs on both sides of the jump"))
    offers = {"cliff": [OfferedValue(location)], "cliff_factor": [OfferedValue(jump)]}
    return {**offers, "cliffs": count, "cliff_moves": [wanders]}
