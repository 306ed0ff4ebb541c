"""The answers of questions that are searched: their figures, and what people are told first."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from scalograph.findings.published import Lookup
from scalograph.findings.sample import Sample
from scalograph.findings.table import Table
from scalograph.protocol.findings import (
    BreakEven,
    Cliffs,
    EffectiveCpus,
    Level,
    TableDoc,
)
from scalograph.questions.effective_cpus.answer import effective, open_question
from scalograph.questions.effective_cpus.sentences import effective_sentences, effective_tables


@dataclass(frozen=True)
class Searched:
    """What was searched: each figure None or empty where the study asks for something else.

    Attributes:
        sentences: the answer in words, before what every study is asked.
        tables: before those of every study.
        doubts: why the search is not to be believed, or has no answer.
        at_levels: where runs were compared pair by pair, and no treatment stands for itself: what is known of one.
    """

    sentences: list[str]
    tables: list[TableDoc]
    doubts: list[str]
    effective_cpus: list[EffectiveCpus] = field(default_factory=list)
    cliffs: Cliffs | None = None
    break_even: BreakEven | None = None
    at_levels: Lookup | None = None


def searched(table: Table, taken: Mapping[tuple[Level, ...], Sample]) -> Searched:
    """The answer that the study asks for; how many CPUs it uses is told of a sweep too, where it can be."""
    if table.study.question == "break-even":
        return _in_pairs(table)
    if table.study.question == "cliff":
        return _cliffs(table, taken)
    used = effective(table, taken)
    return Searched(
        effective_cpus=used,
        sentences=effective_sentences(table, taken, used),
        tables=effective_tables(table, taken, used),
        doubts=open_question(table, used),
    )


def _cliffs(table: Table, taken: Mapping[tuple[Level, ...], Sample]) -> Searched:
    # Numerics that no other study has to wait for.
    from scalograph.questions.cliff.answer import cliffs
    from scalograph.questions.cliff.sentences import cliff_sentence, cliff_tables, open_cliffs

    jumps = cliffs(table)
    return Searched(
        cliffs=jumps,
        sentences=cliff_sentence(table, jumps),
        tables=cliff_tables(table, taken, jumps),
        doubts=open_cliffs(table, jumps),
    )


def _in_pairs(table: Table) -> Searched:
    from scalograph.questions.break_even.answer import break_even, told_again
    from scalograph.questions.break_even.answer_published import at_levels
    from scalograph.questions.break_even.sentences import break_even_sentences, break_even_tables, open_break_even

    compared = told_again(table)
    even = break_even(table, compared)
    return Searched(
        break_even=even,
        sentences=break_even_sentences(table, even),
        tables=break_even_tables(table, compared, even),
        doubts=open_break_even(table, even),
        at_levels=at_levels(compared),
    )
