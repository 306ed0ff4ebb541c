"""Replay the runs of a journal through the state of a search, as its planner saw them."""

from collections.abc import Iterator
from typing import Any

from scalograph.design.search_steps import C, Search, SearchSteps
from scalograph.design.stopping_rule import work_time
from scalograph.findings.row import Row
from scalograph.findings.table import Table
from scalograph.study.responses import primary
from scalograph.verdict.cause import COUNTED, REPEATED


def telling(search: Search[Any], table: Table) -> Iterator[Row]:
    """Tell a search what its planner knew, run by run: it is a function of the runs in their order.

    Yields:
        Each run that was told: none that was made again, and none of a treatment that no step has.
    """
    steps = SearchSteps(search)
    for row in table.rows:
        if not row.warmup and row.verdict not in REPEATED and steps.level_of(row.treatment) is not None:
            steps.begin(row.block)
            steps.take(row.treatment, time_of(table, row))
            yield row


def retold(search: Search[C], table: Table) -> C:
    """Tell a search all runs of a study; returns its course."""
    for _ in telling(search, table):
        pass
    return search.course


def time_of(table: Table, row: Row) -> float | None:
    """Time of a run that counts, for the same work, in any unit; None where it has none."""
    counts = row.status == "ok" and row.verdict in COUNTED
    return work_time(table.study, row.scores.get(primary(table.study))) if counts else None
