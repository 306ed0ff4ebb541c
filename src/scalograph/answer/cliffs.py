"""Where does the time jump? The search told again from its runs, in words for people and figures for machines."""

from collections.abc import Sequence
from math import exp, log

import numpy as np

from scalograph.analysis.cliff import Cliff
from scalograph.analysis.cliff_course import CliffCourse
from scalograph.analysis.cliff_evidence import LEAST
from scalograph.answer.gains import primary
from scalograph.answer.names import varied
from scalograph.answer.sample import COUNTED
from scalograph.findings import CliffDoc, Cliffs
from scalograph.precision import work_time
from scalograph.table import Row, Table

QUESTION = "cliff"
# Runs on the wrong side of a place, by their times, that make it wander; each by that share of the jump.
WANDERS, CLEARLY = 2, 0.3


def cliffs(table: Table) -> Cliffs | None:
    """What the search has found; None where the study asks for none, or has too few runs."""
    if table.study.question != QUESTION:
        return None
    factor = next(iter(varied(table)), next(iter(table.study.factors)))
    course = _told_again(table, factor)
    weighed = course.sure or ([course.open] if course.open else [])
    if not weighed:
        return None
    return Cliffs(
        factor=factor,
        decided=course.decided,
        cliffs=[_doc(found, course) for found in sorted(course.sure, key=lambda found: found.location)],
        probability=max(found.probability for found in weighed),
        another=course.open.probability if course.open and course.sure else None,
        likely=course.open.location if course.open else None,
        n_more=course.open.n_more if course.open and not course.decided else None,
        n=len(course.n),
        least=exp(LEAST),
    )


def _told_again(table: Table, factor: str) -> CliffCourse:
    """What the planner knew after the last run: it is a function of the runs in their order."""
    course = CliffCourse([int(treatment[factor]) for treatment in table.treatments], table.study.seed)
    for row in table.rows:
        if row.warmup or (row.status == "ok" and row.verdict not in COUNTED):
            continue
        level, time = int(row.treatment[factor]), _time(table, row)
        course.fail(level) if time is None else course.add(level, time)
    return course


def _time(table: Table, row: Row) -> float | None:
    return work_time(table.study, row.scores.get(primary(table))) if row.status == "ok" else None


def _doc(found: Cliff, course: CliffCourse) -> CliffDoc:
    low, high = found.interval
    return CliffDoc(
        location=found.location,
        low=low,
        high=high,
        factor=found.factor,
        probability=found.probability,
        gradual=found.gradual,
        wanders=_wanders(found, course.n, course.times),
    )


def _wanders(found: Cliff, n: Sequence[int], times: Sequence[float]) -> bool:
    """Whether runs near the place are clearly fast above others that are clearly slow.

    Levels within a factor of 1.5 are looked at; a slowed run alone makes no place wander.
    """
    near = [(level, log(t)) for level, t in zip(n, times, strict=True) if abs(log(level / found.location)) < log(1.5)]
    jump = log(found.factor[1])
    below = [value for level, value in near if level <= found.interval[0]]
    above = [value for level, value in near if level >= found.interval[1]]
    if not below or not above:
        return False
    middle, clear = (np.median(below) + np.median(above)) / 2, CLEARLY * abs(jump)
    high = {level for level, value in near if (value - middle) * np.sign(jump) > clear}
    low = {level for level, value in near if (middle - value) * np.sign(jump) > clear}
    return (
        sum(any(a <= b for b in low) for a in high) >= WANDERS
        and sum(any(a <= b for a in high) for b in low) >= WANDERS
    )
