"""Plan a break-even search: spread pairs first, then each where the winner is least known, near the line."""

from functools import partial

from scalograph.design.planner import Design
from scalograph.design.search import SearchPlan
from scalograph.questions.break_even.search_state import begin


def plan(design: Design) -> SearchPlan:
    """Plan a search over two versions and one to four factors of numbers.

    Raises StudyError: there is nothing to compare, or at too many points.
    """
    return SearchPlan(design, partial(begin, design.study, design.configurations, design.n_cpus))
