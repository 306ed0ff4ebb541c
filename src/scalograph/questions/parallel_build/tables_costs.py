"""What more jobs cost: user time over that of one; and what makes no difference."""

from collections.abc import Sequence
from statistics import mean, median

from scalograph.analysis.contenders import Contender
from scalograph.findings.answer import Samples
from scalograph.findings.names import shorten, title, varying_factors
from scalograph.findings.speedup_rule import primary_response
from scalograph.findings.table import Table
from scalograph.protocol import journal
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.protocol.plain import Level
from scalograph.questions.parallel_build.model_equivalence import (
    MARGIN,
    Equivalence,
    Group,
    against_first,
    compare_with_best,
    fixed_cells,
    groups,
    rests_on_disturbed,
    user_time,
)
from scalograph.text.quantities import percent

_WORDS = {"equivalent": f"the same within {MARGIN:.0%}", "different": "different", "not shown": "not decided"}


def inflation_table(table: Table, taken: Samples, factor: str) -> TableDoc | None:
    """Growth of user time, or of CPU time where that is all there is; None without either."""
    response = user_time(table)
    rows: list[list[Cell]] = [
        [*fixed_cells(table, group, factor), level, *_cells(group, response, level, ratio)]
        for group in groups(table, taken, factor)
        for level, ratio in against_first(table, group, response).items()
    ]
    note = (
        f"{title(table, response)}, over that of the first {title(table, factor)}; the same files are compiled, so "
        f"what is more is the price of running side by side. {_margin(table)}"
    )
    heading = f"Growth of {title(table, response)}, with {title(table, factor)}"
    return _table(table, factor, "inflation", heading, note, rows)


def same_tables(table: Table, taken: Samples) -> list[TableDoc]:
    """For each factor that sets how the machine works: does it make a difference to the primary response?"""
    tables = []
    for name, factor in table.study.factors.items():
        if factor.kind != "tunable" or name not in varying_factors(table):
            continue
        rows: list[list[Cell]] = [
            [*fixed_cells(table, group, name), level, *_cells(group, primary_response(table), level, ratio)]
            for group in groups(table, taken, name)
            for level, ratio in against_first(table, group, primary_response(table)).items()
        ]
        note = f"{title(table, primary_response(table))}, over that of the first level. {_margin(table)}"
        heading = f"Does {title(table, name)} make a difference?"
        if (doc := _table(table, name, f"same-{name}", heading, note, rows)) is not None:
            tables.append(doc)
    return tables


def _table(table: Table, factor: str, name: str, heading: str, note: str, rows: list[list[Cell]]) -> TableDoc | None:
    if not rows:
        return None
    shown = [other for other in varying_factors(table) if other != factor]
    columns = [Column(name=title(table, other), kind="label") for other in [*shown, factor]]
    columns += [Column(name="ratio", kind="estimate"), Column(name="so it is", kind="text")]
    return TableDoc(id=name, title=heading, note=note, columns=columns, rows=rows)


def _cells(group: Group, response: str, level: Level, ratio: Equivalence) -> list[Cell]:
    doubt = ", on disturbed runs" if rests_on_disturbed(group, response, next(iter(group.samples)), level) else ""
    return [ratio.ratio, _WORDS[ratio.label] + doubt]


def _margin(table: Table) -> str:
    confidence = table.study.protocol.confidence
    return (
        f"The same within {MARGIN:.0%}: two one-sided tests at {1 - confidence:.2g} each (Schuirmann 1987), so the "
        f"interval is one of {2 * confidence - 1:.0%}"
    )


def best_table(table: Table, taken: Samples, factor: str) -> TableDoc | None:
    """Which levels may be the best; None where runs are too few, or more is better."""
    if table.study.responses[primary_response(table)].better != "lower":
        return None
    every = groups(table, taken, factor)
    compared = [(group, c) for group in every for c in compare_with_best(table, group, len(every))]
    rows: list[list[Cell]] = [
        [
            *fixed_cells(table, group, factor),
            c.level,
            c.over_best,
            ("yes" if c.may_be_best else "no")
            + (", on disturbed runs" if rests_on_disturbed(group, primary_response(table)) else ""),
        ]
        for group, c in compared
    ]
    if not rows:
        return None
    shown = [name for name in varying_factors(table) if name != factor]
    columns = [Column(name=title(table, name), kind="label") for name in [*shown, factor]]
    columns += [
        Column(name="over the best of the others", kind="estimate"),
        Column(name="may be the best", kind="text"),
    ]
    note = (
        f"{title(table, primary_response(table))}, compared within blocks; all intervals hold at once, and among the levels "
        f"that may be the best is the best with {table.study.protocol.confidence:.0%} confidence (Hsu 1984); "
        f"{_visible(compared)}"
    )
    return TableDoc(id="best", title=f"The best {title(table, factor)}", note=note, columns=columns, rows=rows)


def _visible(compared: Sequence[tuple[Group, Contender]]) -> str:
    """What the contrasts can show, as the set does it."""
    least = median(c.visible for _, c in compared)
    if least >= 1:
        return "levels that differ less than twofold cannot be told apart with so few blocks, or so much noise"
    return f"a level that is slower by {percent(least)} is told apart four times in five"


def prepared_table(table: Table) -> TableDoc | None:
    """What was fetched or made before the first run, as the journal has it; None where nothing was."""
    uses = journal.first_event(table.file).get("uses") if table.file else None
    prepared = uses.get("prepared") if isinstance(uses, dict) else None
    if not isinstance(prepared, dict) or not prepared:
        return None
    rows: list[list[Cell]] = [[shorten(name), shorten(text)] for name, text in prepared.items()]
    columns = [Column(name="name", kind="label"), Column(name="package, version, file and checksum", kind="text")]
    note = "fetched once by the package manager, which checks it by the signed index of its distribution"
    return TableDoc(id="prepared", title="What was built", note=note, columns=columns, rows=rows)


def discarded_table(table: Table) -> TableDoc | None:
    """The first runs, which do not count, with what they read from disk: why they do not count."""
    rows = [row for row in table.rows if row.warmup]
    if not rows:
        return None
    name = primary_response(table)
    cells: list[list[Cell]] = [[row.run, row.read_bytes, row.n_major_faults, row.scores.get(name)] for row in rows]
    counted = [row for row in table.successful_rows() if row.n_major_faults is not None]
    if counted:
        read, faults = mean(row.read_bytes or 0 for row in counted), mean(row.n_major_faults or 0 for row in counted)
        cells.append(["mean of those that count", read, faults, None])
    columns = [
        Column(name="run", kind="label"),
        Column(name="read from disk", unit="bytes"),
        Column(name="pages waited for"),
        Column(name=title(table, name), unit=table.study.responses[name].unit),
    ]
    note = "the first runs of a study find its files on the disk, later ones in memory; they are made and do not count"
    return TableDoc(id="discarded", title="Runs made first and discarded", note=note, columns=columns, rows=cells)
