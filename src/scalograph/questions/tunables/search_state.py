"""Choose the next run: blocks of an array until all is resolved, then fresh runs that confirm; or one at a time."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log, log1p
from typing import NamedTuple

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.design.search_steps import Configuration, Search, configuration_key
from scalograph.errors import StudyError
from scalograph.questions.tunables.model_array import (
    SYMBOLS,
    FactorSpace,
    Settings,
    block_rows,
    failing_settings,
    n_rotations,
    orthogonal_array,
    read_factor_space,
)
from scalograph.questions.tunables.model_fit import MOST_CONFIRMED, PAIRS, SettingFit, choose_candidates, factorial, fit
from scalograph.questions.tunables.model_strength import ScreeningResult, screen
from scalograph.study.model import ONE_AT_A_TIME, PAIRED, SCREENING, PlanKind, Study

# Rows of an array before each of which a run of the default is made.
EVERY = 9
N_DEFAULT = 10  # runs of the default of a plan one at a time, as published


class PlannedRun(NamedTuple):
    """A run to come: its settings, its block, and whether it is one of the fresh runs that confirm."""

    settings: Settings
    block: int
    confirms: bool = False


def array_block(space: FactorSpace, number: int, seed: int, left_out: set[tuple[int, int]]) -> list[PlannedRun]:
    """Return a block of the array, a run of the default before every nine of its own.

    `number`: of the block, from 0 on; `left_out`: settings that fail: the default stands for them.
    """
    runs: list[PlannedRun] = []
    for k, row in enumerate(block_rows(space.n_levels, number, seed)):
        if k % EVERY == 0:
            runs.append(PlannedRun(space.default, number))
        kept = tuple(0 if (j, level) in left_out else level for j, level in enumerate(row))
        runs.append(PlannedRun(kept, number))
    return runs


def replicate(space: FactorSpace, number: int, n_runs: int, seed: int) -> list[PlannedRun]:
    """Return one replicate: every setting alone, and its share of the ten runs of the default, shuffled.

    `number`: of the replicate, from 0 on.
    """
    n_default = max(1, (number + 1) * N_DEFAULT // n_runs - number * N_DEFAULT // n_runs)
    runs = [PlannedRun(space.alone(*setting), number) for setting in space.settings]
    runs += [PlannedRun(space.default, number)] * n_default
    random.Random(f"{seed} {number}").shuffle(runs)
    return runs


def pairs(space: FactorSpace, number: int, seed: int) -> list[PlannedRun]:
    """Return one replicate of pairs: every setting alone and a run of the default, one after the other, as a block.

    `number`: of the replicate, from 0 on. Both orders are as likely.
    """
    draw = random.Random(f"{seed} {number} pairs")
    settings, runs = draw.sample(space.settings, len(space.settings)), list[PlannedRun]()
    for i, setting in enumerate(settings, number * len(settings)):
        runs += draw.sample([PlannedRun(space.alone(*setting), i), PlannedRun(space.default, i)], 2)
    return runs


def confirmation_runs(space: FactorSpace, configurations: Sequence[Settings], seed: int) -> Iterator[PlannedRun]:
    """Yield the fresh runs: in each block every configuration and the default once, shuffled."""
    draw = random.Random(f"{seed} confirm")
    for block in range(PAIRS):
        runs = [PlannedRun(settings, block, confirms=True) for settings in (space.default, *configurations)]
        draw.shuffle(runs)
        yield from runs


MOST_BLOCKS_TOLD = 1000  # of more nobody wants to know
ALPHA = 0.05  # probability of calling any factor one that matters which does not, over all looks together
PAIRS_RESOLVED = 0.05  # the same of pairs, which end there
RESOLVED = 0.04  # blocks are added until every interval is narrower than that to each side, as a share
NEARLY = 0.2  # a factor that is that nearly selected is worth another block
MOST_ROWS = 108  # runs of the array at most; where a factor has many levels, more
MARGIN = 0.01  # performance that counts as none, where the study says nothing else
# The default fails so often, and what that means.
DEFAULT_FAILURES = 3
NOTHING_TO_COMPARE = "runs of the default fail, so nothing can be compared with it"


@dataclass(frozen=True, slots=True)
class Observation:
    """An observed run: its settings, its block, and log performance; None where it failed, or its guest has no times.

    `confirms` says that it is one of the fresh runs, whose blocks are counted anew.
    """

    settings: Settings
    block: int
    log: float | None
    confirms: bool = False
    failed: bool = False


class TunablesState:
    """Pure in the study and what was told, in that order. A level is the place of its configuration in `steps`.

    Attributes:
        steps: place -> settings; it grows with the blocks that are begun.
        screening_result: what the last look selected; None before the first.
        selected: factors that matter, as of all looks.
        left_out: settings that fail.
        resolved: whether the intervals of all settings are narrow enough, every level having been tried.
    """

    def __init__(
        self, space: FactorSpace, seed: int, plan: PlanKind, margin: float, n_runs: int, confidence: float = 0.95
    ) -> None:
        self.space, self.plan, self.margin, self.confidence = space, plan, margin, confidence
        self._seed, self._n_runs = seed, n_runs
        self.steps: list[Settings] = []
        self._places: dict[Settings, int] = {}
        self.observations: list[Observation] = []
        self.screening_result: ScreeningResult | None = None
        self.selected: tuple[int, ...] = ()
        self.looks: list[tuple[int, ...]] = []
        self.candidates: list[tuple[int, int]] = []
        self.left_out: set[tuple[int, int]] = set()
        self.resolved, self.over, self.n_blocks = False, False, 1
        self.queue: list[PlannedRun] = self._first()
        self._place_all()

    @property
    def is_complete(self) -> bool:
        """Tell whether all planned runs were made, and what they had to resolve is resolved."""
        return self.over and self.resolved and not self.default_fails

    @property
    def default_fails(self) -> bool:
        """Tell whether so many runs of the default fail that nothing can be compared with it."""
        default = [run for run in self.observations if run.settings == self.space.default]
        return sum(run.failed for run in default) >= max(DEFAULT_FAILURES, len(default) / 2)

    @property
    def next_level(self) -> int | None:
        return self._places[self.queue[0].settings] if self.queue else None

    @property
    def n_left(self) -> int:
        return max(1, len(self.queue))

    @property
    def most(self) -> int:
        """Return how many runs there are at most, none of them repeated."""
        if self.plan == PAIRED:
            return 2 * len(self.space.settings) * self._n_runs
        if self.plan == ONE_AT_A_TIME:
            return len(self.queue) + len(self.observations)
        block_size = len(array_block(self.space, 0, self._seed, set()))
        return self.most_blocks * block_size + PAIRS * (1 << MOST_CONFIRMED)

    @property
    def most_blocks(self) -> int:
        """Return how many blocks of the array there are at most."""
        return max(MOST_ROWS // len(orthogonal_array(len(self.space.names))), 2 * n_rotations(self.space.n_levels))

    @property
    def summary(self) -> str:
        if self.screening_result is None:
            return ""
        names = ", ".join(self.space.names[j] for j in self.selected) or "none"
        return f"{'confirming' if self.candidates else 'matter'}: {names}"

    def observe(self, level: int, score: float) -> str | None:
        return self._take(level, -log(score))

    def observe_failure(self, level: int) -> str | None:
        """Take a run without a score: a failure is a response."""
        return self._take(level, None, failed=True)

    def observe_timeless(self, level: int) -> str | None:
        """Take a run that succeeded where no time counts: a guest whose CPUs are emulated."""
        return self._take(level, None)

    def end(self) -> None:
        """Take the one look of a plan without an array, where its runs ended before all were made."""
        if self.plan != SCREENING and self.screening_result is None and not self.default_fails:
            self._look()

    @property
    def screening(self) -> list[Observation]:
        return [run for run in self.observations if not run.confirms]

    @property
    def pairs(self) -> list[dict[Settings, float | None]]:
        """Return the log performance of each configuration in each block of the fresh runs."""
        by_block: dict[int, dict[Settings, float | None]] = {}
        for run in self.observations:
            if run.confirms:
                by_block.setdefault(run.block, {})[run.settings] = run.log
        return list(by_block.values())

    def fit_settings(self) -> SettingFit | None:
        """Fit all settings to the runs that compare them; None where there are too few."""
        rows, values, blocks = _arrays([(run, run.log) for run in self.screening if run.log is not None])
        if not rows:
            return None
        return fit(rows, values, blocks, self.space.n_levels, self.selected, self.confidence, self._seed)

    def fit_response(self, logs: Mapping[int, float], n_others: int) -> SettingFit | None:
        """Fit all settings to another response, by the factors that matter to it.

        `logs`: log of it, by the place of the run in `observations`; `n_others`: such responses, which share what one
        may err by (Bonferroni).
        """
        values_of_runs = [(run, logs[i]) for i, run in enumerate(self.observations) if not run.confirms and i in logs]
        if len(values_of_runs) < SYMBOLS:
            return None
        rows, values, blocks = _arrays(values_of_runs)
        n_levels, seed = self.space.n_levels, self._seed
        selected = screen(rows, values, blocks, n_levels, ALPHA / n_others, seed % 2**31).selected
        return fit(rows, values, blocks, n_levels, selected, 1 - (1 - self.confidence) / n_others, seed)

    def _first(self) -> list[PlannedRun]:
        if self.plan == PAIRED:
            return pairs(self.space, 0, self._seed)
        if self.plan == SCREENING:
            return array_block(self.space, 0, self._seed, self.left_out)
        return [run for k in range(self._n_runs) for run in replicate(self.space, k, self._n_runs, self._seed)]

    def _take(self, level: int, value: float | None, failed: bool = False) -> str | None:
        settings = self.steps[level]
        index = next((i for i, run in enumerate(self.queue) if run.settings == settings), None)
        asked = self.queue.pop(index) if index is not None else PlannedRun(settings, self.n_blocks - 1)
        self.observations.append(Observation(settings, asked.block, value, asked.confirms, failed))
        if self.default_fails:
            self.queue, self.over = [], True
            return NOTHING_TO_COMPARE
        return self._next() if not self.queue else None

    def _next(self) -> str | None:
        if self.plan == PAIRED and self.n_blocks < self._n_runs and not self._is_resolved():
            self.queue = pairs(self.space, self.n_blocks, self._seed)
            self.n_blocks += 1
            return None
        self._look()
        if self.plan != SCREENING or self.candidates:
            self.over = True
            return None
        note, p = self._leave_out(), self.screening_result.p if self.screening_result else ()
        is_near = any(x <= NEARLY for j, x in enumerate(p) if j not in self.selected)
        if (not self.resolved or is_near) and self.n_blocks < self.most_blocks:
            self.queue = array_block(self.space, self.n_blocks, self._seed, self.left_out)
            self.n_blocks += 1
        else:
            self._confirm()
        self._place_all()
        return note

    def _look(self) -> None:
        """Select with the share of alpha that one look has; a factor that was found once stays found."""
        rows, values, blocks = _arrays([(run, run.log) for run in self.screening if run.log is not None])
        looks = self.most_blocks if self.plan == SCREENING else 1
        if self.candidates or len(rows) < SYMBOLS:
            return
        self.screening_result = screen(rows, values, blocks, self.space.n_levels, ALPHA / looks, self._seed % 2**31)
        self.selected = tuple(dict.fromkeys((*self.selected, *self.screening_result.selected)))
        self.looks.append(self.selected)
        tried = self.n_blocks >= n_rotations(self.space.n_levels) or self.plan != SCREENING
        self.resolved = tried and self._is_resolved()

    def _is_resolved(self) -> bool:
        effects = self.fit_settings()
        return effects is not None and self.widest(effects) <= log1p(self.target)

    def widest(self, fit: SettingFit) -> float:
        """Return the largest half-width, as a log: of pairs as it is, else if the noise is as large as it may be."""
        return fit.widest if self.plan == PAIRED else fit.surely_within

    @property
    def target(self) -> float:
        """Return the half-width that all intervals are to reach, as a share."""
        return PAIRS_RESOLVED if self.plan == PAIRED else RESOLVED

    def blocks_needed(self, fit: SettingFit | None) -> int | None:
        """Return how many blocks of pairs would do, as half-widths fall with their root; None for other plans."""
        if self.plan != PAIRED or fit is None or fit.widest <= log1p(self.target):
            return None
        return min(ceil(self.n_blocks * (fit.widest / log1p(self.target)) ** 2), MOST_BLOCKS_TOLD)

    def _leave_out(self) -> str | None:
        runs = self.screening
        rows, failed = [run.settings for run in runs], [run.failed for run in runs]
        failing = failing_settings(rows, failed, self.space.n_levels)
        new, self.left_out = sorted(failing - self.left_out), self.left_out | failing
        named = [f"{self.space.names[j]} {self.space.levels[j][k]}" for j, k in new]
        return f"{', '.join(named)}: most runs fail; excluded" if named else None

    def _confirm(self) -> None:
        effects = self.fit_settings()
        self.candidates = choose_candidates(effects, self.selected, self.margin, self.left_out) if effects else []
        if not self.candidates:
            self.over = True
            return
        configurations = factorial(self.candidates, len(self.space.names))
        self.queue = list(confirmation_runs(self.space, configurations, self._seed))

    def _place_all(self) -> None:
        for run in self.queue:
            if run.settings not in self._places:
                self._places[run.settings] = len(self.steps)
                self.steps.append(run.settings)


class TunableSteps(Mapping[int, tuple[Configuration, ...]]):
    """The configurations of a search by index, as many as there are by now."""

    def __init__(self, state: TunablesState, configurations: Sequence[Configuration]) -> None:
        self._state, self._given = state, {configuration_key(t): t for t in configurations}
        self._made: dict[int, tuple[Configuration, ...]] = {}

    def __getitem__(self, index: int) -> tuple[Configuration, ...]:
        if index not in self._made:
            configuration: Configuration = self._state.space.configuration(self._state.steps[index])
            self._made[index] = (self._given.get(configuration_key(configuration), configuration),)
        return self._made[index]

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self)))

    def __len__(self) -> int:
        return len(self._state.steps)


def begin(study: Study, configurations: Sequence[Configuration]) -> Search[TunablesState]:
    """Begin a search. Raises StudyError: some of those were excluded: an array needs them all."""
    protocol = study.protocol
    margin = MARGIN if protocol.precision is None else protocol.precision
    state = TunablesState(
        read_factor_space(study), study.seed, study.plan or SCREENING, margin, protocol.runs, protocol.confidence
    )
    if not state.space.settings:
        fix = "a guest with less memory, or settings that act here"
        raise StudyError.one("factors", "no setting that can act on this machine", "one at least", fix)
    _refuse_holes(state, configurations)
    first = [state.steps.index(run.settings) for run in state.queue]
    return Search(
        what="settings", steps=TunableSteps(state, configurations), first=first, state=state,
        most=2 * state.most, seed=study.seed,
    )  # fmt: skip


def _refuse_holes(state: TunablesState, configurations: Sequence[Configuration]) -> None:
    given = {configuration_key(configuration) for configuration in configurations}
    n_lost = sum(configuration_key(state.space.configuration(settings)) not in given for settings in state.steps)
    if given and n_lost:
        problem = f"{n_lost} of {len(state.steps)} configurations of the first block cannot be run here"
        raise StudyError.one("factors", problem, "levels that go with each other", "leave those out that do not")


def _arrays(runs: Sequence[tuple[Observation, float | None]]) -> tuple[list[Settings], FloatArray, list[int]]:
    values = np.array([value for _, value in runs], dtype=np.float64)
    return [run.settings for run, _ in runs], values, [run.block for run, _ in runs]
