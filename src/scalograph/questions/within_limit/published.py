"""Values that a search for the highest level within a limit offers to published claims.

A claim such as "it carries 600 requests a second within its limits" holds where the whole interval lies in its range.
"""

from collections.abc import Mapping, Sequence

from scalograph.protocol.published_claim import OfferedValue
from scalograph.questions.within_limit.document import WithinLimit

QUANTITIES = {"limit_level": "level at which the response is at its limit"}
OUTSIDE = "it lies outside the levels that were tried"


def quantities(document: WithinLimit) -> Mapping[str, Sequence[OfferedValue]]:
    return {"limit_level": [OfferedValue(document.crossing, {}, OUTSIDE if document.crossing.value is None else "")]}
