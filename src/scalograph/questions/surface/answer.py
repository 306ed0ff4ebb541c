"""Workers over CPUs: the time of each treatment beside what the CPUs need, what a further worker adds, who was fair."""

from collections.abc import Sequence

from scalograph.findings.answer import Answer, Taken
from scalograph.findings.names import curve_factor
from scalograph.findings.speedup_rule import gain
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve

FEWEST_WORKERS = 4  # levels of workers, for a surface to be one


def applies(table: Table) -> str | None:
    """Say why the study has no surface; None where it has one."""
    axes = _axes(table)
    if axes is None:
        return "no times of workers that each do the same, from one on, over a factor of CPUs"
    if len({treatment[axes[0]] for treatment in table.treatments}) < FEWEST_WORKERS:
        return f"fewer than {FEWEST_WORKERS} counts of workers"
    return None


def answer(table: Table, taken: Taken, curves: Sequence[Curve]) -> Answer:
    """Tell the surface of each setting of the other factors, at most 16, those of most treatments first."""
    from scalograph.questions.surface.answer_surfaces import surfaces_answered  # few studies have one

    axes = _axes(table)
    assert axes is not None
    return surfaces_answered(table, taken, axes, FEWEST_WORKERS)


def _axes(table: Table) -> tuple[str, str] | None:
    """The factors that count workers and CPUs, where each worker does the same and one is the baseline."""
    factor = curve_factor(table)
    how = gain(table, factor)
    cpus = next((name for name, found in table.study.factors.items() if found.control == "cpus"), None)
    if cpus is None or how is None or not how.per_worker or how.kind != "time" or table.study.baseline[factor] != 1:
        return None
    return factor, cpus
