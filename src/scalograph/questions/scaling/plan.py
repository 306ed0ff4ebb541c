"""Plan the runs of a sweep: the whole grid, or what of it is not known well enough."""

from collections.abc import Iterator
from functools import partial

from scalograph.design.grid import GridPlanner, grid_runs
from scalograph.design.planner import Design, Planner
from scalograph.design.sequential import SequentialPlanner
from scalograph.design.stopping_rule import pair_stopping, score, stopping
from scalograph.study.levels import Run
from scalograph.text.quantities import count_noun


class GridPlan:
    """Plan of a sweep (`scalograph.design.planner.RunPlan`)."""

    def __init__(self, design: Design) -> None:
        self._design = design

    def planner(self) -> Planner:
        study = self._design.study
        rule = stopping(study) or pair_stopping(study)
        if rule is None:
            return GridPlanner(self._design)
        return SequentialPlanner(self._design, rule, partial(score, study))

    def planned_runs(self) -> Iterator[Run]:
        return grid_runs(self._design)

    def runs_per_configuration(self) -> list[int]:
        """Return how many runs each configuration has, warm-up runs left out."""
        design, n_blocks = self._design, self._design.study.protocol.runs
        return [design.runs_per_block(index) * n_blocks for index in range(len(design.configurations))]

    @property
    def most_runs(self) -> int:
        rule = pair_stopping(self._design.study)
        return self._design.n_runs + (self._design.block_size * rule.most_further if rule else 0)

    @property
    def block_size(self) -> int:
        """Return the number of runs in a block: each configuration once, a baseline more often."""
        return self._design.block_size

    def outlook(self) -> str:
        design = self._design
        runs = f"{count_noun(design.n_runs, 'run')} in {count_noun(design.study.protocol.runs, 'block')}"
        return f"{count_noun(len(design.configurations), 'configuration')}, {runs}"


plan = GridPlan
