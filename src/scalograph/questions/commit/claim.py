"""State which commit made a program slower, by how much of the whole, and what stays open."""

from collections.abc import Iterator

from scalograph.analysis.estimate import Estimate
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import AnswerCase
from scalograph.questions.claims import case, state
from scalograph.questions.commit.document import FIGURE, Commits, CommitStep, Interval, commit_name, is_commit
from scalograph.text.answer_form import change_cell
from scalograph.text.quantities import count_noun, two_digits

FORMS = {
    "one": "{who!s} takes {gain:change} time than {after}{gain:change_ci}.",
    "one of": "One of {who:or} takes {gain:change} time than {after}{gain:change_ci}.",
    "all": "Its share of the change from {good} to {bad} is {share}; it may be all of it.",
    "share": "That is {share} of the change from {good} to {bad}[[; {who:or} accounts for {second}]]"
    "[[; {rest} lies between {after} and {last}, place unknown]].",
    "failed": "Excluded: {n}, which could not be built or run.",
    "no slowdown": "No slowdown: {bad} takes {gain:change} time than {good}{gain:change_ci}.",
    "faster": "No slowdown: {bad} is faster than {good}. Exchange --good and --bad to find its commit.",
    "not seen": "Inconclusive: {bad} may take up to {most:at_most} more time than {good}; noise is {noise:percent}.",
    "not placed": "Inconclusive: the change lies between {after} and {last}; {n} runs do not identify its commit.",
    "no answer": "No answer: too few runs; {failed} of {n} failed.",
}


def commit_claim(table: Table, result: Commits | None) -> Claim:
    if result is None:
        failed = sum(row.status != "ok" for row in table.rows)
        return state(FORMS, [case("no answer", n=len(table.rows), failed=failed)])
    figure = FIGURE if len(result.versions) > 1 else ""
    return state(FORMS, [*_cases(result)], _matrix(table, result), figure)


def _noun(result: Commits) -> str:
    return "commit" if is_commit(result.good) else "version"


def _short(version: str) -> str:
    return commit_name(version).partition(" (")[0]


def _cases(result: Commits) -> Iterator[AnswerCase]:
    ends = {"good": _short(result.good), "bad": _short(result.bad)}
    if not result.slower:
        yield _no_slowdown(result, ends)
    elif not result.steps:
        gap = max(result.open, key=lambda gap: gap.share[1])
        yield case("not placed", after=_short(gap.after), last=_short(gap.last), n=result.n)
    else:
        yield _step_case(result.steps[0])
        yield _share_case(result, ends)
    if result.failed:
        yield case("failed", n=count_noun(len(result.failed), _noun(result)))


def _no_slowdown(result: Commits, ends: dict[str, str]) -> AnswerCase:
    low, value, high = result.whole
    if high < 1:
        return case("faster", **ends)
    if result.decided:
        return case("no slowdown", gain=[Estimate(value, low, high, 0.95)], **ends)
    return case("not seen", most=high - 1, noise=result.noise, **ends)


def _step_case(step: CommitStep) -> AnswerCase:
    low, value, high = step.factor
    gain, names = [Estimate(value, low, high, 0.95)], [*map(commit_name, step.candidates)]
    after = "the commit before it" if is_commit(step.after) and len(names) == 1 else _short(step.after)
    return (
        case("one", who=names[0], after=after, gain=gain)
        if len(names) == 1
        else case("one of", who=names, after=after, gain=gain)
    )


def _share_case(result: Commits, ends: dict[str, str]) -> AnswerCase:
    """State the share of the first step, and what the next one, or what is not resolved, has of the change."""
    first, *others = result.steps
    if not others and not result.open and first.share[0] < 1 < first.share[2]:
        return case("all", share=_percent(first.share), **ends)
    values = dict[str, object](share=_percent(first.share), **ends)
    if others:
        values |= {"second": _percent(others[0].share), "who": [*map(commit_name, others[0].candidates)]}
    elif result.open:
        gap = result.open[0]
        values |= {"rest": _percent(gap.share), "after": _short(gap.after), "last": _short(gap.last)}
    return case("share", **values)


def _percent(share: Interval) -> str:
    low, value, high = (two_digits(100 * x) for x in share)
    return f"{value}% [{low}\N{EN DASH}{high}]"


def _matrix(table: Table, result: Commits) -> Matrix | None:
    rows = [
        _row(" or ".join(map(commit_name, step.candidates)), step.share, change_cell(_estimate(step.factor)))
        for step in result.steps
    ]
    rows += [_row(f"{_short(gap.after)} to {_short(gap.last)}", gap.share, "inconclusive") for gap in result.open]
    return Matrix(
        title=table.view.primary_title, unit="", better=table.view.response.better, rows_are=_noun(result),
        columns=["change of time", "share of the slowdown"], rows=rows,
        note=f"{result.n_built} of {result.n_versions} versions measured, each beside both ends; {result.n} runs",
    ) if rows else None  # fmt: skip


def _estimate(ends: Interval) -> Estimate:
    low, value, high = ends
    return Estimate(value, low, high, 0.95)


def _row(label: str, share: Interval, change: str) -> MatrixRow:
    return MatrixRow(label=label, cells=[MatrixCell(text=change), MatrixCell(text=_percent(share))])
