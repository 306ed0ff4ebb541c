"""The rates that carry the claim: a row for each setting, a column for each load."""

from collections.abc import Sequence

from scalograph.findings.answer import Taken
from scalograph.findings.names import short
from scalograph.findings.names import title as title_of
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.claim import Matrix, MatrixCell
from scalograph.questions.matrices import columns_of, matrix, rows
from scalograph.questions.throughput.document import LoadedGroup

DRIVER = {
    "late": "the driver was late",
    "CPU": "the driver's CPU was used up",
    "no CPU": "the driver had no CPU in time",
    "ceiling": "the driver was near its end",
}


def rate_matrix(table: Table, taken: Taken, groups: Sequence[LoadedGroup]) -> Matrix | None:
    """Show rates at the loads that the claim names, and some between.

    Args:
        table: the study.
        taken: the runs of each configuration.
        groups: those of the highest rates first, one at least.
    """
    factor, first = groups[0].factor, groups[0]
    ends = [first.known[0].level, first.at or first.known[-1].level, first.known[-1].level]
    chosen = columns_of(sorted(point.level for one in groups for point in one.points), ends)
    found = {
        tuple({**one.group, factor: point.level}[name] for name in table.study.factors): point
        for one in groups
        for point in one.points
    }
    cells = [
        (sample, MatrixCell(estimate=found[key].rate, doubt=DRIVER.get(found[key].driver_limits, "")))
        for key, sample in taken.items()
        if key in found
    ]
    lines = rows(table, factor, chosen, cells)
    response = table.study.responses[primary(table)]
    texts = {"title": title_of(table, primary(table)), "unit": response.unit, "better": response.better}
    return matrix(table, lines, [short(table, {factor: level}) for level in chosen], **texts) if lines else None
