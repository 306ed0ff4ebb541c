"""The records of a few runs, read again from the journal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scalograph.findings.row import Row
from scalograph.findings.table import Table
from scalograph.protocol import journal
from scalograph.protocol.record import Record

# Records that are read again: each may be megabytes, and one tells nearly as much as ten.
MOST_RECORDS = 10


def records_of(table: Table, rows: Sequence[Row]) -> Iterator[Record]:
    """Read the records of the first ten of these runs: to keep all would be most of a table's memory.

    Args:
        table: whose journal is read; without one there is no record.
        rows: the runs.
    """
    yield from (record for _, record in named_records(table, rows[:MOST_RECORDS]))


def named_records(table: Table, rows: Sequence[Row]) -> Iterator[tuple[str, Record]]:
    """Read the records of these runs, however many, one after the other, each with the name of its run."""
    names = {row.run for row in rows}
    events: Iterator[Mapping[str, Any]] = journal.read(table.file) if table.file and names else iter(())
    for event in events:
        if event["event"] == "run" and event["run"] in names:
            yield event["run"], event["record"]
