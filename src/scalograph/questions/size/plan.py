"""Plan a search for the least that a program needs: the grid of all amounts is never made."""

from collections.abc import Iterator
from functools import partial

from scalograph.design.planner import Design
from scalograph.design.search import SearchPlan
from scalograph.questions.size.search_state import begin
from scalograph.study.levels import Configuration
from scalograph.study.model import Study


def configurations(study: Study) -> Iterator[Configuration]:
    """Yield those of the search along the first amount."""
    yield from (dict(configuration) for (configuration,) in begin(study, ()).steps.values())


def plan(design: Design) -> SearchPlan:
    """Plan the searches along the amounts of a study, one after the other."""
    return SearchPlan(design, partial(begin, design.study, design.configurations))
