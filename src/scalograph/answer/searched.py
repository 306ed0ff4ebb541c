"""The answers of questions that are searched: their figures, and what people are told first."""

from collections.abc import Mapping
from dataclasses import dataclass

from scalograph.answer.break_even import QUESTION, break_even, told_again
from scalograph.answer.break_even_published import at_levels
from scalograph.answer.break_even_words import break_even_sentences, break_even_tables, open_break_even
from scalograph.answer.cliff_words import cliff_sentence, cliff_tables, open_cliffs
from scalograph.answer.cliffs import cliffs
from scalograph.answer.effective import effective, open_question
from scalograph.answer.effective_words import effective_sentences, effective_tables
from scalograph.answer.published import Lookup
from scalograph.answer.sample import Sample
from scalograph.findings import BreakEven, Cliffs, EffectiveCpus, Level, TableDoc
from scalograph.table import Table


@dataclass(frozen=True)
class Searched:
    """What was searched: each figure None or empty where the study asks for something else.

    Attributes:
        sentences: the answer in words, before what every study is asked.
        tables: before those of every study.
        doubts: why the search is not to be believed, or has no answer.
        at_levels: where runs were compared pair by pair, and no treatment stands for itself: what is known of one.
    """

    effective_cpus: list[EffectiveCpus]
    cliffs: Cliffs | None
    break_even: BreakEven | None
    sentences: list[str]
    tables: list[TableDoc]
    doubts: list[str]
    at_levels: Lookup | None


def searched(table: Table, taken: Mapping[tuple[Level, ...], Sample]) -> Searched:
    """All of them."""
    used, jumps, compared = effective(table, taken), cliffs(table), told_again(table)
    even = break_even(table, compared)
    return Searched(
        effective_cpus=used,
        cliffs=jumps,
        break_even=even,
        sentences=[
            *effective_sentences(table, taken, used),
            *cliff_sentence(table, jumps),
            *break_even_sentences(table, even),
        ],
        tables=[
            *effective_tables(table, taken, used),
            *cliff_tables(table, taken, jumps),
            *break_even_tables(table, compared, even),
        ],
        doubts=[*open_question(table, used), *open_cliffs(table, jumps), *open_break_even(table, even)],
        at_levels=at_levels(compared) if table.study.question == QUESTION else None,
    )
