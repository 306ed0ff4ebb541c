"""Runs until each configuration is known precisely enough: the grid in its blocks, without the configurations that are done."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from scalograph.analysis.stopping import Stopping, half_width
from scalograph.design.grid import GridPlanner
from scalograph.design.planner import Design
from scalograph.design.stopping_rule import block_ratios, reference_key
from scalograph.protocol.record import Record
from scalograph.study.levels import Configuration, Run
from scalograph.study.scalars import Level
from scalograph.verdict.cause import COUNTED

Score = Callable[[Record], float | None]
Key = tuple[Level, ...]


@dataclass(frozen=True, slots=True)
class PrecisionProgress:
    """How near a study is to its requested precision, as of the last finished block.

    Attributes:
        asked: requested half-width of an interval over its value.
        worst: the widest of the configurations still measured; None if none of them has an interval.
        n_precise: number of configurations that have reached it.
        n_configurations: number of all configurations.
        skipped: configurations that get no more runs, the latest last.
    """

    asked: float
    worst: float | None
    n_precise: int
    n_configurations: int
    skipped: tuple[Configuration, ...] = ()


class SequentialPlanner:
    """A planner that decides at the end of each block, so that all its configurations met the same machine.

    Baselines continue until all others are done: every speedup rests on them and is paired with them in its blocks.
    So does the reference of versions, whose ratios over it are what is to be precise.
    """

    def __init__(self, design: Design, rule: Stopping, score: Score) -> None:
        self._grid, self._rule, self._score = GridPlanner(design), rule, score
        self._configurations: dict[Key, Configuration] = {tuple(t.values()): t for t in design.configurations}
        self._baselines = {tuple(design.configurations[index].values()) for index in design.repeats}
        study = design.study
        bases = {key: reference_key(study, t) if study.reference else key for key, t in self._configurations.items()}
        # What each version is compared with, where that is planned.
        self._bases = {key: base for key, base in bases.items() if base != key and base in self._configurations}
        self._baselines |= {*self._bases.values()}
        self._scores: dict[Key, list[tuple[int, float]]] = {key: [] for key in self._configurations}
        self._done: dict[Key, Configuration] = {}
        self._reached = PrecisionProgress(rule.precision, None, 0, len(self._configurations))

    def ask(self) -> Run | None:
        """Return the next run of the grid that is still needed."""
        return self._grid.ask()

    def tell(self, run: Run, record: Record, verdict: str) -> str | None:
        """Take a score; at the end of a block, drop the configurations that are precise enough.

        Raises:
            StudyError: in the design, the name of this run belongs to another configuration.
        """
        note = self._grid.tell(run, record, verdict)
        if not run.warmup and verdict in COUNTED and (score := self._score(record)) is not None:
            self._scores.setdefault(tuple(run.configuration.values()), []).append((run.block, score))
        if not run.warmup and self._grid.is_block_done(run.block):
            self._decide()
        return note

    def resume(self) -> None:
        """Reset what made the grid give up: a new start may meet a quiet machine."""
        self._grid.resume()

    @property
    def n_left(self) -> int:
        """The largest number of runs still to come."""
        return self._grid.n_left

    @property
    def stop_reason(self) -> str:
        """Why the plan ends before its question is answered, as `end` in the journal says it; empty if it does not."""
        return self._grid.stop_reason

    @property
    def progress(self) -> PrecisionProgress:
        """Return how near the precision is; computed at the end of a block, and kept."""
        return self._reached

    def _decide(self) -> None:
        precise = {key for key in self._configurations if self._rule.is_precise(self._series(key))}
        others = self._configurations.keys() - self._baselines
        # Nobody asks how precise the references are by themselves.
        precise |= {*self._bases.values()} if self._bases.keys() <= precise else set()
        # Baselines stop with the last of the others.
        over = precise if others <= precise else precise - self._baselines
        self._done |= {key: t for key, t in self._configurations.items() if key in over and key not in self._done}
        self._grid.skip_configurations([*self._done.values()])
        worst = max(self._half_widths(), default=None)
        forgone = tuple(self._done.values())
        self._reached = PrecisionProgress(self._rule.precision, worst, len(precise), len(self._configurations), forgone)

    def _series(self, key: Key) -> list[float]:
        """What is to be precise: the scores of a configuration, or its ratios over the reference."""
        base = self._bases.get(key)
        return (
            [x for _, x in self._scores[key]] if base is None else block_ratios(self._scores[key], self._scores[base])
        )

    def _half_widths(self) -> Iterable[float]:
        """Yield the half-widths of the configurations that are still measured and have an interval."""
        left = (key for key in self._configurations if key not in self._done and key not in self._bases.values())
        halves = (half_width(self._series(key), self._rule.confidence) for key in left)
        return (half for half in halves if half is not None)
