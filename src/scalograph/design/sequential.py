"""Planner of a grid that drops configurations once their requested precision is reached."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import fmean

from scalograph.analysis.stopping import Stopping, half_width
from scalograph.design.grid import GridPlanner
from scalograph.design.planner import Design
from scalograph.design.stopping_rule import block_ratios, reference_key
from scalograph.protocol.record import Record
from scalograph.study.levels import Configuration, Run
from scalograph.study.responses import elapsed_source
from scalograph.study.scalars import Level
from scalograph.verdict.cause import COUNTED

Score = Callable[[Record], float | None]
Key = tuple[Level, ...]


@dataclass(frozen=True, slots=True)
class PrecisionProgress:
    """Progress toward the requested precision as of the last finished block.

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

    Baselines, and the reference of versions, continue until all others are done: ratios are paired with them. Versions
    with too wide an interval after the planned blocks get further blocks once (`Stopping.n_further`).
    """

    def __init__(self, design: Design, rule: Stopping, score: Score) -> None:
        self._grid, self._rule, self._score = GridPlanner(design), rule, score
        self._configurations: dict[Key, Configuration] = {tuple(t.values()): t for t in design.configurations}
        self._baselines = {tuple(design.configurations[index].values()) for index in design.repeats}
        study = design.study
        self._are_times = bool(elapsed_source(study))
        bases = {key: reference_key(study, t) if study.reference else key for key, t in self._configurations.items()}
        # Version -> its reference, where that is planned.
        self._bases = {key: base for key, base in bases.items() if base != key and base in self._configurations}
        self._baselines |= {*self._bases.values()}
        self._scores: dict[Key, list[tuple[int, float]]] = {key: [] for key in self._configurations}
        self._done: dict[Key, Configuration] = {}
        self._is_extended = False
        self._reached = PrecisionProgress(rule.precision, None, 0, len(self._configurations))

    def ask(self) -> Run | None:
        return self._grid.ask()

    def tell(self, run: Run, record: Record, verdict: str) -> str | None:
        """Take a score; at the end of a block, skip the configurations that are precise enough."""
        note = self._grid.tell(run, record, verdict)
        if not run.warmup and verdict in COUNTED and (score := self._score(record)) is not None:
            self._scores.setdefault(tuple(run.configuration.values()), []).append((run.block, score))
        if not run.warmup and self._grid.is_block_done(run.block):
            self._decide()
        return note

    def resume(self) -> None:
        self._grid.resume()

    @property
    def n_left(self) -> int:
        """The largest number of runs still to come."""
        return self._grid.n_left

    @property
    def stop_reason(self) -> str:
        return self._grid.stop_reason

    @property
    def progress(self) -> PrecisionProgress:
        return self._reached

    def _decide(self) -> None:
        precise = {key for key in self._configurations if self._rule.is_precise(self._series(key))}
        # The precision of references by themselves does not matter.
        precise |= {*self._bases.values()} if self._bases.keys() <= precise else set()
        if not self._is_extended:
            self._skip(precise)
            if self._bases and not self._grid.n_left:
                self._extend()
        worst = max(self._half_widths(), default=None)
        forgone = tuple(self._done.values())
        self._reached = PrecisionProgress(self._rule.precision, worst, len(precise), len(self._configurations), forgone)

    def _skip(self, precise: set[Key]) -> None:
        """Skip what is precise enough; baselines stop with the last of the others."""
        others = self._configurations.keys() - self._baselines
        over = precise if others <= precise else precise - self._baselines
        self._done |= {key: t for key, t in self._configurations.items() if key in over and key not in self._done}
        self._grid.skip_configurations([*self._done.values()])

    def _extend(self) -> None:
        """Plan the further blocks of versions and their references, by the width of their intervals alone."""
        self._is_extended = True
        further = {key: n for key in self._bases if (n := self._rule.n_further(self._series(key), self._run_s(key)))}
        keys = further.keys() | {self._bases[key] for key in further}
        self._grid.add_blocks(max(further.values(), default=0), [self._configurations[key] for key in keys])

    def _run_s(self, key: Key) -> float:
        """Return the mean time of a run; infinite without runs that count, or where scores are no times."""
        scores = [score for _, score in self._scores[key]]
        return fmean(scores) if scores and self._are_times else math.inf

    def _series(self, key: Key) -> list[float]:
        """Return the scores of a configuration, or its ratios over the reference."""
        base = self._bases.get(key)
        return (
            [x for _, x in self._scores[key]] if base is None else block_ratios(self._scores[key], self._scores[base])
        )

    def _half_widths(self) -> Iterable[float]:
        """Yield the half-widths of the configurations that are still measured and have an interval."""
        left = (key for key in self._configurations if key not in self._done and key not in self._bases.values())
        halves = (half_width(self._series(key), self._rule.confidence) for key in left)
        return (half for half in halves if half is not None)
