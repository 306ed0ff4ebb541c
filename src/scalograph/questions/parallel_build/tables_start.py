"""What a study of builds began with: the trees and their versions, and the first builds, which are discarded."""

from statistics import mean

from scalograph.findings.names import brief, title
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol import journal
from scalograph.protocol.findings import Cell, Column, TableDoc


def prepared_table(table: Table) -> TableDoc | None:
    """What was fetched or made before the first run, as the journal has it; None where nothing was."""
    uses = journal.first_event(table.file).get("uses") if table.file else None
    told = uses.get("prepared") if isinstance(uses, dict) else None
    if not isinstance(told, dict) or not told:
        return None
    rows: list[list[Cell]] = [[brief(name), brief(text)] for name, text in told.items()]
    columns = [Column(name="name", kind="label"), Column(name="package, version, file and checksum", kind="text")]
    note = "fetched once by the package manager, which checks it by the signed index of its distribution"
    return TableDoc(id="prepared", title="What was built", note=note, columns=columns, rows=rows)


def discarded_table(table: Table) -> TableDoc | None:
    """The first runs, which do not count, with what they read from disk: why they do not count."""
    rows = [row for row in table.rows if row.warmup]
    if not rows:
        return None
    name = primary(table)
    cells: list[list[Cell]] = [[row.run, row.read_bytes, row.n_major_faults, row.scores.get(name)] for row in rows]
    counted = [row for row in table.counted() if row.n_major_faults is not None]
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
