"""Answer what differs between the levels of a study without speedups, and by how much its runs differ."""

from collections.abc import Sequence

from scalograph.findings.answer import Answer, SampleMap
from scalograph.findings.sample import is_functional
from scalograph.findings.speedup_rule import find_speedup_rule
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve
from scalograph.questions.levels.claim import claim
from scalograph.questions.registry import SWEEP


def applies(table: Table) -> str | None:
    """Return why levels are not compared here; None where nothing else compares them."""
    if table.study.question != SWEEP:
        return "its question is another one"
    if table.study.reference and len(table.configurations) > 1:
        return "its versions are compared with a reference"
    if all(map(is_functional, table.successful_rows())):  # which have no times, so no speedups
        return None
    if table.study.baseline and find_speedup_rule(table, table.view.curve_factor) is not None:
        return "its levels are compared as speedups"
    return None


def answer(table: Table, samples: SampleMap, curves: Sequence[Curve]) -> Answer:
    return Answer(claim=claim(table, samples))
