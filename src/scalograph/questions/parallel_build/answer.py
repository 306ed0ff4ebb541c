"""What a parallel build shows beside its times: how parallel it was, which -j is best, what it costs, what was cold."""

from collections.abc import Sequence

from scalograph.findings.answer import Answer, Taken
from scalograph.findings.names import varied
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve


def applies(table: Table) -> str | None:
    """Say why the study is no parallel build; None where it is."""
    return None if jobs_factor(table) else "no factor of jobs that share one piece of work"


def answer(table: Table, taken: Taken, curves: Sequence[Curve]) -> Answer:
    """Tell how the numbers of jobs compare."""
    from scalograph.questions.parallel_build.answer_build import jobs_compared  # few studies build something

    factor = jobs_factor(table)
    assert factor is not None
    return jobs_compared(table, taken, factor)


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
