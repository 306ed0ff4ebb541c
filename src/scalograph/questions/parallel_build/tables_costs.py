"""What more jobs cost: user time over that of one; and what makes no difference."""

from scalograph.findings.answer import Taken
from scalograph.findings.names import title, varied
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.protocol.plain import Level
from scalograph.questions.parallel_build.model_equivalence import MARGIN, Equivalence
from scalograph.questions.parallel_build.model_groups import (
    Group,
    against_first,
    disturbed,
    fixed_cells,
    groups,
    user_time,
)

_WORDS = {"equivalent": f"the same within {MARGIN:.0%}", "different": "different", "not shown": "not decided"}


def inflation_table(table: Table, taken: Taken, factor: str) -> TableDoc | None:
    """Growth of user time, or of CPU time where that is all there is; None without either."""
    response = user_time(table)
    rows: list[list[Cell]] = [
        [*fixed_cells(table, group, factor), level, *_cells(group, response, level, found)]
        for group in groups(table, taken, factor)
        for level, found in against_first(table, group, response).items()
    ]
    note = (
        f"{title(table, response)}, over that of the first {title(table, factor)}; the same files are compiled, so "
        f"what is more is the price of running side by side. {_margin(table)}"
    )
    heading = f"Growth of {title(table, response)}, with {title(table, factor)}"
    return _table(table, factor, "inflation", heading, note, rows)


def same_tables(table: Table, taken: Taken) -> list[TableDoc]:
    """For each factor that sets how the machine works: does it make a difference to the primary response?"""
    found = []
    for name, factor in table.study.factors.items():
        if factor.kind != "tunable" or name not in varied(table):
            continue
        rows: list[list[Cell]] = [
            [*fixed_cells(table, group, name), level, *_cells(group, primary(table), level, one)]
            for group in groups(table, taken, name)
            for level, one in against_first(table, group, primary(table)).items()
        ]
        note = f"{title(table, primary(table))}, over that of the first level. {_margin(table)}"
        heading = f"Does {title(table, name)} make a difference?"
        if (doc := _table(table, name, f"same-{name}", heading, note, rows)) is not None:
            found.append(doc)
    return found


def _table(table: Table, factor: str, name: str, heading: str, note: str, rows: list[list[Cell]]) -> TableDoc | None:
    if not rows:
        return None
    shown = [other for other in varied(table) if other != factor]
    columns = [Column(name=title(table, other), kind="label") for other in [*shown, factor]]
    columns += [Column(name="ratio", kind="estimate"), Column(name="so it is", kind="text")]
    return TableDoc(id=name, title=heading, note=note, columns=columns, rows=rows)


def _cells(group: Group, response: str, level: Level, found: Equivalence) -> list[Cell]:
    doubt = ", on disturbed runs" if disturbed(group, response, next(iter(group.samples)), level) else ""
    return [found.ratio, _WORDS[found.label] + doubt]


def _margin(table: Table) -> str:
    confidence = table.study.protocol.confidence
    return (
        f"The same within {MARGIN:.0%}: two one-sided tests at {1 - confidence:.2g} each (Schuirmann 1987), so the "
        f"interval is one of {2 * confidence - 1:.0%}"
    )
