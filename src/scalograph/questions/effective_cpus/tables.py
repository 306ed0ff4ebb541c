"""Effective CPUs in tables: the figures side by side, and the levels that were measured."""

from collections.abc import Sequence

from scalograph.findings.answer import Taken
from scalograph.findings.curves import estimated
from scalograph.findings.names import title, where
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.questions.effective_cpus.document import EffectiveCpus
from scalograph.questions.effective_cpus.model_programs import levels_of, over_first

# Shares below this are no part of the histogram in print.
SHOWN = 0.005
_NOTE = (
    "CPUs that help: the least beyond which all further ones together gain less than 2 % (5 % without a model); used: "
    "CPU seconds over wall seconds; at once: tasks on a CPU over the whole run"
)


def effective_tables(table: Table, taken: Taken, found: Sequence[EffectiveCpus]) -> list[TableDoc]:
    """The figures of every group side by side, and for each group the levels that were measured."""
    if not found:
        return []
    return [_figures(table, found), *(_levels(table, taken, one, index) for index, one in enumerate(found))]


def _levels(table: Table, taken: Taken, one: EffectiveCpus, index: int) -> TableDoc:
    members, name = levels_of(taken, one.group, one.factor), primary(table)
    factor, response = table.study.factors[one.factor], table.study.responses[name]
    columns = [
        Column(name=title(table, one.factor), unit=factor.unit, kind="label"),
        Column(name=title(table, name), unit=response.unit, kind="estimate"),
        Column(name=f"time over that of {min(members, default=1)}", kind="estimate"),
        Column(name="probability that no further helps", unit="%"),
        Column(name="runs"),
        Column(name="failed"),
    ]
    rows: list[list[Cell]] = [
        [
            level,
            estimated(table, sample, name),
            over_first(table, members, level),
            round(100 * one.posterior.get(level, 0.0), 1) if one.posterior else None,
            len(sample.every),
            sample.n_failed,
        ]
        for level, sample in sorted(members.items())
    ]
    setting = where(table, one.group).removesuffix(": ")
    heading = "Levels that were measured" + (f", {setting}" if setting else "")
    return TableDoc(id=f"effective-levels-{index}", title=heading, columns=columns, rows=rows)


def _figures(table: Table, found: Sequence[EffectiveCpus]) -> TableDoc:
    heads = [where(table, one.group).removesuffix(": ") or "here" for one in found]
    columns = [Column(name="figure", kind="label"), *(Column(name=head, kind="text") for head in heads)]
    names = ("help", "used", "at once", "may be used", "quota", "believed in", "told to use", "limit")
    lines = [_lines(one) for one in found]
    rows: list[list[Cell]] = [[name, *(line[name] for line in lines)] for name in names]
    return TableDoc(id="effective-cpus", title="Effective CPUs", note=_NOTE, columns=columns, rows=rows)


def _lines(one: EffectiveCpus) -> dict[str, str]:
    """Each figure in print."""
    shares = ", ".join(f"{n}: {100 * share:.0f} %" for n, share in enumerate(one.at_once) if share >= SHOWN)
    return {
        "help": "not known" if one.k_eff is None else f"{one.k_eff} ({one.sure})",
        "used": one.cpus_used or "not measured",
        "at once": shares or "not measured",
        "may be used": "not known" if one.mask is None else f"{one.mask} (mask)",
        "quota": "none" if one.quota is None else f"{one.quota:g} CPUs",
        "believed in": "it does not say" if one.believed is None else str(one.believed),
        "told to use": "nothing" if one.workers is None else str(one.workers),
        "limit": one.limit,
    }
