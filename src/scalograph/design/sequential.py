"""Runs until each treatment is known well enough: the grid in its blocks, less the treatments that are done."""

from collections.abc import Callable, Mapping
from typing import Any

from scalograph.analysis.stopping import Stopping
from scalograph.design.grid import GridPlanner
from scalograph.design.planner import Design, Run
from scalograph.study import Level

# Runs with these verdicts carry the estimates, so these decide.
DECIDING = ("clean", "undecided")

Score = Callable[[Mapping[str, Any]], float | None]


class SequentialPlanner:
    """Decides at the end of each block, so that all treatments of a block have met the same machine.

    Baselines go on until all others are done: every speedup rests on them, and is paired with them in its blocks.
    """

    def __init__(self, design: Design, rule: Stopping, score: Score) -> None:
        self._design, self._grid, self._rule, self._score = design, GridPlanner(design), rule, score
        self._scores: dict[tuple[Level, ...], list[float]] = {tuple(t.values()): [] for t in design.treatments}
        self._done: set[tuple[Level, ...]] = set()

    def ask(self) -> Run | None:
        """The next run of the grid that is still wanted."""
        return self._grid.ask()

    def tell(self, run: Run, record: Mapping[str, Any], verdict: str) -> str | None:
        """Take a score; at the end of a block, forgo what is known well enough.

        Raises:
            StudyError: the design gives the name of this run to another treatment.
        """
        note = self._grid.tell(run, record, verdict)
        if not run.warmup and verdict in DECIDING and (found := self._score(record)) is not None:
            self._scores.setdefault(tuple(run.treatment.values()), []).append(found)
        if not run.warmup and self._grid.ended(run.block):
            self._decide()
        return note

    @property
    def n_left(self) -> int:
        """Runs that are still to come at most."""
        return self._grid.n_left

    def _decide(self) -> None:
        done = {key for key, scores in self._scores.items() if self._rule.enough(scores)}
        baselines = {tuple(self._design.treatments[index].values()) for index in self._design.repeats}
        if not self._scores.keys() - baselines <= done:
            done -= baselines
        self._done |= done
        self._grid.forgo([t for t in self._design.treatments if tuple(t.values()) in self._done])
