"""The state of a search for the commits that made a program slower: its blocks, what they say, and the next version."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log, log1p, sqrt
from typing import Any

from scalograph.design.search_steps import FAILURES, Configuration, ExcludingState, Search, searched_factor
from scalograph.errors import StudyError
from scalograph.questions.commit.model import Block, Effect, Effects, effects
from scalograph.study.model import Study

# Pairs of the ends before any version is built, and after which a change that is not seen is called inconclusive.
START, MOST_PAIRS = 5, 24
# Error rate of each decision, on one side: about ten decisions are all right in 95%.
ERROR = 0.0005
# Blocks of a version before it decides, after which it stays undecided, and of both sides of a step.
LEAST, MOST_BLOCKS, CONFIRMED = 2, 24, 4
# Half width of the share of a step that is narrow enough, and blocks of its sides that are made for it at most.
NARROW, MOST_CONFIRMED = 0.10, 12
# Failures in a row that end a search where an end fails: a killed run is no broken commit.
FAILURES_OF_ENDS = 5
# Runs at most; a change that is smaller counts as none, unless the study sets a precision.
MOST, EVEN = 600, 0.02
# A further step is looked for where it is surely above this share of the whole change.
FURTHER = 0.05


@dataclass(frozen=True)
class Gap:
    """Two measured versions with none between, their change, and the versions between that may still be measured."""

    first: int
    last: int
    change: Effect
    open: Sequence[int]


class CommitState(ExcludingState):
    """State of a search for steps: pure in the observations, in their order. A level is the index of a version.

    Attributes:
        names: of the versions, in order.
        blocks: log times of all complete blocks.
        effects: what they say; None before two are complete.
    """

    def __init__(self, names: Sequence[str], even: float | None = None) -> None:
        """Begin with the names of the versions, in order; `even` is a change that counts as none, as a share."""
        super().__init__()
        self.names, self.even = names, log1p(EVEN if even is None else even)
        self.blocks: list[Block] = []
        self.effects: Effects | None = None

    @property
    def ends(self) -> tuple[int, int]:
        return 0, len(self.names) - 1

    @property
    def has_failed(self) -> bool:
        """Tell whether an end failed: nothing can be compared with it."""
        return self.ends[1] in self.failing

    @property
    def is_slower(self) -> bool:
        """Tell whether the bad end is surely slower than the good one."""
        if self.effects is None or self.effects.whole.n < START:
            return False
        return self.effects.whole.exceeds(0.0, self.effects.quantile(ERROR))

    @property
    def is_even(self) -> bool:
        """Tell whether the ends surely differ by less than what counts as a change, or the bad one is faster."""
        if self.effects is None or self.effects.whole.n < START:
            return False
        whole = self.effects.whole
        return whole.value + self.effects.quantile(0.025) * whole.error < self.even

    @property
    def next_level(self) -> int | None:
        if self.has_failed or self.is_even:
            return None
        if self.effects is None or not self.is_slower:
            return self.ends[1] if len(self.blocks) < MOST_PAIRS else None
        return next((level for gap in self.steps() if (level := self._next_in(gap)) is not None), None)

    @property
    def is_decided(self) -> bool:
        """Tell whether the search has ended with an answer: no change, or a step whose place is known."""
        if self.has_failed or self.next_level is not None:
            return False
        return self.is_even or any(not gap.open for gap in self.steps())

    @property
    def n_left(self) -> int:
        if not self.is_slower:
            return max(1, START - len(self.blocks))
        gaps = self.steps()
        return max(1, LEAST * len(gaps[0].open).bit_length() + CONFIRMED if gaps else 1)

    @property
    def n_more(self) -> int:
        """Estimate how many more runs would show a change of the size that is seen, or that counts as none."""
        assert self.effects is not None
        whole = self.effects.whole
        wanted = max(abs(whole.value), self.even) / self.effects.quantile(ERROR)
        return max(2, round(2 * whole.n * ((whole.error / wanted) ** 2 - 1)))

    @property
    def summary(self) -> str:
        gaps = self.steps() if self.is_slower else []
        return f"{len(gaps[0].open) + 1} versions left" if gaps and gaps[0].open else ""

    def observe(self, level: int, score: Any) -> str | None:
        good, version, bad = score
        self._failures.pop(level, None)
        self.blocks.append(Block(level, good, version, bad))
        if len(self.blocks) > 1:
            self.effects = effects(self.blocks)
        return None

    def level_name(self, level: int) -> str:
        return self.names[level]

    def _most_failures(self, level: int) -> int:
        return FAILURES_OF_ENDS if level in self.ends else FAILURES

    def _exclude(self, level: int) -> None:
        """Go on without a version: nothing that was observed changes."""

    def gaps(self) -> list[Gap]:
        """Return the gaps between measured versions, in order."""
        assert self.effects is not None
        measured = sorted({*self.ends, *self.effects.between} - self.failing)
        return [
            Gap(a, b, self.effects.change(a, b, self.ends), [i for i in range(a + 1, b) if i not in self.failing])
            for a, b in pairwise(measured)
        ]

    def steps(self) -> list[Gap]:
        """Return the gaps that hold a step, the largest first.

        It is there in any case; others are where they are sure, and the next one where a rest of the change is likely.
        """
        if self.effects is None:
            return []
        quantile, whole = self.effects.quantile(ERROR), self.effects.whole
        largest, *others = sorted(self.gaps(), key=lambda gap: -gap.change.value)
        steps = [largest, *(gap for gap in others if gap.change.exceeds(FURTHER * whole.value, quantile))]
        error = sqrt(sum(gap.change.error**2 for gap in steps))
        rest = Effect(whole.value - sum(gap.change.value for gap in steps), error, whole.n)
        if rest.exceeds(FURTHER * whole.value, self.effects.quantile(0.025)):
            steps += [gap for gap in others if gap not in steps and gap.change.value > 0][:1]
        return steps

    def _next_in(self, gap: Gap) -> int | None:
        """Return the version that tells most about a gap; None where its step is known, or cannot be placed."""
        sides = [side for side in (gap.first, gap.last) if side not in self.ends]
        if unsure := [side for side in sides if not self._is_placed(side)]:
            return min(unsure, key=self._n_blocks)
        if gap.open:
            middle = (gap.first + gap.last) / 2
            return min(gap.open, key=lambda i: (abs(i - middle), i))
        few = [side for side in sides if self._n_blocks(side) < self._n_wanted(gap)]
        return min(few, key=self._n_blocks, default=None)

    def _n_wanted(self, gap: Gap) -> int:
        assert self.effects is not None
        is_narrow = self.effects.quantile(0.025) * gap.change.error <= NARROW * self.effects.whole.value
        return CONFIRMED if is_narrow else MOST_CONFIRMED

    def _n_blocks(self, level: int) -> int:
        assert self.effects is not None
        return self.effects.between[level].n

    def _is_placed(self, level: int) -> bool:
        """Tell whether it is known on which side of a version the larger change is, or that both have one.

        The sides are the measured versions next to it.
        """
        estimates = self.effects
        assert estimates is not None
        if estimates.between[level].n >= MOST_BLOCKS:
            return True
        if estimates.between[level].n < LEAST:
            return False
        low, high = (
            self._plateau(next(getattr(g, other) for g in self.gaps() if getattr(g, side) == level))
            for side, other in (("last", "first"), ("first", "last"))
        )
        at, quantile = estimates.between[level], estimates.quantile(ERROR)
        is_halfway = low + quantile * at.error < at.value < high - quantile * at.error
        return is_halfway or abs(at.value - (low + high) / 2) > quantile * at.error

    def _plateau(self, level: int) -> float:
        """Return the place of a version between the ends; that of an end where it does not differ from it."""
        assert self.effects is not None
        half = self.effects.whole.value / 2
        if level in self.ends:
            return half if level else -half
        at = self.effects.between[level]
        near = half if at.value > 0 else -half
        return near if abs(at.value - near) < self.effects.quantile(0.025) * at.error else at.value


def begin(study: Study, configurations: Sequence[Configuration]) -> Search[CommitState]:
    """Begin a search over the versions of the first factor with several levels, the good one first.

    Raises StudyError: another factor varies, or there are fewer than two versions.
    """
    factor = searched_factor(study, configurations)
    others = {tuple(value for name, value in t.items() if name != factor) for t in configurations}
    if len(others) != 1 or len(configurations) < 2:
        problem = f"{len(others)} combinations of levels beside {len(configurations)} versions"
        raise StudyError.one("factors", problem, "two or more versions of one program", "give the others one level")
    good, *between, bad = configurations
    steps = {i: (good, each, bad) for i, each in enumerate(between, 1)} | {len(configurations) - 1: (good, bad)}
    names = [str(configuration[factor]) for configuration in configurations]
    state = CommitState(names, study.protocol.precision)
    return Search(
        what=factor, steps=steps, first=[len(configurations) - 1] * START, state=state, most=MOST,
        seed=study.seed, combine=_log_times,
    )  # fmt: skip


def _log_times(times: Sequence[float]) -> tuple[float, float | None, float]:
    good, *between, bad = map(log, times)
    return good, between[0] if between else None, bad
