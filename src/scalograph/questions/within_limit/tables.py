"""The runs of a search for the highest level within a limit, by level."""

from scalograph.findings.answer import tabulate
from scalograph.findings.table import Table
from scalograph.protocol.findings import TableDoc
from scalograph.questions.within_limit.document import WithinLimit

_NOTE = "over the limit: the response of a run over its limit; up to 1 the limit is met"


def limit_tables(table: Table, result: WithinLimit) -> list[TableDoc]:
    levels: dict[int, list[float]] = {}
    for run in result.runs:
        levels.setdefault(run.level, []).append(run.over)
    return [tabulate("within-limit", "Levels that were measured", sorted(levels.items()), [
        (table.view.title(result.factor), "label", lambda x: x[0], table.view.unit(result.factor)),
        ("least over the limit", "number", lambda x: round(min(x[1]), 3)),
        ("most over the limit", "number", lambda x: round(max(x[1]), 3)), ("runs", "number", lambda x: len(x[1])),
    ], _NOTE)]  # fmt: skip
