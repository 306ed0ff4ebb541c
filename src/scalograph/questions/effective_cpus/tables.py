"""Effective CPUs in tables: the values of each group, and the measured levels."""

from collections.abc import Sequence

from scalograph.findings.answer import SampleMap, tabulate
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
    levels = [_levels(table, samples, group, index) for index, group in enumerate(groups)]
    return [_figures(table, groups), *levels] if groups else []


def _levels(table: Table, samples: SampleMap, group: EffectiveCpus, index: int) -> TableDoc:
    members, view, posterior = levels_of(samples, group.group, group.factor), table.view, group.posterior
    setting = view.group_prefix(group.group).removesuffix(": ")
    heading = "Levels that were measured" + (f", {setting}" if setting else "")
    return tabulate(f"effective-levels-{index}", heading, sorted(members.items()), [
        (view.title(group.factor), "label", lambda x: x[0], view.unit(group.factor)),
        (view.primary_title, "estimate", lambda x: estimate_response(table, x[1]), view.response.unit),
        (f"time over that of {min(members, default=1)}", "estimate", lambda x: ratio_to_first(table, members, x[0])),
        ("probability that no further helps", "number",
         lambda x: round(100 * posterior.get(x[0], 0.0), 1) if posterior else None, "%"),
        ("runs", "number", lambda x: len(x[1].succeeded)), ("failed", "number", lambda x: x[1].n_failed),
    ])  # fmt: skip


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
