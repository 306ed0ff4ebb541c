"""Answer up to which level the limit is met: the search is replayed from its runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean

from scalograph.analysis.crossing import CREDIBLE, SURE
from scalograph.analysis.estimate import Estimate
from scalograph.design.search_steps import Search
from scalograph.findings.answer import Answer, ItemColumn, SampleMap, tabulate
from scalograph.findings.bottleneck import find_bottleneck, utilizations
from scalograph.findings.driven_runs import DrivenRun, driven_run
from scalograph.findings.sample import read_named_records, replay_runs
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve, TableDoc
from scalograph.protocol.response_times import share_within
from scalograph.questions.saturation import part_uses, saturation_fields
from scalograph.questions.within_limit.claim import limit_claim
from scalograph.questions.within_limit.document import LimitedRun, LoadBeyond, WithinLimit
from scalograph.questions.within_limit.search_state import LimitState, begin
from scalograph.study.responses import limits_of
from scalograph.text.warning_catalog import Caveat

# A service answers less than it is sent from so much on, beyond what chance makes of so many requests.
SHORT, CHANCE = 0.05, 3.0


@dataclass(frozen=True)
class _Loads:
    """The loads of a search: its runs with a load generator, each with its level.

    `within_s`: how long an answer may take that is in time, s; None: any time.
    """

    runs: Sequence[tuple[int, DrivenRun]]
    within_s: float | None

    def near(self, level: int) -> list[DrivenRun]:
        """Return the runs of the level that is nearest to this one."""
        nearest = min((abs(at - level) for at, _ in self.runs), default=0)
        return [run for at, run in self.runs if abs(at - level) == nearest]

    def goodput(self, runs: Sequence[DrivenRun]) -> float | None:
        """Average the answers in each second that were right and in time; None where their times are not known."""
        shares = [1.0 if self.within_s is None else share_within(run.counts, self.within_s) for run in runs]
        rates = [run.rate * share for run, share in zip(runs, shares, strict=True) if share is not None]
        return fmean(rates) if rates and len(rates) == len(runs) else None


def read_loads(table: Table, factor: str) -> _Loads:
    rows = {row.run: row for row in table.successful_rows()}
    runs = [(rows[name], driven_run(record)) for name, record in read_named_records(table, [*rows.values()])]
    times = [table.study.responses[name] for name in limits_of(table.study)]
    within = [response.limit for response in times if response.limit and response.unit == "ns"]
    lawful = [(int(row.configuration[factor]), run) for row, run in runs if run is not None and run.is_lawful]
    return _Loads(lawful, max(within) / 1e9 if within else None)


def answered_share(loads: Sequence[DrivenRun]) -> float | None:
    """Return the share of the offered load that was answered.

    None where all was answered, but for chance, and where the load generator does not say what it offered.
    """
    shares = [(load.n_requests, load.rate / load.offered) for load in loads if load.offered]
    if not shares:
        return None
    share = fmean(each for _, each in shares)
    return share if 1 - share > SHORT + CHANCE / sqrt(sum(n for n, _ in shares)) else None


def load_beyond(loads: _Loads, over: Mapping[int, float], at: int) -> LoadBeyond | None:
    """Find what is saturated at the highest level beyond the limit, and how full that is at a level within it."""
    level = max((level for level, most in over.items() if most > 1), default=None)
    runs = [run for each, run in loads.runs if each == level]
    if level is None or not runs:
        return None
    near, rate = loads.near(at), fmean(run.rate for run in runs)
    # Where more load adds nothing, or not all of it is answered, requests wait for something.
    is_short = any(run.offered and run.rate < (1 - SHORT) * run.offered for run in runs)
    is_bounded = is_short or rate <= (1 + SHORT) * fmean(run.rate for run in near)
    return LoadBeyond(
        level=level, throughput=rate, goodput=loads.goodput(runs),
        within=part_uses(utilizations(near)), **saturation_fields(find_bottleneck(runs, None, is_bounded)),
    )  # fmt: skip


METHOD = "posterior over crossings of the limit, central credible range"


def answer(table: Table, samples: SampleMap, curves: Sequence[Curve]) -> Answer:
    search = begin(table.study, table.configurations)
    loads = read_loads(table, search.what)
    document = limit_document(table, search, loads)
    return Answer(
        document=document,
        decided=document is not None and document.decided,
        claim=limit_claim(table, samples, document),
        tables=limit_tables(table, document, loads) if document else (),
        doubts=[] if document and document.decided else [Caveat("search open")],
    )


def limit_document(table: Table, search: Search[LimitState], loads: _Loads) -> WithinLimit | None:
    """Make the document of a search; None where no run has a score."""
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
    near = loads.near(highest) if highest is not None else []
    over = {level: max(x for n, x in zip(state.at, state.over, strict=True) if n == level) for level in state.at}
    return WithinLimit(
        factor=search.what, response=table.view.primary, limit=limit, decided=crossing.is_known,
        others={name: x for name, x in limits_of(table.study).items() if name != table.view.primary},
        crossing=location, highest=highest, always=crossing.always, never=crossing.never,
        answered=answered_share(near), throughput=fmean(run.rate for run in near) if near else None,
        goodput=loads.goodput(near), beyond=load_beyond(loads, over, highest or search.first[0]),
        runs=[LimitedRun(level=n, over=over) for n, over in zip(state.at, state.over, strict=True)],
    )  # fmt: skip


_NOTE = (
    "over the limit: the response of a run over its limit; up to 1 the limit is met; throughput: right answers per "
    "second; goodput: those within the limit of the response time"
)


def limit_tables(table: Table, result: WithinLimit, loads: _Loads) -> list[TableDoc]:
    levels: dict[int, list[float]] = {}
    for run in result.runs:
        levels.setdefault(run.level, []).append(run.over)
    driven = {level: [run for at, run in loads.runs if at == level] for level in levels}
    rates: list[ItemColumn[tuple[int, list[float]]]] = [
        ("throughput", "number", lambda x: _mean_rate([run.rate for run in driven[x[0]]]), "1/s"),
        ("goodput", "number", lambda x: _mean_rate([loads.goodput(driven[x[0]])]), "1/s"),
    ]  # fmt: skip
    return [tabulate("within-limit", "Levels that were measured", sorted(levels.items()), [
        (table.view.title(result.factor), "label", lambda x: x[0], table.view.unit(result.factor)),
        ("least over the limit", "number", lambda x: round(min(x[1]), 3)),
        ("most over the limit", "number", lambda x: round(max(x[1]), 3)), ("runs", "number", lambda x: len(x[1])),
        *(rates if loads.runs else []),
    ], _NOTE)]  # fmt: skip


def _mean_rate(rates: Sequence[float | None]) -> float | None:
    present = [rate for rate in rates if rate is not None]
    return round(fmean(present), 1) if present else None
