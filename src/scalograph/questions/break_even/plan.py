"""The pairs of a search for break-even.

The first ones are spread over all factors; each further one is where the course, told of all before it, knows least of
which version wins, near the line at which both are even.
"""

from functools import partial

from scalograph.design.planner import Design
from scalograph.design.search import SearchPlan
from scalograph.questions.break_even.search_state import begin


def plan(design: Design) -> SearchPlan:
    """Make the plan of a search for break-even.

    Args:
        design: of two versions, over one to four factors of numbers.

    Returns:
        Where the first pairs are, and who asks for all further ones.

    Raises:
        StudyError: there is nothing to compare, or at too many points.
    """
    return SearchPlan(design, partial(begin, design.study, design.treatments, design.n_cpus))
