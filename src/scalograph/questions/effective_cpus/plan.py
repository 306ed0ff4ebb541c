"""Plan a search for effective CPUs: five levels first, then where the remaining answers lie farthest apart."""

from functools import partial

from scalograph.design.planner import Design
from scalograph.design.search import SearchPlan
from scalograph.questions.effective_cpus.search_state import begin


def plan(design: Design) -> SearchPlan:
    """Plan a search over one factor that counts CPUs, or workers that each do the same.

    Raises:
        StudyError: another factor varies, or the levels are no counts.
    """
    return SearchPlan(design, partial(begin, design.study, design.configurations))
