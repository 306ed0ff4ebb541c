"""The pairs of a search for break-even."""

from functools import partial

from scalograph.design.planner import Design
from scalograph.design.search import SearchPlan
from scalograph.questions.break_even.course import begin


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
