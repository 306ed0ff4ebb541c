"""The scaling law of each curve: what limits it, where it is largest, and how far the curve may be believed."""

from collections.abc import Sequence

from scalograph.findings.answer import Answer, Taken
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve
from scalograph.questions.registry import without_curves


def applies(table: Table) -> str | None:
    """Say why no curve of the study has a speedup; None where curves may have one."""
    if why := without_curves(table.study.question):
        return why
    if not table.study.baseline:
        return "no baseline that a speedup could be over"
    return None


def answer(table: Table, taken: Taken, curves: Sequence[Curve]) -> Answer:
    """Tell what each curve does, with the law that it follows where there is one."""
    # A command alone has no curve, and waits for nothing that only curves need.
    from scalograph.questions.scaling.answer_laws import laws_answered

    return laws_answered(table, taken, curves)
