"""Effective CPUs in words: how many help, what limits the program, and when its time rises."""

from collections.abc import Sequence

from scalograph.findings.answer import Taken
from scalograph.findings.names import title, where
from scalograph.findings.table import Table
from scalograph.questions.effective_cpus.document import EffectiveCpus
from scalograph.questions.effective_cpus.model_levels import levels_of, over_first

# Steps of the time that a sentence has room for.
NAMED = 8


def effective_sentences(table: Table, taken: Taken, found: Sequence[EffectiveCpus]) -> list[str]:
    """For each group: how many help, and what limits it."""
    return [_sentence(table, taken, one) for one in found]


def _sentence(table: Table, taken: Taken, one: EffectiveCpus) -> str:
    setting = where(table, one.group)
    if one.k_eff is None or not one.decided:
        return f"{setting}{_capital(one.sentence, setting)}."
    helping = f"{_helping(table, one)} ({one.sure})"
    used = f", {one.cpus_used} CPUs are used" if one.cpus_used else ""
    return f"{setting}{_capital(helping, setting)}{used}. The limit: {one.sentence}.{_steps(table, taken, one)}"


def _capital(text: str, before: str) -> str:
    return text if before else f"{text[:1].upper()}{text[1:]}"


def _helping(table: Table, one: EffectiveCpus) -> str:
    """How many of what the levels count."""
    if table.study.factors[one.factor].control == "cpus":
        return "1 CPU helps" if one.k_eff == 1 else f"{one.k_eff} CPUs help"
    what = title(table, one.factor)
    if table.study.work == "total":
        return f"{what}: no more than {one.k_eff} help"
    return f"{what} work one at a time" if one.k_eff == 1 else f"{one.k_eff} {what} work at once"


def _steps(table: Table, taken: Taken, one: EffectiveCpus) -> str:
    """Of workers that each do the same: when the time rises, up to twice as many as run at once."""
    if table.study.factors[one.factor].control == "cpus" or table.study.work != "per-worker":
        return ""
    members = levels_of(taken, one.group, one.factor)
    cells = [
        f"{cell.value:.2f} at {level}"
        for level in sorted(members)
        if 1 < level <= 2 * max(2, one.k_eff or 0) and (cell := over_first(table, members, level)).value is not None
    ]
    if len(cells) > NAMED:
        cells = [*cells[: NAMED - 1], f"... {cells[-1]}"]
    return f" The time over that of {min(members)} is {', '.join(cells)}." if cells else ""
