"""The state of a break-even search: its pairs, what they say, and where the next one is made."""

from collections.abc import Callable, Sequence
from math import ceil, log, log1p
from operator import itemgetter

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.design.search_steps import Configuration, ExcludingState, Search
from scalograph.questions.break_even.model import DIGITS, OUTLIER, SURE, RatioSurface, sobol_points, straddle_score
from scalograph.questions.break_even.model_mean import Axis, comparison_space, usable_cpus
from scalograph.study.model import Study

# Points of the spread start, for each axis; pairs after which the search ends without an answer, by axes.
START, MOST = 4, {1: 24, 2: 48, 3: 80, 4: 160}
# Runs of a search per pair at most: some are disturbed.
RUNS_A_PAIR = 3
# Pairs for each axis before which no search is over: fewer know little of their own noise.
LEAST = 8
# Difference that counts as even, unless the study sets a precision.
EVEN = 0.10
# Fits in a row that leave nothing undecided end the search: the pairs between them, one on each side of the line, might
# have shown that the surface is wrong there.
IN_A_ROW = 3


class BreakEvenState(ExcludingState):
    """State of a break-even search: pure in points, seed and observations. A level is the index of a point.

    Attributes:
        g: its score: log of the time over the baseline's.
        surface: their fit; None before the spread points are measured.
        open_share: share of the points whose winner is not known.
        even: log ratio up to which both count as even.
    """

    def __init__(
        self, axes: Sequence[Axis], at: FloatArray, cpus: int, seed: int, even: float | None = None,
        name: Callable[[int], str] = "point {}".format,
    ) -> None:  # fmt: skip
        """Begin with spread points.

        `axes`: 1 to 4; `at`: coordinates of the points, shape (points, axes); `cpus`: that workers can use at once;
        `even`: difference that counts as none, as a share; `name`: names a point for people.
        """
        super().__init__()
        self._axes, self._at, self._cpus = tuple(axes), at, cpus
        self.even, self._name = log1p(EVEN if even is None else even), name
        self._first = first_points(axes, at, seed)
        self._least = min(LEAST * len(axes), len(at))
        self._in_a_row, self.most = 0, MOST[len(axes)]
        self.asked: list[int] = []
        self.g: list[float] = []
        self.surface: RatioSurface | None = None
        self._next: int | None = None
        self.open_share = 1.0
        self._n_more = 0

    @property
    def is_decided(self) -> bool:
        """Tell whether the winner is known everywhere, or that neither wins by more than what counts as even."""
        return self._in_a_row >= IN_A_ROW and len(self.asked) >= self._least

    @property
    def n_more(self) -> int:
        """Estimate how many more pairs would decide; where nothing is open, would confirm."""
        return self._n_more or max(1, IN_A_ROW - self._in_a_row, self._least - len(self.asked))

    @property
    def next_level(self) -> int | None:
        if waiting := [i for i in self._first if i not in self.failing and i not in self.asked]:
            return waiting[0]
        if self.surface is None:  # so many spread points failed that the others have to stand in for them
            return next((int(i) for i in self.candidates if i not in self.asked), None)
        return None if self.is_decided or len(self.asked) >= self.most else self._next

    @property
    def n_left(self) -> int:
        if self.surface is None:
            return max(1, len(self._first) + 2 * len(self._axes) - len(self.asked))
        return max(1, min(self.most - len(self.asked), self.n_more))

    @property
    def summary(self) -> str:
        return f"{len(self.asked)} pairs, {100 * self.open_share:.0f}% undecided" if self.surface else ""

    def observe(self, level: int, score: float) -> str | None:
        self.asked.append(level)
        self.g.append(score)
        self._update()
        return None

    def level_name(self, level: int) -> str:
        return self._name(level)

    def _exclude(self, level: int) -> None:
        if not len(self.candidates):
            self._next = None
        elif self.surface is not None:
            self._choose_next(self.surface)
        else:
            self._update()

    @property
    def pairs(self) -> dict[int, list[float]]:
        """Return the scores of each point that has one, by its index."""
        scores: dict[int, list[float]] = {}
        for index, g in sorted(zip(self.asked, self.g, strict=True), key=itemgetter(0)):
            scores.setdefault(index, []).append(g)
        return scores

    @property
    def candidates(self) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
        """Return the indices of the points that are not excluded."""
        return np.array([i for i in range(len(self._at)) if i not in self.failing], dtype=np.int64)

    def is_open(self, mean: FloatArray, sd: FloatArray) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        """Tell where neither the sign of g is known nor that it is even."""
        return np.asarray((np.abs(mean) <= SURE * sd) & (np.abs(mean) + SURE * sd > self.even))

    def _update(self) -> None:
        if len(self.asked) < max(3, sum(i not in self.failing for i in self._first)):
            return
        self.surface = RatioSurface(self._at[self.asked], np.array(self.g), self._axes, self._cpus, self.surface)
        self._choose_next(self.surface)
        self._in_a_row = 0 if self.open_share or self._lone_outliers(self.surface) else self._in_a_row + 1
        if self._in_a_row:
            self._next = self._confirming_point(self.surface, sign=-1 if self._in_a_row % 2 else 1)

    def _lone_outliers(self, surface: RatioSurface) -> list[int]:
        """Return points whose only pair is an outlier: no single pair decides, nor is it excluded."""
        mean, _ = surface(self._at[self.asked])
        far = np.abs(np.array(self.g) - mean) > OUTLIER * surface.parameters.noise
        kept = [i for i, off in zip(self.asked, far, strict=True) if off and i not in self.failing]
        return [i for i in kept if self.asked.count(i) == 1]

    def _confirming_point(self, surface: RatioSurface, sign: int) -> int | None:
        """Return the unmeasured point nearest to the line with g of that sign, once all seems known.

        A smooth surface is sure of more than was measured: beside a jump it is wrong, and sure.
        """
        fresh = np.array([i for i in self.candidates if i not in self.asked], dtype=np.int64)
        if not fresh.size:
            return self._next
        mean, sd = surface(self._at[fresh])
        tells = straddle_score(mean, sd)
        return int(fresh[np.argmax(np.where(np.sign(mean) == sign, tells, tells - 100.0))])

    def _choose_next(self, surface: RatioSurface) -> None:
        candidates = self.candidates
        mean, sd = surface(self._at[candidates])
        is_open = self.is_open(mean, sd)
        self.open_share = float(is_open.mean())
        tells = straddle_score(mean, sd)
        tells_most = int(candidates[np.argmax(np.where(is_open, tells, tells - 100.0))])
        self._next = next(iter(self._lone_outliers(surface)), tells_most)
        needed = np.maximum(np.abs(mean), self.even - np.abs(mean)) / SURE
        worst = float(np.max(np.where(is_open, sd / needed, 1.0)))
        self._n_more = ceil(len(self.asked) * (worst**2 - 1)) if is_open.any() else 0


def begin(study: Study, configurations: Sequence[Configuration], n_cpus: int) -> Search[BreakEvenState]:
    space = comparison_space(study, configurations)
    at, cpus = space.coordinates(), usable_cpus(study, configurations, n_cpus)
    state = BreakEvenState(space.axes, at, cpus, study.seed, study.protocol.precision, space.point_name)
    return Search(
        what="points", steps=dict(enumerate(space.configurations)), first=first_points(space.axes, at, study.seed),
        state=state, most=RUNS_A_PAIR * state.most, seed=study.seed,
        combine=lambda times: log(times[0] / times[1]),
    )  # fmt: skip


def first_points(axes: Sequence[Axis], at: FloatArray, seed: int) -> list[int]:
    """Choose points spread over all axes, at most four for each axis.

    The lowest and the highest corner, so that the ends are measured, and those nearest to a scrambled Sobol sequence.
    """
    n = min(START * len(axes), len(at))
    low, high = np.array([axis.low for axis in axes]), np.array([axis.high for axis in axes])
    chosen: list[int] = []
    for target in [np.zeros(len(axes)), np.ones(len(axes)), *sobol_points(len(axes), n, seed)][:n]:
        apart = np.round((((at - low) / (high - low) - target) ** 2).sum(axis=1), DIGITS)
        apart[chosen] = np.inf
        chosen.append(int(np.argmin(apart)))
    return chosen
