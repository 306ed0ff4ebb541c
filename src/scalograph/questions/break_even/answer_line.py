"""The line of break-even along one factor: where a version is known to win, to lose, and what lies between."""

from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from typing import Literal

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.questions.break_even.course import BreakEvenCourse
from scalograph.questions.break_even.document import EvenLine
from scalograph.questions.break_even.model import SURE, RatioSurface
from scalograph.questions.break_even.model_space import Pairs

Kind = Literal["from", "until", "always", "never", "several", "undecided", "unmeasured"]
# What a row says, and the coordinates of its ends.
Line = tuple[Kind, dict[str, float | None]]
Signs = np.ndarray[tuple[int], np.dtype[np.int64]]

# Places that are looked at: of a range of 2**14, 2.5 % from each other.
STEPS = 385
WINS, LOSES = 1, -1


def lines(
    space: Pairs,
    surface: RatioSurface,
    course: BreakEvenCourse,
    x: int,
    y: int | None,
    rows: Sequence[Mapping[int, float]],
) -> list[EvenLine]:
    """One line for each row: levels of all axes but x."""
    found = []
    for row in rows:
        kind, ends = _row(space, surface, course, x, row)
        told = {key: None if at is None else _level(space, x, at) for key, at in ends.items()}
        found.append(EvenLine(level=None if y is None else row[y], kind=kind, **told))
    return found


def _row(space: Pairs, surface: RatioSurface, course: BreakEvenCourse, x: int, row: Mapping[int, float]) -> Line:
    """Between the lowest and the highest level that the search had to decide on: those that failed are none."""
    points = _left(space, course, row)
    if not points:
        return "unmeasured", {}
    left = sorted(space.coordinate(x, space.points[i][x]) for i in points)
    places = np.linspace(left[0], left[-1], STEPS)
    # What is open is told of the levels, as the search did that decided on them.
    is_open = course.is_open(*surface(grid(space, x, np.array(left), row)))
    return _line(places, *surface(grid(space, x, places, row)), bool(is_open.any()), course.even)


def grid(space: Pairs, x: int, places: FloatArray, row: Mapping[int, float]) -> FloatArray:
    """Coordinates of places along one axis, the other axes at one level each; shape (places, axes)."""
    found = np.empty((len(places), len(space.names)))
    for i in range(len(space.names)):
        found[:, i] = places if i == x else space.coordinate(i, row[i])
    return found


def _left(space: Pairs, course: BreakEvenCourse, row: Mapping[int, float]) -> set[int]:
    """Points of a row that did not fail; none where all failed that were tried: there the surface only guesses."""
    points = {i for i, point in enumerate(space.points) if all(point[j] == level for j, level in row.items())}
    left = points & {*course.candidates.tolist()}
    return left if left == points or points & {*course.asked} else set()


def is_measured(space: Pairs, course: BreakEvenCourse, row: Mapping[int, float]) -> bool:
    """Whether anything is known of points with these levels (by axis)."""
    return bool(_left(space, course, row))


def _line(places: FloatArray, mean: FloatArray, sd: FloatArray, is_open: bool, even: float) -> Line:
    """What a row says, with the ends of what lies between winning and losing for sure."""
    sure = _sure(mean, sd, even)
    known = [int(side) for side, _ in groupby(side for side in sure if side)]
    if len(known) > 2:
        return "several", {}
    if len(known) == 2:
        last = int(np.flatnonzero(sure == known[0])[-1])
        first = int(np.flatnonzero(sure == known[1])[0])
        kind: Kind = "from" if known[0] == LOSES else "until"
        won = np.flatnonzero(sure == WINS)
        end = won[-1] if kind == "from" else won[0]
        location = _crossing(places[last : first + 1], mean[last : first + 1])
        ends: dict[str, float | None] = {"location": location, "low": float(places[last]), "high": float(places[first])}
        # Where winning is not sure up to the end of the range, it is told as far as it is.
        return kind, ends | ({} if end in (0, len(sure) - 1) else {"sure_to": float(places[end])})
    if is_open:
        return "undecided", _known_so_far(places, sure, known)
    return ("always" if known == [WINS] else "never"), {}


def _sure(mean: FloatArray, sd: FloatArray, even: float) -> Signs:
    """Who wins where for sure; a stretch that nowhere leaves what counts as even has no winner."""
    sure = np.where(mean + SURE * sd < 0, WINS, np.where(mean - SURE * sd > 0, LOSES, 0))
    ends = [0, *(np.flatnonzero(np.diff(sure)) + 1), len(sure)]
    for start, end in pairwise(ends):
        if np.abs(mean[start:end]).max() < even:
            sure[start:end] = 0
    return np.asarray(sure)


def _crossing(places: FloatArray, mean: FloatArray) -> float:
    """Where the mean passes 0, from its first sign to its last one."""
    at = int(np.flatnonzero(np.sign(mean) == np.sign(mean[0]))[-1])
    share = mean[at] / (mean[at] - mean[at + 1])
    return float(places[at] + share * (places[at + 1] - places[at]))


def _known_so_far(places: FloatArray, sure: Signs, known: list[int]) -> dict[str, float | None]:
    """Of a row with one sure side: where that ends. Losing is told as far as it goes, winning from or up to a place."""
    if not known:
        return {}
    at = np.flatnonzero(sure == known[0])
    from_below = at[0] == 0
    if known[0] == WINS:
        return {"sure_to": float(places[at[-1]])} if from_below else {"sure_from": float(places[at[0]])}
    return {"low": float(places[at[-1]])} if from_below else {"high": float(places[at[0]])}


def _level(space: Pairs, x: int, place: float) -> float:
    return float(f"{space.level(x, place):.4g}")
