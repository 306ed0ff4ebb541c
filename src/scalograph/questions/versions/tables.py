"""Table of versions over the reference."""

from collections.abc import Sequence

from scalograph.findings.answer import ItemColumn, level_columns, tabulate
from scalograph.findings.table import Table
from scalograph.protocol.findings import TableDoc
from scalograph.questions.versions.model import Version

_NOTE = "paired within blocks; all intervals hold together; the reference itself is excluded"


def reference_table(table: Table, versions: Sequence[Version]) -> TableDoc:
    factor, shown = table.view.curve_factor, table.view.varying
    counts = table.study.factors[factor].control is None
    counts = counts and all(type(version.sample.configuration[factor]) is int for version in versions)
    per_cpu: ItemColumn[Version] = (
        f"{table.view.title(factor)} per CPU", "number",
        lambda v: int(v.sample.configuration[factor]) / v.sample.succeeded[0].n_cpus,
    )  # fmt: skip
    heading = f"Over {table.view.levels_text(table.study.reference)}"
    return tabulate("reference", heading, versions, [
        *level_columns(table.view, shown, lambda v: v.sample.configuration), *([per_cpu] if counts else []),
        ("times as fast", "estimate", lambda v: v.gain), ("answer", "text", lambda v: v.word),
    ], _NOTE)  # fmt: skip
