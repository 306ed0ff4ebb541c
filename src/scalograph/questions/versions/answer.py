"""Answer which versions are faster than the reference, where the study names one."""

from collections.abc import Sequence

from scalograph.findings.answer import Answer, SampleMap
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve
from scalograph.protocol.plain import AnswerCase
from scalograph.questions.claims import state, why_unanswerable, why_unpaired
from scalograph.questions.registry import why_no_curves


def applies(table: Table) -> str | None:
    """Say why nothing is compared; None where the study names a reference."""
    if reason := why_no_curves(table.study.question):
        return reason
    return None if table.study.reference else "no reference that the others have to beat"


def answer(table: Table, taken: SampleMap, curves: Sequence[Curve]) -> Answer:
    # Not imported for the many studies without a reference.
    from scalograph.questions.versions.claim import FORMS, claim
    from scalograph.questions.versions.model import versions
    from scalograph.questions.versions.tables import reference_table

    compared = versions(table, taken)
    if not compared:
        measured = [sample for sample in taken.values() if sample.counted]
        reason = why_unanswerable(table, taken) or why_unpaired(table, measured, table.study.reference)
        nothing = state(FORMS, [AnswerCase(case="no answer", values={"reason": reason})])
        return Answer(claim=nothing if len(table.configurations) > 1 else None)
    return Answer(claim=claim(table, taken, compared), tables=[reference_table(table, compared)])
