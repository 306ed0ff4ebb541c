"""Up to which level is the limit met? The search told again from its runs."""

from collections.abc import Sequence
from math import sqrt
from statistics import fmean

from scalograph.analysis.estimate import Estimate
from scalograph.findings.answer import Answer, Taken
from scalograph.findings.sample import named_records, retold
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve
from scalograph.questions.within_limit.claim import limit_claim
from scalograph.questions.within_limit.document import LimitedRun, WithinLimit
from scalograph.questions.within_limit.model import CREDIBLE, SURE
from scalograph.questions.within_limit.search_state import begin
from scalograph.questions.within_limit.tables import limit_tables
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


METHOD = "posterior over crossings of the limit, central credible range"


def answer(table: Table, taken: Taken, curves: Sequence[Curve]) -> Answer:
    """Tell what the search has found."""
    found = within_limit(table)
    return Answer(
        document=found,
        decided=found is not None and found.decided,
        claim=limit_claim(table, found),
        tables=limit_tables(table, found) if found else (),
        doubts=[] if found and found.decided else ["the search ended before its answer was sure"],
    )


def within_limit(table: Table) -> WithinLimit | None:
    """Search again; None where no run has a score."""
    search = begin(table.study, table.treatments)
    course = retold(search, table)
    found, limit = course.found, table.study.responses[primary(table)].limit
    if found is None or limit is None:
        return None
    levels = sorted(search.steps)
    inside = [level for level in levels if level <= found.level]
    shown = max(found.always, found.never) < SURE
    value, low, high = (found.level, found.low, found.high) if shown else (None, None, None)
    highest = inside[-1] if inside else None
    return WithinLimit(
        factor=search.what, response=primary(table), limit=limit, decided=found.is_known,
        crossing=Estimate(value, low, high, CREDIBLE, found.n, METHOD, () if shown else ("it lies outside the range",)),
        highest=highest, always=found.always, never=found.never,
        answered=answered_share(table, search.what, highest) if highest is not None else None,
        runs=[LimitedRun(level=n, over=over) for n, over in zip(course.at, course.over, strict=True)],
    )  # fmt: skip
