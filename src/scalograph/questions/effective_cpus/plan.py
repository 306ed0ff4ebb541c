"""The runs of a search for effective CPUs.

The first ones are spread over the range with both its ends; each further one is where the course, told of all before
it, expects the answers that are left to lie farthest apart.
"""

from functools import partial

from scalograph.design.planner import Design
from scalograph.design.search import SearchPlan
from scalograph.questions.effective_cpus.search_state import begin


def plan(design: Design) -> SearchPlan:
    """Make the plan of a search for effective CPUs.

    Args:
        design: of one factor that counts CPUs, or workers that each do the same.

    Returns:
        Where the first runs are, and who asks for all further ones.

    Raises:
        StudyError: another factor varies, or the levels are no counts.
    """
    return SearchPlan(design, partial(begin, design.study, design.treatments))
