"""Where does the time jump? The search told again from its runs, in words for people and figures for machines."""

from math import exp

from scalograph.findings.names import varied
from scalograph.findings.search import retold
from scalograph.findings.table import Table
from scalograph.protocol.findings import CliffDoc, Cliffs
from scalograph.questions.cliff.course import begin
from scalograph.questions.cliff.model import Cliff
from scalograph.questions.cliff.model_evidence import LEAST

QUESTION = "cliff"


def cliffs(table: Table) -> Cliffs | None:
    """What the search has found; None where the study asks for none, or has too few runs."""
    if table.study.question != QUESTION:
        return None
    factor = next(iter(varied(table)), next(iter(table.study.factors)))
    course = retold(begin(table.study, table.treatments), table)
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
