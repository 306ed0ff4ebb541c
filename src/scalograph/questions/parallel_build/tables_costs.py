"""Tables of a build's costs: growth of user time, tunables without effect, best level, discarded runs."""

from statistics import mean, median

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
_YES = {True: "yes", False: "no"}


def inflation_table(table: Table, taken: Samples, factor: str) -> TableDoc | None:
    """Tabulate growth of user time, or of CPU time where that is all there is; None without either."""
    response = user_time(table)
    note = (
        f"{title(table, response)}, over that of the first {title(table, factor)}; the same files are compiled, so "
        f"what is more is the price of running side by side. {_margin(table)}"
    )
    heading = f"Growth of {title(table, response)}, with {title(table, factor)}"
    return next(iter(_tables(table, taken, factor, response, "inflation", (heading, note))), None)


def same_tables(table: Table, taken: Samples) -> list[TableDoc]:
    """Tabulate, for each tunable, whether it changes the primary response."""
    response, tables = primary_response(table), list[TableDoc]()
    for name in varying_factors(table):
        if table.study.factors[name].kind == "tunable":
            note = f"{title(table, response)}, over that of the first level. {_margin(table)}"
            heading = f"Does {title(table, name)} make a difference?"
            tables += _tables(table, taken, name, response, f"same-{name}", (heading, note))
    return tables


def _tables(
    table: Table, taken: Samples, factor: str, response: str, name: str, texts: tuple[str, str]
) -> list[TableDoc]:
    """Tabulate the ratio of each level to the first; empty where there is none. `texts`: heading and note."""
    rows: list[list[Cell]] = [
        [*fixed_cells(table, group, factor), level, *_cells(group, response, level, ratio)]
        for group in groups(table, taken, factor)
        for level, ratio in against_first(table, group, response).items()
    ]
    columns = [*_labels(table, factor), Column(name="ratio", kind="estimate"), Column(name="so it is", kind="text")]
    return [TableDoc(id=name, title=texts[0], note=texts[1], columns=columns, rows=rows)] if rows else []


def _labels(table: Table, factor: str) -> list[Column]:
    names = [*(name for name in varying_factors(table) if name != factor), factor]
    return [Column(name=title(table, name), kind="label") for name in names]


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
    """Tabulate each level beside the best of the others; None where nothing can be compared."""
    if table.study.responses[primary_response(table)].better != "lower":
        return None
    every = groups(table, taken, factor)
    compared = [(group, c) for group in every for c in compare_with_best(table, group, len(every))]
    if not compared:
        return None
    rows: list[list[Cell]] = []
    for group, c in compared:
        doubt = ", on disturbed runs" if rests_on_disturbed(group, primary_response(table)) else ""
        rows.append([*fixed_cells(table, group, factor), c.level, c.over_best, f"{_YES[c.may_be_best]}{doubt}"])
    ends = Column(name="over the best of the others", kind="estimate"), Column(name="may be the best", kind="text")
    least = median(c.visible for _, c in compared)
    visible = f"a level that is slower by {percent(least)} is told apart four times in five"
    if least >= 1:
        visible = "levels that differ less than twofold cannot be told apart with so few blocks, or so much noise"
    note = (
        f"{title(table, primary_response(table))}, compared within blocks; all intervals hold at once, and among the "
        f"levels that may be the best is the best with {table.study.protocol.confidence:.0%} confidence (Hsu 1984); "
        f"{visible}"
    )
    columns = [*_labels(table, factor), *ends]
    return TableDoc(id="best", title=f"The best {title(table, factor)}", note=note, columns=columns, rows=rows)


def prepared_table(table: Table) -> TableDoc | None:
    """Tabulate what was fetched or built before the first run; None where nothing was."""
    uses = journal.first_event(table.file).get("uses") if table.file else None
    prepared = uses.get("prepared") if isinstance(uses, dict) else None
    if not isinstance(prepared, dict) or not prepared:
        return None
    rows: list[list[Cell]] = [[shorten(name), shorten(text)] for name, text in prepared.items()]
    columns = [Column(name="name", kind="label"), Column(name="package, version, file and checksum", kind="text")]
    note = "fetched once by the package manager, which checks it by the signed index of its distribution"
    return TableDoc(id="prepared", title="What was built", note=note, columns=columns, rows=rows)


def discarded_table(table: Table) -> TableDoc | None:
    """Tabulate the discarded first runs and what they read from disk: why they do not count."""
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
        Column(name="run", kind="label"), Column(name="read from disk", unit="bytes"), Column(name="pages waited for"),
        Column(name=title(table, name), unit=table.study.responses[name].unit),
    ]  # fmt: skip
    note = "the first runs of a study find its files on the disk, later ones in memory; they are made and do not count"
    return TableDoc(id="discarded", title="Runs made first and discarded", note=note, columns=columns, rows=cells)
