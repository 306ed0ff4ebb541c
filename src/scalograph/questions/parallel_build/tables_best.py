"""Which number of jobs may be the best."""

from collections.abc import Sequence
from statistics import median

from scalograph.analysis.contenders import Contender
from scalograph.findings.answer import Taken
from scalograph.findings.names import title, varied
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.findings import (
    Cell,
    Column,
    TableDoc,
)
from scalograph.questions.parallel_build.model_groups import (
    Group,
    best,
    disturbed,
    fixed_cells,
    groups,
)
from scalograph.text.quantities import percent


def best_table(table: Table, taken: Taken, factor: str) -> TableDoc | None:
    """Which levels may be the best; None where runs are too few, or more is better."""
    if table.study.responses[primary(table)].better != "lower":
        return None
    every = groups(table, taken, factor)
    found = [(group, c) for group in every for c in best(table, group, len(every))]
    rows: list[list[Cell]] = [
        [
            *fixed_cells(table, group, factor),
            c.level,
            c.over_best,
            ("yes" if c.may_be_best else "no") + (", on disturbed runs" if disturbed(group, primary(table)) else ""),
        ]
        for group, c in found
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
        f"{title(table, primary(table))}, compared within blocks; all intervals hold at once, and among the levels "
        f"that may be the best is the best with {table.study.protocol.confidence:.0%} confidence (Hsu 1984); "
        f"{_visible(found)}"
    )
    return TableDoc(id="best", title=f"The best {title(table, factor)}", note=note, columns=columns, rows=rows)


def _visible(found: Sequence[tuple[Group, Contender]]) -> str:
    """What the contrasts can show, as the set does it."""
    least = median(c.visible for _, c in found)
    if least >= 1:
        return "levels that differ less than twofold cannot be told apart with so few blocks, or so much noise"
    return f"a level that is slower by {percent(least)} is told apart four times in five"
