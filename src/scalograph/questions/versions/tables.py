"""Table of versions over the reference."""

from collections.abc import Sequence

from scalograph.findings.table import Table
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.questions.versions.model import Version

_NOTE = "paired within blocks; all intervals hold together; the reference itself is excluded"


def reference_table(table: Table, versions: Sequence[Version]) -> TableDoc:
    """Tabulate each version over its reference."""
    factor, shown = table.view.curve_factor, table.view.varying
    counts = table.study.factors[factor].control is None
    counts = counts and all(type(version.sample.configuration[factor]) is int for version in versions)
    columns = table.view.factor_columns(shown)
    columns += [Column(name=f"{table.view.title(factor)} per CPU")] if counts else []
    columns += [Column(name="times as fast", kind="estimate"), Column(name="answer", kind="text")]
    rows: list[list[Cell]] = []
    for version in versions:
        levels = version.sample.configuration
        per_cpu = [int(levels[factor]) / version.sample.succeeded[0].n_cpus] if counts else []
        rows.append([*(levels[n] for n in shown), *per_cpu, version.gain, version.word])
    heading = f"Over {table.view.levels_text(table.study.reference)}"
    return TableDoc(id="reference", title=heading, note=_NOTE, columns=columns, rows=rows)
