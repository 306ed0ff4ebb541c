"""Choose the claim that stands first: that of the question, or of the first reading with one."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from scalograph.findings.answer import Answer, SampleMap
from scalograph.findings.sample import Sample
from scalograph.findings.study_verdict import why_unusable, worst_cause
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, RunsDoc
from scalograph.protocol.plain import AnswerCase, Level
from scalograph.protocol.published_claim import PublishedCurve
from scalograph.study.responses import limits_of
from scalograph.text.answer_form import fill
from scalograph.text.format import DASH, number
from scalograph.text.scale import scale_for
from scalograph.text.short_names import join_names, shorten
from scalograph.text.summaries import variation_text
from scalograph.text.warning_catalog import warning_text

NOTHING = "Inconclusive: the study has no result yet."
MOST_SENTENCES, MOST_WORDS = 3, 60
MOST_REASON = 120  # characters of why a run failed
SPEEDUP = "speedup"  # as published curves name it


def first_claim(answers: Sequence[Answer], sentences: Sequence[str]) -> Claim:
    """Choose the claim of a study: one that answers stands before one that says why it cannot be said.

    `answers`: that of the question first, then of the readings; `sentences`: they stand where none makes a claim.

    >>> first_claim([], []).sentences
    ['Inconclusive: the study has no result yet.']
    """
    claims = [answer.claim for answer in answers if answer.claim is not None]
    answering = [claim for claim in claims if claim.answered]
    if claims:
        return (answering or claims)[0]
    return Claim(sentences=list(sentences[:MOST_SENTENCES]) or [NOTHING], answered=bool(sentences))


def why_unanswerable(table: Table, taken: SampleMap) -> str:
    """Say why nothing can be stated of the values that a study is about; empty where it can.

    By the rule by which the verdict rejects a study: what is not rejected for its runs is answered with them.
    """
    runs = [row for sample in taken.values() for row in sample.succeeded]
    n_failed = sum(sample.n_failed for sample in taken.values())
    reason = why_unusable(table, runs, n_failed, table.view.primary in table.view.cpu_responses)
    text = warning_text(reason.code, **{**reason.values, "why": ""}) if reason else ""
    text = f"{text[:1].lower()}{text[1:]}"
    return add_failure(text, table) if n_failed and not runs else text


def add_failure(text: str, table: Table, levels: Mapping[str, Level] = MappingProxyType({})) -> str:
    """Add to a text why the first run failed that has these levels; the text alone where none did."""
    reason = failure(table, levels)
    return f"{text} ({reason})" if reason else text


def failure(table: Table, levels: Mapping[str, Level]) -> str:
    """Return why the first run with these levels failed; empty where none did."""
    failed = (row for row in table.rows if row.status != "ok" and levels.items() <= row.configuration.items())
    return shorten(next((row.reason for row in failed if row.reason), ""), MOST_REASON)


def missing_response(table: Table, taken: SampleMap, response: str) -> str:
    """Say that no run recorded a response, and what was recorded instead."""
    measured = [name for name in table.study.responses if any(sample.scores(name) for sample in taken.values())]
    instead = f"; recorded: {join_names([table.view.title(name) for name in measured])}" if measured else ""
    return f"{table.view.title(response)} was not recorded{instead}"


def limit_texts(table: Table, form: str) -> list[str]:
    """Return what a study limits, each as `form` has `response` and `limit`, the primary response first."""
    texts = []
    for name, limit in sorted(limits_of(table.study).items(), key=lambda each: each[0] != table.view.primary):
        scale = scale_for(table.study.responses[name].unit, [limit])
        unit = scale.unit if scale.unit in ("", "%") else f" {scale.unit}"
        texts.append(form.format(response=table.view.title(name), limit=f"{number(limit, scale)}{unit}"))
    return texts


def worst_disturbance(table: Table) -> str:
    """Name what disturbed runs most often, in the words of the worst one; empty where half are clean."""
    ok = [row for row in table.rows if row.status == "ok" and not row.warmup]
    return worst_cause(ok) if 2 * sum(row.verdict == "disturbed" for row in ok) > len(ok) else ""


def why_unpaired(table: Table, measured: Sequence[Sample], base: Mapping[str, Level]) -> str:
    """Say why nothing stands beside its baseline or reference, where nothing does."""
    shown, n = table.view.short_levels(base), sum(base.items() <= s.configuration.items() for s in measured)
    if n in (0, len(measured)):
        return f"{'no other run than' if n else 'no run'} with {shown} succeeded"
    return f"no runs with {shown} and with another are alike in all else"


def case(name: str, /, **values: object) -> AnswerCase:
    return AnswerCase(case=name, values=values)


def state(
    forms: Mapping[str, str], cases: Sequence[AnswerCase], matrix: Matrix | None = None, figure: str = ""
) -> Claim:
    """Make the claim of cases, the gravest first: as many sentences as have room.

    A case whose form begins with `Inconclusive` or `No answer` does not answer.
    """
    kept = limit_sentences([fill(forms[x.case], x.values) for x in cases])
    answered = not kept[0].startswith(("Inconclusive", "No answer"))
    return Claim(sentences=kept, cases=list(cases[: len(kept)]), answered=answered, matrix=matrix, figure=figure)


def add_varied(claim: Claim, names: Sequence[str], each: str = "block") -> Claim:
    """End a claim with what was drawn anew for `each` block or pair; it may replace the last sentence."""
    return add_sentence(claim, variation_text(names, each)) if names else claim


def add_partners(claim: Claim, runs: RunsDoc) -> Claim:
    """End a claim with the CPU time that it does not include: that of processes outside the runs."""
    return add_sentence(claim, f"{runs.partners[0]}.") if runs.partners else claim


def add_sentence(claim: Claim, text: str) -> Claim:
    """End a claim with a sentence without a form; it replaces the last one if there are too many."""
    kept = [other for other in claim.sentences if other != text][: MOST_SENTENCES - 1]
    return claim.model_copy(update={"sentences": [*kept, text], "cases": claim.cases[: len(kept)]})


def add_published(claim: Claim, curves: Sequence[PublishedCurve]) -> Claim:
    """Add what a paper has of the speedups that the first sentence states."""
    points = [({**curve.group, curve.factor: point.level}, point) for curve in curves for point in curve.points]
    values = [x.values[SPEEDUP] for levels, x in points if levels in claim.about and SPEEDUP in x.values]
    return claim.model_copy(update={"published": published_text([values])}) if values else claim


def published_text(ratios: Sequence[Sequence[float]]) -> str:
    """Format published ratios of each comparison, the least and the largest; empty without any.

    >>> published_text([[1.98, 1.81, 1.9], [], [3.0]]), published_text([[], []])
    ('Published: 1.81× to 1.98×; –; 3×.', '')
    """
    every = [dict.fromkeys(f"{x:.3g}\N{MULTIPLICATION SIGN}" for x in sorted(some)) for some in ratios]
    parts = [" to ".join(dict.fromkeys([*some][:: max(len(some) - 1, 1)])) or DASH for some in every]
    return f"Published: {'; '.join(parts)}." if any(ratios) else ""


def limit_sentences(sentences: Iterable[str]) -> list[str]:
    """Keep as many sentences as a claim has room for, the first one in any case."""
    kept: list[str] = []
    for text in sentences:
        if kept and (len(kept) == MOST_SENTENCES or len(" ".join([*kept, text]).split()) > MOST_WORDS):
            break
        kept.append(text)
    return kept
