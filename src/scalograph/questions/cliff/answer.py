"""Answer where the time jumps: the search is replayed from its runs."""

from collections.abc import Sequence
from math import exp

from scalograph.findings.answer import Answer, SampleMap
from scalograph.findings.sample import replay_runs
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve
from scalograph.questions.cliff.claim import cause_sentences, cliff_claim
from scalograph.questions.cliff.document import CliffDoc, Cliffs
from scalograph.questions.cliff.model_evidence import LEAST
from scalograph.questions.cliff.search_state import begin
from scalograph.questions.cliff.tables import cliff_tables
from scalograph.text.warning_catalog import Caveat


def answer(table: Table, samples: SampleMap, curves: Sequence[Curve]) -> Answer:
    document, flags = cliffs(table), [Caveat("nothing known", {"what": "a cliff"})]
    if document:
        flags = [] if document.decided else [Caveat("search open", {"n": document.n})]
    return Answer(
        document=document, decided=document is not None and document.decided, claim=cliff_claim(table, document),
        sentences=cause_sentences(table, document), tables=cliff_tables(table, samples, document), doubts=flags,
    )  # fmt: skip


def cliffs(table: Table) -> Cliffs | None:
    """Make the document of a search; None where there are too few runs."""
    search = begin(table.study, table.configurations)
    state = replay_runs(search, table)
    weighed = state.sure or ([state.open] if state.open else [])
    if not weighed:
        return None
    sure = [
        CliffDoc(
            location=cliff.location, low=cliff.interval[0], high=cliff.interval[1], factor=cliff.factor,
            probability=cliff.probability, gradual=cliff.gradual,
        )
        for cliff in sorted(state.sure, key=lambda cliff: cliff.location)
    ]  # fmt: skip
    return Cliffs(
        factor=search.what, decided=state.is_decided, cliffs=sure,
        probability=max(cliff.probability for cliff in weighed),
        another=state.open.probability if state.open and state.sure else None,
        likely=state.open.location if state.open else None,
        n_more=state.open.n_more if state.open and not state.is_decided else None,
        alternates=state.alternates, wanders=state.wandering,
        jump=state.jump if state.wandering else None, n=len(state.n), least=exp(LEAST),
    )  # fmt: skip
