"""Which number of jobs may be the best."""

from scalograph.findings.answer import Taken
from scalograph.findings.curves import primary
from scalograph.findings.names import title, varied
from scalograph.findings.table import Table
from scalograph.protocol.findings import (
    Cell,
    Column,
    TableDoc,
)
from scalograph.questions.parallel_build.model_groups import (
    best,
    disturbed,
    fixed_cells,
    groups,
)


def best_table(table: Table, taken: Taken, factor: str) -> TableDoc | None:
    """Which levels may be the best; None where runs are too few, or more is better."""
    if table.study.responses[primary(table)].better != "lower":
        return None
    every = groups(table, taken, factor)
    rows: list[list[Cell]] = [
        [
            *fixed_cells(table, group, factor),
            c.level,
            c.over_best,
            ("yes" if c.may_be_best else "no") + (", on disturbed runs" if disturbed(group, primary(table)) else ""),
        ]
        for group in every
        for c in best(table, group, len(every))
    ]
    if not rows:
        return None
    shown = [name for name in varied(table) if name != factor]
    columns = [Column(name=title(table, name), kind="label") for name in [*shown, factor]]
    columns += [
        Column(name="over the best of the others", kind="estimate"),
        Column(name="may be the best", kind="text"),
    ]
    note = (
        f"{title(table, primary(table))}; all intervals hold at once, and among the levels that may be the best is the "
        f"best with {table.study.protocol.confidence:.0%} confidence (Hsu 1984)"
    )
    return TableDoc(id="best", title=f"The best {title(table, factor)}", note=note, columns=columns, rows=rows)
