"""Effective CPUs in tables: the values of each group, and the measured levels."""

from collections.abc import Sequence

from scalograph.findings.answer import SampleMap
from scalograph.findings.curves import estimate_response
from scalograph.findings.table import Table
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.questions.effective_cpus.document import EffectiveCpus
from scalograph.questions.effective_cpus.model_programs import levels_of, ratio_to_first

# Shares below this are no part of the histogram in print.
SHOWN = 0.005
_NOTE = (
    "CPUs that help: the least beyond which all further ones together gain less than 2% (5% without a model); used: "
    "CPU seconds over wall seconds; at once: tasks on a CPU over the whole run"
)


def effective_tables(table: Table, samples: SampleMap, groups: Sequence[EffectiveCpus]) -> list[TableDoc]:
    """Make a table of the values of all groups, and for each group one of the measured levels."""
    levels = [_levels(table, samples, group, index) for index, group in enumerate(groups)]
    return [_figures(table, groups), *levels] if groups else []


def _levels(table: Table, samples: SampleMap, group: EffectiveCpus, index: int) -> TableDoc:
    members, name = levels_of(samples, group.group, group.factor), table.view.primary
    factor, response = table.study.factors[group.factor], table.view.response
    columns = [
        Column(name=table.view.title(group.factor), unit=factor.unit, kind="label"),
        Column(name=table.view.primary_title, unit=response.unit, kind="estimate"),
        Column(name=f"time over that of {min(members, default=1)}", kind="estimate"),
        Column(name="probability that no further helps", unit="%"),
        Column(name="runs"), Column(name="failed"),
    ]  # fmt: skip
    rows: list[list[Cell]] = []
    for level, sample in sorted(members.items()):
        probability = round(100 * group.posterior.get(level, 0.0), 1) if group.posterior else None
        values = estimate_response(table, sample, name), ratio_to_first(table, members, level)
        rows.append([level, *values, probability, len(sample.succeeded), sample.n_failed])
    setting = table.view.group_prefix(group.group).removesuffix(": ")
    heading = "Levels that were measured" + (f", {setting}" if setting else "")
    return TableDoc(id=f"effective-levels-{index}", title=heading, columns=columns, rows=rows)


def _figures(table: Table, groups: Sequence[EffectiveCpus]) -> TableDoc:
    heads = [table.view.group_prefix(group.group).removesuffix(": ") or "here" for group in groups]
    columns = [Column(name="figure", kind="label"), *(Column(name=head, kind="text") for head in heads)]
    names = ("help", "used", "at once", "may be used", "quota", "believed in", "told to use", "limit")
    lines = [_lines(group) for group in groups]
    rows: list[list[Cell]] = [[name, *(line[name] for line in lines)] for name in names]
    return TableDoc(id="effective-cpus", title="Effective CPUs", note=_NOTE, columns=columns, rows=rows)


def _lines(group: EffectiveCpus) -> dict[str, str]:
    shares = ", ".join(f"{n}: {100 * share:.0f}%" for n, share in enumerate(group.at_once) if share >= SHOWN)
    return {
        "help": "not known" if group.k_eff is None else f"{group.k_eff} ({group.sure})",
        "used": group.cpus_used or "not measured",
        "at once": shares or "not measured",
        "may be used": "not known" if group.mask is None else f"{group.mask} (mask)",
        "quota": "none" if group.quota is None else f"{group.quota:g} CPUs",
        "believed in": "it does not say" if group.believed is None else str(group.believed),
        "told to use": "nothing" if group.workers is None else str(group.workers),
        "limit": group.limit,
    }
