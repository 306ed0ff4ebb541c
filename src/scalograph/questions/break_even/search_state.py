"""How far the search for break-even is: which pairs it rests on, what they say, and where the next one is made."""

from collections.abc import Callable, Sequence
from math import ceil, log, log1p
from operator import itemgetter

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.design.search_steps import Search, Treatment
from scalograph.questions.break_even.model import (
    DIGITS,
    OUTLIER,
    SURE,
    RatioSurface,
    sobol,
    telling,
)
from scalograph.questions.break_even.model_mean import Axis, pairs, usable_cpus
from scalograph.study.model import Study

# Points of the spread start, for each axis; pairs after which the search ends without an answer, by axes.
START, MOST = 4, {1: 24, 2: 48, 3: 80, 4: 160}
# Runs of a search for each pair that it may take: some are disturbed.
RUNS_A_PAIR = 3
# Pairs for each axis before which no search is over: fewer know little of their own noise.
LEAST = 8
# A difference of so much counts as even, where the study says nothing else.
EVEN = 0.10
# Pairs that fail so often leave their point out.
FAILURES = 2
# Fits in a row that leave nothing undecided end the search: the pairs between them, one on each side of the line, might
# have told that the surface is wrong there.
IN_A_ROW = 3


class BreakEvenCourse:
    """Pure in the points, the seed and what was told, in that order. A level is the index of a point.

    Attributes:
        asked: index of each pair that has a score.
        g: its score: log of the time over the baseline's.
        surface: what these say; None before the spread points are measured.
        even: log ratio up to which both count as even.
    """

    def __init__(
        self,
        axes: Sequence[Axis],
        at: FloatArray,
        cpus: int,
        seed: int,
        even: float | None = None,
        name: Callable[[int], str] = "point {}".format,
    ) -> None:
        """A search from its beginning.

        Args:
            axes: what each factor is; 1 to 4.
            at: coordinates of the points that may be asked for; shape (points, axes).
            cpus: that workers can use at once.
            seed: of the spread points.
            even: difference that counts as none, as a share.
            name: of a point, for people.
        """
        self._axes, self._at, self._cpus = tuple(axes), at, cpus
        self.even = log1p(EVEN if even is None else even)
        self._name = name
        self._first = first_points(axes, at, seed)
        self._least = min(LEAST * len(axes), len(at))
        self._out: set[int] = set()
        self._failures: dict[int, int] = {}
        self._in_a_row = 0
        self.asked: list[int] = []
        self.g: list[float] = []
        self.surface: RatioSurface | None = None
        self._next: int | None = None
        self._share = 1.0
        self._n_more = 0

    @property
    def decided(self) -> bool:
        """Whether it is known everywhere which version wins, or that neither does by more than what counts as even."""
        return self._in_a_row >= IN_A_ROW and len(self.asked) >= self._least

    @property
    def undecided(self) -> float:
        """Share of the points where that is not known."""
        return self._share

    @property
    def n_more(self) -> int:
        """About how many more pairs it would take, with this noise; where nothing is open, to confirm it."""
        return self._n_more or max(1, IN_A_ROW - self._in_a_row, self._least - len(self.asked))

    @property
    def most(self) -> int:
        """Pairs after which the search ends."""
        return MOST[len(self._axes)]

    @property
    def next_level(self) -> int | None:
        """The point where the next pair is wanted; None when the search is over."""
        if waiting := [i for i in self._first if i not in self._out and i not in self.asked]:
            return waiting[0]
        if self.surface is None:  # so many spread points failed that the others have to stand in for them
            return next((int(i) for i in self.candidates if i not in self.asked), None)
        return None if self.decided or len(self.asked) >= self.most else self._next

    @property
    def n_left(self) -> int:
        """Pairs that are still to come, as far as is known by now; at least 1."""
        if self.surface is None:
            return max(1, len(self._first) + 2 * len(self._axes) - len(self.asked))
        return max(1, min(self.most - len(self.asked), self.n_more))

    @property
    def state(self) -> str:
        """What is known by now, in a few words."""
        return f"{len(self.asked)} pairs, {100 * self._share:.0f} % undecided" if self.surface else ""

    def add(self, level: int, score: float) -> str | None:
        """The score of a pair."""
        self.asked.append(level)
        self.g.append(score)
        self._think()
        return None

    def fail(self, level: int) -> str | None:
        """A pair of which a run has no score; the second time its point is left out."""
        self._failures[level] = self._failures.get(level, 0) + 1
        if self._failures[level] != FAILURES:
            return None
        self._out.add(level)
        if not len(self.candidates):
            self._next = None
        elif self.surface is not None:
            self._look(self.surface)
        else:
            self._think()
        return f"{self._name(level)} failed {FAILURES} times: left out"

    @property
    def pairs(self) -> dict[int, list[float]]:
        """The scores of each point that has one, by its index."""
        scores: dict[int, list[float]] = {}
        for index, g in sorted(zip(self.asked, self.g, strict=True), key=itemgetter(0)):
            scores.setdefault(index, []).append(g)
        return scores

    @property
    def candidates(self) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
        """Indices of the points that are not left out."""
        return np.array([i for i in range(len(self._at)) if i not in self._out], dtype=np.int64)

    def is_open(self, mean: FloatArray, sd: FloatArray) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        """Where neither the sign of g is known nor that it is even."""
        return np.asarray((np.abs(mean) <= SURE * sd) & (np.abs(mean) + SURE * sd > self.even))

    def _think(self) -> None:
        if len(self.asked) < max(3, sum(i not in self._out for i in self._first)):
            return
        self.surface = RatioSurface(self._at[self.asked], np.array(self.g), self._axes, self._cpus, self.surface)
        self._look(self.surface)
        self._in_a_row = 0 if self._share or self._doubtful(self.surface) else self._in_a_row + 1
        if self._in_a_row:
            self._next = self._confirming(self.surface, sign=-1 if self._in_a_row % 2 else 1)

    def _doubtful(self, surface: RatioSurface) -> list[int]:
        """Points whose only pair lies far off the surface: no single pair decides, nor is it left out."""
        mean, _ = surface(self._at[self.asked])
        far = np.abs(np.array(self.g) - mean) > OUTLIER * surface.sizes.noise
        kept = [i for i, off in zip(self.asked, far, strict=True) if off and i not in self._out]
        return [i for i in kept if self.asked.count(i) == 1]

    def _confirming(self, surface: RatioSurface, sign: int) -> int | None:
        """Where all seems to be known: the point nearest to the line, with g of that sign, that nobody has measured.

        A surface that is smooth knows more than was measured. A jump makes it wrong beside the line, and for sure.
        """
        fresh = np.array([i for i in self.candidates if i not in self.asked], dtype=np.int64)
        if not fresh.size:
            return self._next
        mean, sd = surface(self._at[fresh])
        tells = telling(mean, sd)
        return int(fresh[np.argmax(np.where(np.sign(mean) == sign, tells, tells - 100.0))])

    def _look(self, surface: RatioSurface) -> None:
        """Where the next pair tells most: first where anything is open, near the line by the straddle rule."""
        candidates = self.candidates
        mean, sd = surface(self._at[candidates])
        is_open = self.is_open(mean, sd)
        self._share = float(is_open.mean())
        tells = telling(mean, sd)
        tells_most = int(candidates[np.argmax(np.where(is_open, tells, tells - 100.0))])
        self._next = next(iter(self._doubtful(surface)), tells_most)
        needed = np.maximum(np.abs(mean), self.even - np.abs(mean)) / SURE
        worst = float(np.max(np.where(is_open, sd / needed, 1.0)))
        self._n_more = ceil(len(self.asked) * (worst**2 - 1)) if is_open.any() else 0


def begin(study: Study, treatments: Sequence[Treatment], n_cpus: int) -> Search[BreakEvenCourse]:
    """Begin a search in pairs.

    Raises:
        StudyError: there is nothing to compare, or at too many points.
    """
    space = pairs(study, treatments)
    at, cpus = space.at(), usable_cpus(study, treatments, n_cpus)
    course = BreakEvenCourse(space.axes, at, cpus, study.seed, study.protocol.precision, space.named)
    return Search(
        what="points",
        steps=dict(enumerate(space.treatments)),
        first=first_points(space.axes, at, study.seed),
        course=course,
        most=RUNS_A_PAIR * course.most,
        seed=study.seed,
        combined=lambda times: log(times[0] / times[1]),
    )


def first_points(axes: Sequence[Axis], at: FloatArray, seed: int) -> list[int]:
    """Points spread evenly over all axes, at most four for each axis.

    The lowest and the highest corner, so that what happens at the ends is no guess, and the nearest ones to a scrambled
    Sobol sequence.
    """
    n = min(START * len(axes), len(at))
    low, high = np.array([axis.low for axis in axes]), np.array([axis.high for axis in axes])
    chosen: list[int] = []
    for place in [np.zeros(len(axes)), np.ones(len(axes)), *sobol(len(axes), n, seed)][:n]:
        apart = np.round((((at - low) / (high - low) - place) ** 2).sum(axis=1), DIGITS)
        apart[chosen] = np.inf
        chosen.append(int(np.argmin(apart)))
    return chosen
