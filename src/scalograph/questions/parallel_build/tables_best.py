"""Which number of jobs may be the best."""

from scalograph.findings.curves import primary
from scalograph.findings.names import title, varied
from scalograph.findings.table import Table
from scalograph.protocol.findings import (
    Cell,
    Column,
    Level,
    TableDoc,
)
from scalograph.questions.parallel_build.answer_groups import (
    Group,
    Taken,
    disturbed,
    fixed_cells,
    groups,
)
from scalograph.questions.parallel_build.model_best import Contender, contenders


def best(table: Table, group: Group, n_groups: int) -> list[Contender]:
    """Each level against the best of the others, on the primary response; the intervals of all groups hold at once."""
    name = primary(table)
    scores = {float(level): sample.scores(name) for level, sample in group.samples.items() if _number(level)}
    return contenders(scores, 1 - (1 - table.study.protocol.confidence) / n_groups)


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


def _number(level: Level) -> bool:
    return isinstance(level, int | float) and not isinstance(level, bool)
