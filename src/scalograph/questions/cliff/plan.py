"""Plan a search for cliffs: both ends and each tenth of the log range first, then where runs tell most."""

from functools import partial

from scalograph.design.planner import Design
from scalograph.design.search import SearchPlan
from scalograph.questions.cliff.search_state import begin


def plan(design: Design) -> SearchPlan:
    """Plan a search over one factor that counts, at five levels or more.

    Raises:
        StudyError: another factor varies, or the levels are no counts, or too few.
    """
    return SearchPlan(design, partial(begin, design.study, design.configurations))
