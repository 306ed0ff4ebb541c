"""The answer of a parallel build: its document, and the table of each thing that it shows."""

from scalograph.findings.answer import Answer, Taken
from scalograph.findings.table import Table
from scalograph.questions.parallel_build.answer_document import builds
from scalograph.questions.parallel_build.claim import build_claim
from scalograph.questions.parallel_build.model_timelines import measured
from scalograph.questions.parallel_build.tables_best import best_table
from scalograph.questions.parallel_build.tables_costs import inflation_table, same_tables
from scalograph.questions.parallel_build.tables_memory import memory_table, memory_warnings
from scalograph.questions.parallel_build.tables_parallelism import course_table, parallelism_table
from scalograph.questions.parallel_build.tables_phases import load_table, phases_table
from scalograph.questions.parallel_build.tables_start import discarded_table, prepared_table


def jobs_compared(table: Table, taken: Taken, factor: str) -> Answer:
    """Tell how the numbers of jobs compare, which `factor` counts."""
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
