"""Answer up to which level the limit is met: the search is replayed from its runs."""

from collections.abc import Sequence
from math import sqrt
from statistics import fmean

from scalograph.analysis.crossing import CREDIBLE, SURE
from scalograph.analysis.estimate import Estimate
from scalograph.findings.answer import Answer, SampleMap, tabulate
from scalograph.findings.sample import read_named_records, replay_runs
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve, TableDoc
from scalograph.questions.within_limit.claim import limit_claim
from scalograph.questions.within_limit.document import LimitedRun, WithinLimit
from scalograph.questions.within_limit.search_state import begin
from scalograph.study.responses import limits_of
from scalograph.text.warning_catalog import Caveat
from scalograph.verdict.little import driver_load

# A service answers less than it is sent from so much on, beyond what chance makes of so many requests.
SHORT, CHANCE = 0.05, 3.0


def answered_share(table: Table, factor: str, level: int) -> float | None:
    """Return the share of the offered load that was answered, in the runs nearest to a level.

    None where all was answered, but for chance, and where the load generator does not say what it offered.
    """
    rows = table.successful_rows()
    nearest = min((abs(int(row.configuration[factor]) - level) for row in rows), default=0)
    there = [row for row in rows if abs(int(row.configuration[factor]) - level) == nearest]
    loads = [driver_load(record) for _, record in read_named_records(table, there)]
    shares = [(load.n_requests, load.rate / load.offered) for load in loads if load and load.offered]
    if not shares:
        return None
    share = fmean(each for _, each in shares)
    return share if 1 - share > SHORT + CHANCE / sqrt(sum(n for n, _ in shares)) else None


METHOD = "posterior over crossings of the limit, central credible range"


def answer(table: Table, samples: SampleMap, curves: Sequence[Curve]) -> Answer:
    document = limit_document(table)
    return Answer(
        document=document,
        decided=document is not None and document.decided,
        claim=limit_claim(table, samples, document),
        tables=limit_tables(table, document) if document else (),
        doubts=[] if document and document.decided else [Caveat("search open")],
    )


def limit_document(table: Table) -> WithinLimit | None:
    """Make the document of a search; None where no run has a score."""
    search = begin(table.study, table.configurations)
    state = replay_runs(search, table)
    crossing, limit = state.crossing, table.view.response.limit
    if crossing is None or limit is None:
        return None
    highest = max((level for level in search.steps if level <= crossing.level), default=None)
    if max(crossing.always, crossing.never) < SURE:
        location = Estimate(crossing.level, crossing.low, crossing.high, CREDIBLE, crossing.n, METHOD)
    else:
        outside = ("it lies outside the range",)
        location = Estimate(None, None, None, CREDIBLE, crossing.n, METHOD, outside)
    return WithinLimit(
        factor=search.what, response=table.view.primary, limit=limit, decided=crossing.is_known,
        others={name: x for name, x in limits_of(table.study).items() if name != table.view.primary},
        crossing=location, highest=highest, always=crossing.always, never=crossing.never,
        answered=answered_share(table, search.what, highest) if highest is not None else None,
        runs=[LimitedRun(level=n, over=over) for n, over in zip(state.at, state.over, strict=True)],
    )  # fmt: skip


_NOTE = "over the limit: the response of a run over its limit; up to 1 the limit is met"


def limit_tables(table: Table, result: WithinLimit) -> list[TableDoc]:
    levels: dict[int, list[float]] = {}
    for run in result.runs:
        levels.setdefault(run.level, []).append(run.over)
    return [tabulate("within-limit", "Levels that were measured", sorted(levels.items()), [
        (table.view.title(result.factor), "label", lambda x: x[0], table.view.unit(result.factor)),
        ("least over the limit", "number", lambda x: round(min(x[1]), 3)),
        ("most over the limit", "number", lambda x: round(max(x[1]), 3)), ("runs", "number", lambda x: len(x[1])),
    ], _NOTE)]  # fmt: skip
