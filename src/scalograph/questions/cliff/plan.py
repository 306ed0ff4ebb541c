"""The runs of a search for cliffs.

The first ones lie at both ends and in each tenth of the range, by its log; each further one is where the course, told
of all before it, expects to learn most of the place of the jump.
"""

from functools import partial

from scalograph.design.planner import Design
from scalograph.design.search import SearchPlan
from scalograph.questions.cliff.search_state import begin


def plan(design: Design) -> SearchPlan:
    """Make the plan of a search for cliffs.

    Args:
        design: of one factor that counts, at five levels or more.

    Returns:
        Where the first runs are, and who asks for all further ones.

    Raises:
        StudyError: another factor varies, or the levels are no counts, or too few.
    """
    return SearchPlan(design, partial(begin, design.study, design.treatments))
