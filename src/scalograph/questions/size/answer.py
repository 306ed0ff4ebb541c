"""Answer what a program needs at least: the searches are replayed from their runs."""

from collections.abc import Callable, Mapping, Sequence

from scalograph.analysis.crossing import CREDIBLE, SURE
from scalograph.analysis.estimate import Estimate
from scalograph.findings.answer import Answer, SampleMap, tabulate
from scalograph.findings.sample import replay_runs
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve, TableDoc
from scalograph.protocol.plain import Level
from scalograph.questions.size.claim import size_claim
from scalograph.questions.size.document import ConfirmedNeed, Size, SizedRun, SizeNeed
from scalograph.questions.size.model import AmountSearch
from scalograph.questions.size.search_state import SizeState, begin
from scalograph.text.warning_catalog import Caveat

METHOD = "posterior over crossings of the limit, central credible range"


def answer(table: Table, samples: SampleMap, curves: Sequence[Curve]) -> Answer:
    state = replay_runs(begin(table.study, table.configurations), table)
    document = size_document(table, state)
    decided = document is not None and all(need.decided for need in document.needs) and state.next_level is None
    return Answer(
        document=document,
        decided=decided,
        claim=size_claim(table, samples, document),
        tables=size_tables(table, document) if document else (),
        doubts=[] if decided else [Caveat("search open")],
    )


def size_document(table: Table, state: SizeState) -> Size | None:
    """Make the document of the searches; None where no run was made."""
    limit = table.view.response.limit
    needs = [_need(search) for search in state.searches if search.crossing is not None]
    if not needs or limit is None:
        return None
    last = next((each for each in reversed(state.tries) if each.is_over), None)
    together = last and ConfirmedNeed(levels=dict(last.levels), over=last.over, keeps=last.keeps)
    return Size(response=table.view.primary, limit=limit, needs=needs, together=together)


def _need(search: AmountSearch) -> SizeNeed:
    crossing, beside = search.crossing, dict[str, Level](search.beside)
    assert crossing is not None
    if max(crossing.always, crossing.never) >= SURE:
        need = Estimate(None, None, None, CREDIBLE, crossing.n, METHOD, ("it lies outside the range",))
    else:
        need = Estimate(1 / crossing.level, 1 / crossing.high, 1 / crossing.low, CREDIBLE, crossing.n, METHOD)
    runs = [SizedRun(level=level, over=over) for level, over in zip(search.at, search.over, strict=True)]
    return SizeNeed(
        factor=search.factor, beside=beside, decided=crossing.is_known, need=need, always=crossing.always,
        never=crossing.never, runs=runs,
    )  # fmt: skip


_NOTE = "over the limit: the response of a run over its limit; up to 1 it is within the limit"


def size_tables(table: Table, result: Size) -> list[TableDoc]:
    """Lay out the levels that were measured, a table for each amount."""
    return [_levels_table(table, need) for need in result.needs]


def _levels_table(table: Table, need: SizeNeed) -> TableDoc:
    levels: dict[float, list[float | None]] = {}
    for run in need.runs:
        levels.setdefault(run.level, []).append(run.over)
    title, unit = table.view.title(need.factor), table.view.unit(need.factor)
    return tabulate(f"size-{need.factor}", f"Levels of {title} that were measured", sorted(levels.items()), [
        (title, "label", lambda x: x[0], unit),
        ("least over the limit", "number", lambda x: _extreme(min, x[1])),
        ("most over the limit", "number", lambda x: _extreme(max, x[1])),
        ("failed", "number", lambda x: x[1].count(None)), ("runs", "number", lambda x: len(x[1])),
    ], _NOTE)  # fmt: skip


def _extreme(choose: Callable[[list[float]], float], scores: Sequence[float | None]) -> float | None:
    succeeded = [score for score in scores if score is not None]
    return round(choose(succeeded), 3) if succeeded else None


def amounts(document: Size) -> Mapping[str, Estimate]:
    """Return what is needed at least of each amount."""
    return {need.factor: need.need for need in document.needs}
