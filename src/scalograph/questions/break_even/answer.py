"""Where is a version as fast as the baseline? The search told again from its pairs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, product
from math import exp, expm1
from statistics import median
from typing import Literal

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.analysis.estimate import Estimate
from scalograph.findings.answer import Answer, Taken
from scalograph.findings.published.published_quantities import Lookup
from scalograph.findings.sample import retold
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve
from scalograph.protocol.plain import Level
from scalograph.questions.break_even.claim import even_claim, formula_sentence, open_break_even
from scalograph.questions.break_even.document import BreakEven, EvenFormula, EvenLine, EvenMap, EvenPair
from scalograph.questions.break_even.model import OUTLIER, SURE, RatioSurface, least_work
from scalograph.questions.break_even.model_mean import Pairs, SpacePoint, pairs, size_powers
from scalograph.questions.break_even.search_state import EVEN, BreakEvenCourse, begin
from scalograph.questions.break_even.tables import break_even_tables

# A formula whose line is typically further off the measured surface than that is none.
OFF = 0.15
# Places along the sizes at which both are compared.
FORMULA_STEPS = 129


def formula(space: Pairs, surface: RatioSurface, is_measured: Callable[[dict[int, float]], bool]) -> EvenFormula | None:
    """The line as a formula; None where no factor is a size, or the mean does not fit what was measured.

    Args:
        space: what was compared.
        surface: what the pairs say.
        is_measured: whether anything is known where the other factors have these levels, by axis.
    """
    powers = size_powers(surface.mean)
    if not powers:
        return None
    others = [i for i in range(len(space.names)) if i not in powers]
    # A line beyond the largest sizes was measured by nobody.
    most = float(np.exp(sum(p * surface.mean.axes[i].high * np.log(2) for i, p in powers.items())))
    found = []
    for levels in product(*(space.levels(i) for i in others)):
        row = dict(zip(others, levels, strict=True))
        if not is_measured(row):
            continue
        work = least_work(surface.mean, {i: space.coordinate(i, n) for i, n in row.items()})
        told = float(f"{work:.4g}") if work is not None and work <= most else None
        found.append(({space.names[i]: n for i, n in row.items()}, told))
    off = _off(surface)
    if off is None or off > OFF or all(work is None for _, work in found):
        return None
    return EvenFormula(powers={space.names[i]: round(p, 3) for i, p in powers.items()}, work=found, off=round(off, 4))


def _off(surface: RatioSurface) -> float | None:
    """Typical distance between the lines of the mean and of the surface, as a share of the work; None without a line.

    Both are followed along the diagonal of all sizes, at each level of the others.
    """
    axes, sizes = surface.mean.axes, size_powers(surface.mean)
    others = [np.linspace(a.low, a.high, 5) if i not in sizes else [0.0] for i, a in enumerate(axes)]
    share = np.linspace(0, 1, FORMULA_STEPS)
    apart = []
    for fixed in product(*others):
        at = np.array([fixed] * FORMULA_STEPS)
        for i in sizes:
            at[:, i] = axes[i].low + share * (axes[i].high - axes[i].low)
        work = sum(p * at[:, i] * np.log(2) for i, p in sizes.items())
        ends = [_zero(work, g) for g in (surface.mean(at), surface(at)[0])]
        if ends[0] is not None and ends[1] is not None:
            apart.append(abs(ends[0] - ends[1]))
    return float(np.expm1(np.median(apart))) if apart else None


def _zero(work: FloatArray, g: FloatArray) -> float | None:
    """Log of the work at which g falls below 0, if it does inside."""
    above = np.flatnonzero(g > 0)
    if not above.size or above[-1] + 1 == g.size:
        return None
    i = int(above[-1])
    return float(work[i] + (work[i + 1] - work[i]) * g[i] / (g[i] - g[i + 1]))


Kind = Literal["from", "until", "always", "never", "several", "undecided", "unmeasured"]
# What a row says, and the coordinates of its ends.
Line = tuple[Kind, dict[str, float | None]]
Signs = np.ndarray[tuple[int], np.dtype[np.int64]]

# Places that are looked at: of a range of 2**14, 2.5 % from each other.
LINE_STEPS = 385
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
    places = np.linspace(left[0], left[-1], LINE_STEPS)
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


def nothing_known(wanted: Mapping[str, Level | None]) -> Mapping[str, Estimate]:
    """What too few pairs say of any levels."""
    return {}


def at_levels(space: Pairs, surface: RatioSurface, n_pairs: int) -> Lookup:
    """Make the lookup of speedups over the baseline; nothing outside the range, or where a level is missing."""

    def lookup(wanted: Mapping[str, Level | None]) -> Mapping[str, Estimate]:
        point = _point(space, wanted)
        if point is None:
            return {}
        if wanted.get(space.factor) == space.against:
            return {"speedup": Estimate(value=1.0, low=1.0, high=1.0, method="the baseline itself")}
        mean, sd = surface(point)
        ends = [exp(-g) for g in (mean[0], mean[0] + SURE * sd[0], mean[0] - SURE * sd[0])]
        return {"speedup": Estimate(value=ends[0], low=ends[1], high=ends[2], n=n_pairs, method="surface of all pairs")}

    return lookup


def _point(space: Pairs, wanted: Mapping[str, Level | None]) -> FloatArray | None:
    found = []
    for i, name in enumerate(space.names):
        level, known = wanted.get(name), space.levels(i)
        if not isinstance(level, int | float) or isinstance(level, bool) or not known[0] <= level <= known[-1]:
            return None
        found.append(space.coordinate(i, level))
    return np.array([found])


# Places along x where the surface is told, and maps that are drawn: more would be looked at by nobody.
STEPS, MOST_MAPS = 49, 16


def answer(table: Table, taken: Taken, curves: Sequence[Curve]) -> Answer:
    """Tell what the search has found."""
    told = told_again(table)
    found = break_even(table, told)
    return Answer(
        document=found,
        decided=found is not None and found.decided,
        claim=even_claim(table, found),
        sentences=formula_sentence(table, found),
        tables=break_even_tables(table, told.space, told.course.pairs, told.surface, found) if told and found else (),
        doubts=open_break_even(found),
        at_levels=at_levels(told.space, told.surface, len(told.course.asked)) if told else nothing_known,
    )


@dataclass(frozen=True)
class EndedSearch:
    """A search as it ended.

    Attributes:
        space: what was compared, and where.
        course: what it knew.
        surface: what its pairs say.
    """

    space: Pairs
    course: BreakEvenCourse
    surface: RatioSurface


def told_again(table: Table) -> EndedSearch | None:
    """Search again; None where there are too few pairs."""
    space = pairs(table.study, table.treatments)
    course = retold(begin(table.study, table.treatments, int(table.machine.get("n_cpus") or 1)), table)
    return EndedSearch(space, course, course.surface) if course.surface else None


def break_even(table: Table, told: EndedSearch | None) -> BreakEven | None:
    """The search as figures; None where it has told nothing."""
    if told is None:
        return None
    space, course = told.space, told.course
    precision = table.study.protocol.precision
    return BreakEven(
        factor=space.factor,
        baseline=space.against,
        other=space.other,
        decided=course.decided,
        even=EVEN if precision is None else precision,
        shares=_shares(told),
        n=len(course.asked),
        n_more=None if course.decided else course.n_more,
        noise_percent=round(100 * expm1(told.surface.sizes.noise), 2),
        n_off=_n_off(told),
        maps=[_map(table, told, group) for group in _groups(told)],
        formula=formula(told.space, told.surface, lambda row: is_measured(space, course, row)),
    )


def _n_off(told: EndedSearch) -> int:
    mean, _ = told.surface(told.space.at()[told.course.asked])
    return int(np.sum(np.abs(np.array(told.course.g) - mean) > OUTLIER * told.surface.sizes.noise))


def _shares(told: EndedSearch) -> dict[str, float]:
    candidates = told.course.candidates
    mean, sd = told.surface(told.space.at()[candidates])
    is_open = told.course.is_open(mean, sd)
    wins, loses = mean + SURE * sd < 0, mean - SURE * sd > 0
    even = ~(is_open | wins | loses)
    kinds = {"wins": wins, "loses": loses, "even": even, "undecided": is_open}
    return {kind: round(float(np.mean(where)), 4) for kind, where in kinds.items()}


def across(space: Pairs) -> tuple[int, int | None]:
    """The axes of a map: a size, else the first; and workers, else the next."""
    roles = [axis.role for axis in space.axes]
    x = roles.index("size") if "size" in roles else 0
    others = [i for i in range(len(roles)) if i != x]
    return x, next((i for i in others if roles[i] == "workers"), others[0] if others else None)


def _groups(told: EndedSearch) -> list[SpacePoint]:
    """Levels of the factors that a map does not draw, of at most so many maps, evenly chosen."""
    drawn = across(told.space)
    found = sorted({tuple(n for i, n in enumerate(p) if i not in drawn) for p in told.space.points})
    if len(found) <= MOST_MAPS:
        return found
    return [found[round(i * (len(found) - 1) / (MOST_MAPS - 1))] for i in range(MOST_MAPS)]


def _map(table: Table, told: EndedSearch, group: SpacePoint) -> EvenMap:
    space, (x, y) = told.space, across(told.space)
    others = [i for i in range(len(space.names)) if i not in (x, y)]
    fixed = dict(zip(others, group, strict=True))
    places = np.linspace(space.axes[x].low, space.axes[x].high, STEPS)
    rows = [{**fixed, y: level} for level in space.levels(y)] if y is not None else [fixed]
    found = [told.surface(grid(space, x, places, row)) for row in rows]
    return EvenMap(
        group={space.names[i]: _plain(level) for i, level in fixed.items()},
        x=space.names[x],
        y="" if y is None else space.names[y],
        x_levels=[_round(space.level(x, place)) for place in places],
        y_levels=[] if y is None else space.levels(y),
        ratio=[[_round(exp(g)) for g in mean] for mean, _ in found],
        low=[[_round(exp(g)) for g in mean - SURE * sd] for mean, sd in found],
        high=[[_round(exp(g)) for g in mean + SURE * sd] for mean, sd in found],
        lines=lines(told.space, told.surface, told.course, x, y, rows),
        pairs=_pairs(told, x, y, fixed),
    )


def _pairs(told: EndedSearch, x: int, y: int | None, fixed: dict[int, float]) -> list[EvenPair]:
    points = told.space.points
    return [
        EvenPair(
            x=points[index][x], y=None if y is None else points[index][y], ratio=_round(exp(median(gs))), n=len(gs)
        )
        for index, gs in told.course.pairs.items()
        if all(points[index][i] == level for i, level in fixed.items())
    ]


def _plain(level: float) -> Level:
    return int(level) if level == int(level) else level


def _round(value: float) -> float:
    return float(f"{value:.5g}")
