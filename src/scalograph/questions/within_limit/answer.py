"""Up to which level is the limit met? The search told again from its runs."""

from collections.abc import Sequence

from scalograph.analysis.estimate import Estimate
from scalograph.findings.answer import Answer, Taken
from scalograph.findings.search_replay import retold
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve
from scalograph.questions.within_limit.answer_growing import answered_share
from scalograph.questions.within_limit.claim import limit_claim
from scalograph.questions.within_limit.course import begin
from scalograph.questions.within_limit.document import LimitedRun, WithinLimit
from scalograph.questions.within_limit.model import CREDIBLE, SURE
from scalograph.questions.within_limit.tables import limit_tables

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
