"""Assemble the findings of a table in the one document that reports read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from scalograph.errors import ProtocolError, StudyError
from scalograph.findings import cold_runs, missing_balance, overview
from scalograph.findings.answer import Answer, SampleMap
from scalograph.findings.configuration_tables import baseline_table, configuration_tables, pivot_tables
from scalograph.findings.curves import make_curves
from scalograph.findings.missing_balance import exclusion_table
from scalograph.findings.published.claim_modes import agree_in_modes
from scalograph.findings.published.published_claims import UNKNOWN, OfferedQuantity, decide_claims
from scalograph.findings.published.published_curves import claims_table, make_published_curves
from scalograph.findings.published.published_quantities import curve_lookup, make_published_table
from scalograph.findings.quality_flags import bias_bounds, find_flags, flag_physics, summarize_flags
from scalograph.findings.run_notes import machine_sentences, summarize_notes
from scalograph.findings.sample import drop_unmeasured
from scalograph.findings.study_verdict import judge_study, study_caveats
from scalograph.findings.table import Table
from scalograph.findings.visible_effect import EffectNotes, estimate_noise, tails_table
from scalograph.findings.whole_run import comparable_samples
from scalograph.protocol.findings import Curve, Findings, Part, TableDoc
from scalograph.protocol.published_claim import DecidedClaim
from scalograph.questions.claims import add_partners, add_published, add_varied, first_claim
from scalograph.questions.comparison import declared_claim
from scalograph.questions.registry import answering_questions, has_curves, publishing_questions, role
from scalograph.text.load_words import bad_ends
from scalograph.text.reproduced import outcome
from scalograph.text.short_names import shorten

LONGEST = 2000  # characters of a sentence: levels may be texts of any length

T = TypeVar("T")


def findings(table: Table, folder: Path | None = None, reproduce: Sequence[str] = ()) -> Findings:
    """Make the findings of a study.

    `folder`: where the study's own files are; None leaves the published figures out.
    """
    taken = drop_unmeasured(table, comparable_samples(table))
    every, asked = list(taken.values()), table.study.question
    drawn = make_curves(table, taken) if has_curves(asked) else []
    bound, cold = bias_bounds(table, taken), cold_runs.flag_cold_runs(table, drawn, taken)
    marked_by = find_flags(table, drawn, taken, bound, flag_physics(table, drawn, taken))
    answers, silent = _answers(table, taken, drawn)
    drawn = [*next((answer.curves for answer in answers.values() if answer.curves is not None), drawn)]
    fair, varying = missing_balance.compare_losses(table, every), overview.list_undeclared_differences(table)
    # A search weighs all its runs together: what those of one level would show says nothing of its answer.
    floor = None if table.view.is_search else estimate_noise(table, every)
    lookup = next((answer.at_levels for answer in answers.values() if answer.at_levels), None)
    published, missed = make_published_table(table, lookup or curve_lookup(drawn), folder) if folder else (None, [])
    reasons = [*study_caveats(table, every, floor, varying), *missing_balance.imbalance_caveats(table, fair), *cold]
    reasons += [*_concatenate(answers.values(), lambda answer: answer.doubts), *cold_runs.drift_caveats(table, every)]
    decided = decide_claims(table, taken, partial(_find_offer, asked, answers, silent), lookup)
    decided = agree_in_modes(table, taken, decided, _decide)
    below = [baseline_table(table, taken), exclusion_table(table, every, fair), claims_table(decided), published]
    # A question of its own, where the study asks one, is answered before what every study is asked.
    own, readings = [answers[asked]] if asked in answers else [], [answers[name] for name in answers if name != asked]
    sentences = [*_concatenate([*own, *readings], lambda answer: answer.sentences)]
    noted = _concatenate(answers.values(), lambda answer: answer.warnings)
    counts, beside = overview.count_runs(table, every), make_published_curves(table, drawn, folder)
    claim = declared_claim(table, taken) or first_claim([*own, *readings], sentences)
    claim = add_varied(add_partners(add_published(claim, beside), counts), table.study.protocol.vary)
    others = [text for x in (*own, *readings) if x.claim for text in x.claim.sentences]
    all_told = dict.fromkeys((*claim.sentences, *others, *sentences, *outcome(decided, published)))
    return Findings(
        study=overview.describe_study(table), machine=dict(table.machine), runs=counts,
        trust=judge_study(table, every, reasons, summarize_flags(table, marked_by, bound, claim), floor),
        claim=claim, published_claims=decided, published_curves=beside, answer=[shorten(x, LONGEST) for x in all_told],
        curves=drawn, parts={**silent, **{name: answer.part() for name, answer in answers.items()}},
        tables=_tables(table, taken, drawn, own, readings, [doc for doc in below if doc]),
        timelines=overview.read_timelines(every, table.view.primary, table.file, table.study.protocol.warmup),
        residue=varying, traces=overview.read_traces(every, table.view.primary, table.file),
        warnings=[*table.warnings, *table.dropped, *bad_ends(table.services),
                  *summarize_notes(table.notes, table.noise), *machine_sentences(table.rows), *counts.partners,
                  *missed, *noted, *overview.warn_too_long(table)],
        noise=floor, noise_since=table.noise.model_dump(mode="json") if table.noise else None,
        degraded=overview.list_degradations(table.rows), reproduce=list(reproduce), log=overview.run_log(table, taken),
    )  # fmt: skip


def _decide(table: Table) -> list[DecidedClaim]:
    """Decide the claims of a table anew."""
    taken = drop_unmeasured(table, comparable_samples(table))
    answers, silent = _answers(table, taken, make_curves(table, taken) if has_curves(table.study.question) else [])
    lookup = next((answer.at_levels for answer in answers.values() if answer.at_levels), None)
    return decide_claims(table, taken, partial(_find_offer, table.study.question, answers, silent), lookup)


def _answers(table: Table, taken: SampleMap, drawn: Sequence[Curve]) -> tuple[dict[str, Answer], dict[str, Part]]:
    answers, silent = dict[str, Answer](), dict[str, Part]()
    for name in answering_questions(table.study.question):
        module = role(name, "answer")
        reason: str | None = None if name == table.study.question else module.applies(table)
        if reason is None:
            answers[name] = _label_tables(name, _answer(module, table, taken, drawn))
        else:
            silent[name] = Part(applies=reason)
    return answers, silent


def _answer(module: ModuleType, table: Table, taken: SampleMap, drawn: Sequence[Curve]) -> Answer:
    """Answer. Raises ProtocolError where a plan would be refused: no journal of ours holds one."""
    try:
        reply: Answer = module.answer(table, taken, drawn)
    except StudyError as error:
        first = error.problems[0]
        raise ProtocolError(f"journal: {first.where}", first.found, first.expected, "take a whole copy") from error
    return reply


def _find_offer(
    asked: str, answers: Mapping[str, Answer], silent: Mapping[str, Part], quantity: str
) -> OfferedQuantity:
    """Find the quantity that the question or a reading offers under this name to a published claim."""
    name = next((name for name in publishing_questions(asked) if quantity in role(name, "published").QUANTITIES), None)
    if name is None:  # a study of another release
        return OfferedQuantity(quantity, silent="its question offers no such figure")
    module = role(name, "published")
    words, document = module.QUANTITIES[quantity], answers[name].document if name in answers else None
    if document is None:
        return OfferedQuantity(words, silent=silent[name].applies if name in silent else UNKNOWN)
    values = module.quantities(document).get(quantity)
    return OfferedQuantity(words, silent=UNKNOWN) if values is None else OfferedQuantity(words, values)


def _label_tables(name: str, answer: Answer) -> Answer:
    both = answer.tables, answer.below
    tables, below = ([doc.model_copy(update={"question": name}) for doc in docs] for docs in both)
    return replace(answer, tables=tables, below=below)


def _tables(
    table: Table, taken: SampleMap, drawn: Sequence[Curve], own: Sequence[Answer], readings: Sequence[Answer],
    below: Sequence[TableDoc],
) -> list[TableDoc]:  # fmt: skip
    """List tables of the question, those that the study declares, those of readings, those of every study."""
    visible, every = EffectNotes(table), list(taken.values())
    shown = [*_concatenate(own, lambda answer: answer.tables), *pivot_tables(table, taken, drawn, visible)]
    shown += _concatenate(readings, lambda answer: answer.tables)
    if has_curves(table.study.question):
        shown += [*tails_table(table, taken), *configuration_tables(table, drawn, taken, visible)]
    below = [*_concatenate([*own, *readings], lambda answer: answer.below), *below]
    return [*shown, *(visible.add_note(doc, every) for doc in below)]


def _concatenate(answers: Iterable[Answer], part: Callable[[Answer], Sequence[T]]) -> list[T]:
    return [item for answer in answers for item in part(answer)]
