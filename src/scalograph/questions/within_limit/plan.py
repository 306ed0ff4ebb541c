"""The runs of a search for the highest level within a limit.

The first ones are spread over the range; each further one is where the course, told of all before it, expects the
response to be at its limit.
"""

from functools import partial

from scalograph.design.planner import Design
from scalograph.design.search import SearchPlan
from scalograph.questions.within_limit.search_state import begin


def plan(design: Design) -> SearchPlan:
    """Make the plan of such a search.

    Args:
        design: of one factor of counts, and a response with a limit.

    Returns:
        Where the first runs are, and who asks for all further ones.

    Raises:
        StudyError: another factor varies, or the levels are no counts.
    """
    return SearchPlan(design, partial(begin, design.study, design.treatments))
