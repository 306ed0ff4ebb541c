"""Plan a search for the highest level within a limit: three levels first, then near the expected crossing."""

from functools import partial

from scalograph.design.planner import Design
from scalograph.design.search import SearchPlan
from scalograph.questions.within_limit.search_state import begin


def plan(design: Design) -> SearchPlan:
    """Plan a search over one factor of counts, for a response with a limit.

    Raises:
        StudyError: another factor varies, or the levels are no counts.
    """
    return SearchPlan(design, partial(begin, design.study, design.configurations))
