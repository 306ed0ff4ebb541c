"""Where does the time jump? The search told again from its runs."""

from collections.abc import Sequence
from math import exp

from scalograph.findings.answer import Answer, Taken
from scalograph.findings.sample import retold
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve
from scalograph.questions.cliff.claim import cause, cliff_claim
from scalograph.questions.cliff.document import CliffDoc, Cliffs
from scalograph.questions.cliff.model import Cliff
from scalograph.questions.cliff.model_evidence import LEAST
from scalograph.questions.cliff.search_state import begin
from scalograph.questions.cliff.tables import cliff_tables


def answer(table: Table, taken: Taken, curves: Sequence[Curve]) -> Answer:
    """Tell what the search has found."""
    found = cliffs(table)
    return Answer(
        document=found,
        decided=found is not None and found.decided,
        claim=cliff_claim(table, found),
        sentences=cause(table, found),
        tables=cliff_tables(table, taken, found),
        doubts=_open(found),
    )


def _open(found: Cliffs | None) -> list[str]:
    """The doubt of a search that ended without an answer."""
    if found is None:
        return ["nothing is known of a cliff"]
    return [] if found.decided else [f"the search ended after {found.n} runs, before its answer was sure"]


def cliffs(table: Table) -> Cliffs | None:
    """Search again; None where there are too few runs."""
    search = begin(table.study, table.treatments)
    course = retold(search, table)
    weighed = course.sure or ([course.open] if course.open else [])
    if not weighed:
        return None
    return Cliffs(
        factor=search.what,
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
