"""Where does the time jump? The search told again from its runs, in words for people and figures for machines."""

from math import exp

from scalograph.design.stopping_rule import work_time
from scalograph.findings.names import varied
from scalograph.findings.sample import COUNTED
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Row, Table
from scalograph.protocol.findings import CliffDoc, Cliffs
from scalograph.questions.cliff.course import CliffCourse
from scalograph.questions.cliff.model import Cliff
from scalograph.questions.cliff.model_evidence import LEAST

QUESTION = "cliff"


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
        cliffs=[_doc(found) for found in sorted(course.sure, key=lambda found: found.location)],
        probability=max(found.probability for found in weighed),
        another=course.open.probability if course.open and course.sure else None,
        likely=course.open.location if course.open else None,
        n_more=course.open.n_more if course.open and not course.decided else None,
        wanders=course.wandering,
        jump=course.jump if course.wandering else None,
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


def _doc(found: Cliff) -> CliffDoc:
    low, high = found.interval
    return CliffDoc(
        location=found.location,
        low=low,
        high=high,
        factor=found.factor,
        probability=found.probability,
        gradual=found.gradual,
    )
