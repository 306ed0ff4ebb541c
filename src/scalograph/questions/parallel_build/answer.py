"""What a parallel build shows beside its times: how parallel it was, which -j is best, what it costs, what was cold."""

from collections.abc import Sequence

from scalograph.findings.answer import Answer, Taken
from scalograph.findings.names import varied
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve
from scalograph.questions.parallel_build.answer_document import builds
from scalograph.questions.parallel_build.claim import build_claim
from scalograph.questions.parallel_build.model_timelines import measured
from scalograph.questions.parallel_build.tables_best import best_table
from scalograph.questions.parallel_build.tables_costs import inflation_table, same_tables
from scalograph.questions.parallel_build.tables_memory import memory_table, memory_warnings
from scalograph.questions.parallel_build.tables_parallelism import course_table, parallelism_table
from scalograph.questions.parallel_build.tables_phases import load_table, phases_table
from scalograph.questions.parallel_build.tables_start import discarded_table, prepared_table


def applies(table: Table) -> str | None:
    """Say why the study is no parallel build; None where it is."""
    return None if jobs_factor(table) else "no factor of jobs that share one piece of work"


def answer(table: Table, taken: Taken, curves: Sequence[Curve]) -> Answer:
    """Tell how the numbers of jobs compare."""
    factor = jobs_factor(table)
    assert factor is not None
    known = measured(table, taken, factor)
    found = builds(table, taken, factor, known)
    tables = [
        best_table(table, taken, factor),
        parallelism_table(table, taken, factor, known),
        course_table(table, taken, known),
        phases_table(table, found),
        load_table(table, found),
        inflation_table(table, taken, factor),
        *same_tables(table, taken),
        memory_table(table, taken, factor),
        discarded_table(table),
        prepared_table(table),
    ]
    return Answer(
        document=found,
        claim=build_claim(table, taken, factor),
        tables=[doc for doc in tables if doc],
        warnings=[*memory_warnings(table, taken, factor)],
    )


def jobs_factor(table: Table) -> str | None:
    """The factor that says how many jobs may run at once: called `jobs`, or what fills -j{NAME} in the command."""
    if table.study.work != "total":
        return None  # each job builds something of its own
    words = " ".join(table.study.workload.command or ())
    for name, factor in table.study.factors.items():
        counts = all(isinstance(level, int) and not isinstance(level, bool) and level > 0 for level in factor.levels)
        filled = f"-j{{{name}}}" in words or f"-j {{{name}}}" in words or f"--jobs={{{name}}}" in words
        if factor.control is None and counts and name in varied(table) and (name == "jobs" or filled):
            return name
    return None
