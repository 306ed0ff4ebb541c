"""All findings of a table, in the one document that reports read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from scalograph.errors import ProtocolError, StudyError
from scalograph.findings import cold_runs, missing_balance, physics_doubts
from scalograph.findings.answer import Answer, Taken, from_text
from scalograph.findings.baselines import baseline_table
from scalograph.findings.curves import curves
from scalograph.findings.doubts import doubts
from scalograph.findings.error_bound import bounds
from scalograph.findings.machine_notes import notes, restored_sentences
from scalograph.findings.marked import marked, marks
from scalograph.findings.missing_balance import excluded_table
from scalograph.findings.names import brief
from scalograph.findings.overview import declared, degraded, run_counts
from scalograph.findings.published.offered_quantities import OfferHere
from scalograph.findings.published.published_claims import decided_claims
from scalograph.findings.published.published_curves import claims_table, published_curves
from scalograph.findings.published.published_quantities import of_curves, published_table
from scalograph.findings.run_log import residue, run_log, too_long
from scalograph.findings.sample import measured
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.findings.timelines import timelines, traces
from scalograph.findings.treatment_tables import declared_tables, treatment_tables
from scalograph.findings.trust import trust
from scalograph.findings.visible_effect import Visible, noise, tails_table
from scalograph.findings.whole_run import samples
from scalograph.protocol.findings import Claim, Curve, Findings, Part, TableDoc
from scalograph.questions.claims import first_claim
from scalograph.questions.registry import answering, has_curves, is_search, offering, role
from scalograph.text.load_words import bad_ends
from scalograph.text.reproduced import outcome

# Characters of a sentence: levels may be texts of any length.
LONGEST = 2000

T = TypeVar("T")


def findings(table: Table, folder: Path | None = None, reproduce: Sequence[str] = ()) -> Findings:
    """Make the findings of a study.

    Args:
        table: its runs.
        folder: where the study's own files are; None leaves the published figures out.
        reproduce: command lines that would make these results again.
    """
    taken = measured(table, samples(table))
    every, asked = list(taken.values()), table.study.question
    drawn = curves(table, taken) if has_curves(asked) else []
    bound, cold = bounds(table, taken), cold_runs.examine(table, drawn, taken)
    marked_by = marks(table, drawn, taken, bound, physics_doubts.examine(table, drawn, taken))
    answers, silent = _answers(table, taken, drawn)
    drawn = [*next((said.curves for said in answers.values() if said.curves is not None), drawn)]
    fair, varying = missing_balance.shares(table, every), residue(table)
    # A search weighs all its runs together: what those of one level would show says nothing of its answer.
    floor = None if is_search(asked) else noise(every, primary(table), table.study.protocol.confidence)
    lookup = next((said.at_levels for said in answers.values() if said.at_levels), None)
    published, missed = published_table(table, lookup or of_curves(drawn), folder) if folder else (None, [])
    reasons = [*doubts(table, every, floor, varying), *missing_balance.doubt(table, fair), *cold]
    reasons += [*map(from_text, _each(answers.values(), lambda said: said.doubts)), *cold_runs.doubt(table, every)]
    decided = decided_claims(table, taken, partial(_offered, asked, answers, silent), lookup)
    below = [baseline_table(table, taken), excluded_table(table, every, fair), claims_table(decided), published]
    # A question of its own, where the study asks one, is answered before what every study is asked.
    own, readings = [answers[asked]] if asked in answers else [], [answers[name] for name in answers if name != asked]
    told = [*_each([*own, *readings], lambda said: said.sentences)]
    noted = _each(answers.values(), lambda said: said.warnings)
    claim = first_claim([*own, *readings], told)
    others = _each([*own, *readings], lambda said: _second(said, claim))
    all_told = dict.fromkeys((*claim.sentences, *others, *told, *outcome(decided, published)))
    return Findings(
        study=declared(table), machine=dict(table.machine), runs=run_counts(table, every),
        trust=trust(table, every, reasons, marked(table, marked_by, bound, claim), floor),
        claim=claim, published_claims=decided, published_curves=published_curves(table, drawn, folder),
        answer=[brief(text, LONGEST) for text in all_told],
        curves=drawn, parts={**silent, **{name: said.part() for name, said in answers.items()}},
        tables=_tables(table, taken, drawn, own, readings, [doc for doc in below if doc]),
        timelines=timelines(every, primary(table), table.file, table.study.protocol.warmup), residue=varying,
        traces=traces(every, primary(table), table.file),
        warnings=[*table.warnings, *table.dropped, *bad_ends(table.services), *notes(table.notes, table.noise),
                  *restored_sentences(table.rows), *missed, *noted, *too_long(table)],
        noise=floor, noise_since=table.noise.model_dump(mode="json") if table.noise else None,
        degraded=degraded(table.rows), reproduce=list(reproduce), log=run_log(table, taken),
    )  # fmt: skip


def _answers(table: Table, taken: Taken, drawn: Sequence[Curve]) -> tuple[dict[str, Answer], dict[str, Part]]:
    """What each question or reading says of the study, and the parts of those that say nothing, which tell why."""
    answers, silent = dict[str, Answer](), dict[str, Part]()
    for name in answering(table.study.question):
        module = role(name, "answer")
        why: str | None = None if name == table.study.question else module.applies(table)
        if why is None:
            answers[name] = _belonging(name, _answer(module, table, taken, drawn))
        else:
            silent[name] = Part(applies=why)
    return answers, silent


def _answer(module: ModuleType, table: Table, taken: Taken, drawn: Sequence[Curve]) -> Answer:
    """Raises ProtocolError where a plan would be refused: no journal of ours holds one."""
    try:
        said: Answer = module.answer(table, taken, drawn)
    except StudyError as error:
        first = error.problems[0]
        raise ProtocolError(f"journal: {first.where}", first.found, first.expected, "take a whole copy") from error
    return said


def _second(said: Answer, first: Claim) -> Sequence[str]:
    """What an answer claims, where another one stands first."""
    return said.claim.sentences if said.claim and said.claim is not first else ()


def _offered(asked: str, answers: Mapping[str, Answer], silent: Mapping[str, Part], quantity: str) -> OfferHere:
    """What the question or a reading offers under this name to the claims of a paper."""
    name = next((name for name in offering(asked) if quantity in role(name, "published").QUANTITIES), None)
    if name is None:  # a study of another release
        return OfferHere(quantity, silent="its question offers no such figure")
    module = role(name, "published")
    words, document = module.QUANTITIES[quantity], answers[name].document if name in answers else None
    if document is None:
        return OfferHere(words, silent=silent[name].applies if name in silent else "nothing is known of it")
    found = module.quantities(document).get(quantity)
    return OfferHere(words, silent="nothing is known of it") if found is None else OfferHere(words, found)


def _belonging(name: str, said: Answer) -> Answer:
    """The answer, its tables with the name of whose they are."""
    tables, below = ([doc.model_copy(update={"question": name}) for doc in docs] for docs in (said.tables, said.below))
    return replace(said, tables=tables, below=below)


def _tables(
    table: Table,
    taken: Taken,
    drawn: Sequence[Curve],
    own: Sequence[Answer],
    readings: Sequence[Answer],
    below: Sequence[TableDoc],
) -> list[TableDoc]:
    """Those of the question, those that the study declares, those of readings, those that every study has."""
    visible, every = Visible(table), list(taken.values())
    shown = [*_each(own, lambda said: said.tables), *declared_tables(table, taken, drawn, visible)]
    shown += _each(readings, lambda said: said.tables)
    if has_curves(table.study.question):
        shown += [*tails_table(table, taken), *treatment_tables(table, drawn, taken, visible)]
    below = [*_each([*own, *readings], lambda said: said.below), *below]
    return [*shown, *(visible.beside(doc, every, primary(table)) for doc in below)]


def _each(answers: Iterable[Answer], part: Callable[[Answer], Sequence[T]]) -> list[T]:
    return [one for said in answers for one in part(said)]
