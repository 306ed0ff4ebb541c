"""All runs in the order in which they were made, and what became of each."""

from collections.abc import Iterable, Mapping
from statistics import median

from scalograph.findings.answer import Taken
from scalograph.findings.row import Row
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.findings import RunLog
from scalograph.protocol.plain import Level
from scalograph.questions.registry import is_search
from scalograph.verdict.cause import COUNTED, Cause

MOST = 30_000  # of more runs, a page could neither hold nor draw each
_NONE = Cause("", None, "", "")


def run_log(table: Table, taken: Taken) -> RunLog | None:
    """List the runs; None where there are too many."""
    rows = [row for row in table.rows if not row.warmup]
    if len(rows) > MOST:
        return None
    name = primary(table)
    counted = {key: sample.rows(name) for key, sample in taken.items()}
    if is_search(table.study.question):  # which goes by clean runs alone
        counted = {key: [row for row in rows if row.verdict in COUNTED] for key, rows in counted.items()}
    typical = {key: median(row.scores[name] for row in found) for key, found in counted.items() if found}
    in_estimates = {row.run for found in counted.values() for row in found}
    places: dict[tuple[Level, ...], int] = {}
    treatments: dict[int, Mapping[str, Level]] = {places.setdefault(r.key, len(places)): r.treatment for r in rows}
    causes = [max(row.causes, key=lambda cause: cause.amount or 0.0, default=_NONE) for row in rows]
    return RunLog(
        treatments=[dict(treatment) for treatment in treatments.values()],
        run=[row.run for row in rows],
        treatment=[places[row.key] for row in rows],
        start_s=[row.start_s for row in rows],
        status=[row.status for row in rows],
        verdict=[row.verdict for row in rows],
        cause=[cause.cause for cause in causes],
        amount=[cause.amount for cause in causes],
        counted=[row.run in in_estimates for row in rows],
        relative=[_relative(row, name, typical) for row in rows],
    )


def _relative(row: Row, name: str, typical: Mapping[tuple[Level, ...], float]) -> float | None:
    middle = typical.get(row.key)
    return round(row.scores[name] / middle, 6) if middle and name in row.scores else None


def too_long(table: Table) -> Iterable[str]:
    """Say so where the list is left out."""
    n = sum(not row.warmup for row in table.rows)
    if n > MOST:
        yield f"the list of runs is left out: it holds {MOST:,} at most, the study made {n:,}"
