"""Answer which commit made a program slower: the search is replayed from its runs."""

from collections.abc import Sequence
from math import exp

from scalograph.findings.answer import Answer, SampleMap, tabulate
from scalograph.findings.sample import replay_runs
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve, TableDoc
from scalograph.questions.commit.claim import commit_claim
from scalograph.questions.commit.document import Commits, CommitStep, Interval, MeasuredVersion, OpenGap, commit_name
from scalograph.questions.commit.model import Effect
from scalograph.questions.commit.search_state import ERROR, FURTHER, CommitState, Gap, begin
from scalograph.text.warning_catalog import Caveat


def answer(table: Table, samples: SampleMap, curves: Sequence[Curve]) -> Answer:
    search = begin(table.study, table.configurations)
    state = replay_runs(search, table)
    document = commits_document(search.what, state)
    flags = [Caveat("nothing known", {"what": "a slowdown"})]
    if document:
        flags = [] if document.decided else [Caveat("search open", {"n": document.n})]
    return Answer(
        document=document, decided=document is not None and document.decided, claim=commit_claim(table, document),
        tables=[_versions_table(table, document)] if document else [], doubts=flags,
    )  # fmt: skip


def commits_document(factor: str, state: CommitState) -> Commits | None:
    """Make the document of a search; None where there are too few runs."""
    estimates, names = state.effects, state.names
    if estimates is None:
        return None
    quantile = estimates.quantile(0.025)

    def ends(effect: Effect) -> Interval:
        return effect.value - quantile * effect.error, effect.value, effect.value + quantile * effect.error

    def share(gap: Gap) -> Interval:
        return tuple(x / estimates.whole.value for x in ends(gap.change))  # type: ignore[return-value]

    def step(gap: Gap) -> CommitStep:
        return CommitStep(
            after=names[gap.first], candidates=[*names[gap.first + 1 : gap.last + 1]], n=gap.change.n,
            factor=tuple(map(exp, ends(gap.change))), share=share(gap),
        )  # fmt: skip

    def version(index: int) -> MeasuredVersion:
        change = estimates.change(0, index, state.ends)
        return MeasuredVersion(index=index, name=names[index], n=change.n, factor=tuple(map(exp, ends(change))))

    gaps = state.steps() if state.is_slower else []
    least = FURTHER * estimates.whole.value
    sure = [gap for gap in gaps if not gap.open and gap.change.exceeds(least, estimates.quantile(ERROR))]
    unsure = [gap for gap in gaps if gap not in sure]
    return Commits(
        factor=factor, decided=state.is_decided, good=names[0], bad=names[-1], n_versions=len(names),
        whole=tuple(map(exp, ends(estimates.whole))), slower=state.is_slower, even=exp(state.even) - 1,
        steps=[step(gap) for gap in sure],
        open=[OpenGap(after=names[gap.first], last=names[gap.last], share=share(gap)) for gap in unsure],
        versions=[version(index) for index in sorted({*estimates.between, state.ends[1]})],
        failed=[names[i] for i in sorted(state.failing)], n_built=2 + len(estimates.between),
        n=sum(2 + (block.version is not None) for block in state.blocks), noise=estimates.sigma,
        n_more=None if state.is_decided else state.n_more,
    )  # fmt: skip


def _versions_table(table: Table, document: Commits) -> TableDoc:
    """List the measured versions in order: what each takes over the good one."""
    return tabulate("commit-versions", "Versions that were measured", document.versions, [
        (table.view.title(document.factor), "label", lambda x: commit_name(x.name)),
        ("time over the good one", "text", lambda x: "{1:.3f} [{0:.3f}, {2:.3f}]".format(*x.factor)),
        ("blocks", "number", lambda x: x.n),
    ])  # fmt: skip
