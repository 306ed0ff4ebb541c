"""Plan the runs of a search for the settings that matter.

The first block of an orthogonal array is made in any case; further blocks follow until every effect that is large
enough would have been seen, then fresh runs confirm what was found. Or every setting is tried alone, as published.
"""

from collections.abc import Iterator
from functools import partial

from scalograph.design.planner import Design
from scalograph.design.search import SearchPlan
from scalograph.questions.tunables.search_state import begin
from scalograph.study.levels import Configuration
from scalograph.study.model import ONE_AT_A_TIME, PAIRED, SCREENING, Study
from scalograph.text.quantities import count_noun


class TunablesPlan(SearchPlan):
    """Plan of a search of which a first block is made, and the rest follows from it."""

    def __init__(self, design: Design) -> None:
        super().__init__(design, partial(begin, design.study, design.configurations))
        self._study = design.study

    def outlook(self) -> str:
        search = begin(self._study, ())
        n, first = count_noun(len(search.state.space.settings), "setting"), len(search.first)
        if (self._study.plan or SCREENING) == ONE_AT_A_TIME:
            return f"{n}, one at a time: {first} runs"
        if self._study.plan == PAIRED:
            each, most = 2 * len(search.state.space.settings), search.state.most
            return f"{n}, each in pairs with the default: {each} runs a block, {most} at most, less within 5%"
        most = min(search.state.most, self.most_runs)
        if most < first:
            return f"{n}; {count_noun(most, 'run')} at most, too few to compare them: the first block has {first}"
        return f"{n}; {first} runs first, further blocks until intervals are within 4%, at most {most} runs"


def configurations(study: Study) -> Iterator[Configuration]:
    """Yield the default, and what the first block has, or every setting alone; each once: a grid would be millions."""
    yield from (dict(configuration) for (configuration,) in begin(study, ()).steps.values())


plan = TunablesPlan
