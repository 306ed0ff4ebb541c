"""Where is a version as fast as the baseline? The search told again from its pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, expm1
from statistics import median

import numpy as np

from scalograph.findings.answer import Answer, Taken
from scalograph.findings.search_replay import retold
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve
from scalograph.protocol.plain import Level
from scalograph.questions.break_even.answer_formula import formula
from scalograph.questions.break_even.answer_line import grid, is_measured, lines
from scalograph.questions.break_even.answer_published import at_levels, nothing_known
from scalograph.questions.break_even.claim import even_claim
from scalograph.questions.break_even.claim_beside import formula_sentence, open_break_even
from scalograph.questions.break_even.course import EVEN, BreakEvenCourse, begin
from scalograph.questions.break_even.document import BreakEven, EvenMap, EvenPair
from scalograph.questions.break_even.model import OUTLIER, SURE, RatioSurface
from scalograph.questions.break_even.model_space import (
    Pairs,
    SpacePoint,
    pairs,
)
from scalograph.questions.break_even.tables import break_even_tables

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
