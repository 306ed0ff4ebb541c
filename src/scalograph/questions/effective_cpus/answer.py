"""How many CPUs does a program really use? The search told again from its runs, and what limits it, for each group.

A study may ask for it (`question = "effective-cpus"`). A sweep of workers that each do the same answers it too: how
many of them run at once.
"""

from collections.abc import Sequence

from scalograph.findings.answer import Answer, Taken
from scalograph.findings.names import varied
from scalograph.findings.speedup_rule import gain
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve
from scalograph.questions.registry import is_search

QUESTION = "effective-cpus"
# Levels of a sweep that are enough to see a cap.
FEWEST_LEVELS = 4


def applies(table: Table) -> str | None:
    """Say why nobody knows how many CPUs, or workers at once, this study uses; None where it can be told."""
    if is_search(table.study.question):
        return "the study searches for something else"
    if _counting_factor(table) is None:
        return f"no times of workers that each do the same, at {FEWEST_LEVELS} counts or more from 1 on"
    return None


def answer(table: Table, taken: Taken, curves: Sequence[Curve]) -> Answer:
    """Tell how many help, of each setting of the factors that are not searched."""
    from scalograph.questions.effective_cpus.answer_groups import groups_answered  # few studies can tell

    factor = _counting_factor(table)
    assert factor is not None
    return groups_answered(table, taken, factor, is_asked=table.study.question == QUESTION)


def _counting_factor(table: Table) -> str | None:
    """The factor whose levels are searched: the one that varies, or of a sweep workers that each do the same."""
    study, several = table.study, varied(table)
    if study.question == QUESTION:
        return next(iter(several), next(iter(study.factors)))
    factor = next(iter(study.baseline), "")
    how = gain(table, factor) if factor else None
    of_cpus = any(f.control == "cpus" for f in study.factors.values()) or isinstance(study.workload.copies, str)
    if how is None or how.kind != "time" or not how.per_worker or of_cpus:
        return None
    levels = {treatment[factor] for treatment in table.treatments}
    return factor if len(levels) >= FEWEST_LEVELS and 1 in levels else None
