"""Table of scaling laws."""

from collections.abc import Sequence

from scalograph.analysis.estimate import BEYOND_CPUS, join_flags
from scalograph.findings.table import Table
from scalograph.protocol.findings import Cell, Column, Curve, TableDoc

_NOTE = (
    "universal scalability law, throughput = gamma n / (1 + sigma (n - 1) + kappa n (n - 1)), fitted to the runs of "
    "each curve with relative errors; intervals from the profile likelihood; twice as far: speedup at twice the "
    "largest size, a bracket, on further CPUs of the kind that was measured; refused where they would be of another; "
    "if the same law goes on: a limit that was not reached yet is not in it"
)


def laws_table(table: Table, curves: Sequence[Curve]) -> TableDoc | None:
    """Tabulate the law of each curve; None where no curve has one."""
    shown = [name for name in table.view.varying if name != table.view.curve_factor]
    rows: list[list[Cell]] = []
    for curve in curves:
        if law := curve.law:
            # With more workers than CPUs it is no serial share, as the flags say.
            sigma = None if any(flag.code == BEYOND_CPUS for flag in law.flags) else law.sigma
            values = sigma, law.kappa, law.optimum, law.twice, join_flags(law.flags)
            rows.append([*(curve.group[name] for name in shown), *values])
    if not rows:
        return None
    columns = [Column(name=table.view.title(name), kind="label") for name in shown]
    names = ("serial share sigma", "coherency kappa", "largest at", "twice as far")
    columns += [Column(name=name, kind="estimate") for name in names]
    columns.append(Column(name="flags", kind="text"))
    return TableDoc(id="laws", title="Scaling laws", note=_NOTE, columns=columns, rows=rows)
