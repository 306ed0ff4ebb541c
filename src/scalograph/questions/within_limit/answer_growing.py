"""Does a queue grow where the limit is still met? Then the limit is met only because the window ends."""

from math import sqrt
from statistics import fmean

from scalograph.findings.run_records import named_records
from scalograph.findings.table import Table
from scalograph.verdict.little import driver_load

# A service answers less than it is sent from so much on, beyond what chance makes of so many requests.
SHORT, CHANCE = 0.05, 3.0


def answered_share(table: Table, factor: str, level: int) -> float | None:
    """Return the share of what was sent that was answered, in the runs nearest to a level.

    Args:
        table: the study.
        factor: whose levels these are.
        level: that meets the limit.

    Returns:
        None where all was answered, but for chance, and where a driver does not say what it was to send.
    """
    rows = table.counted()
    nearest = min((abs(int(row.treatment[factor]) - level) for row in rows), default=0)
    there = [row for row in rows if abs(int(row.treatment[factor]) - level) == nearest]
    loads = [driver_load(record) for _, record in named_records(table, there)]
    known = [(load.n_requests, load.rate / load.offered) for load in loads if load and load.offered]
    if not known:
        return None
    share = fmean(each for _, each in known)
    return share if 1 - share > SHORT + CHANCE / sqrt(sum(n for n, _ in known)) else None
