"""The runs of a search for the highest level within a limit, by level."""

from scalograph.findings.table import Table
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.questions.within_limit.document import WithinLimit

_NOTE = "over the limit: the response of a run over its limit; up to 1 the limit is met"


def limit_tables(table: Table, result: WithinLimit) -> list[TableDoc]:
    """Make one row for each measured level."""
    factor = table.study.factors[result.factor]
    columns = [
        Column(name=table.view.title(result.factor), unit=factor.unit, kind="label"),
        Column(name="least over the limit"), Column(name="most over the limit"), Column(name="runs"),
    ]  # fmt: skip
    levels: dict[int, list[float]] = {}
    for run in result.runs:
        levels.setdefault(run.level, []).append(run.over)
    rows: list[list[Cell]] = [
        [level, round(min(over), 3), round(max(over), 3), len(over)] for level, over in sorted(levels.items())
    ]
    return [TableDoc(id="within-limit", title="Levels that were measured", note=_NOTE, columns=columns, rows=rows)]
