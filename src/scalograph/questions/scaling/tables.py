"""Table of scaling laws."""

from collections.abc import Sequence

from scalograph.analysis.estimate import BEYOND_CPUS, Estimate, join_flags
from scalograph.findings.answer import level_columns, tabulate
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve, LawDoc, TableDoc

_NOTE = (
    "universal scalability law, throughput = gamma n / (1 + sigma (n - 1) + kappa n (n - 1)), fitted to the runs of "
    "each curve with relative errors; intervals from the profile likelihood; twice as far: speedup at twice the "
    "largest size, a bracket, on further CPUs of the kind that was measured; refused where they would be of another; "
    "if the same law goes on: a limit that was not reached yet is not in it"
)


def laws_table(table: Table, curves: Sequence[Curve]) -> TableDoc | None:
    """Tabulate the law of each curve; None where no curve has one."""
    shown = [name for name in table.view.varying if name != table.view.curve_factor]
    laws = [(curve.group, curve.law) for curve in curves if curve.law]
    return tabulate("laws", "Scaling laws", laws, [
        *level_columns(table.view, shown, lambda x: x[0]),
        ("serial share sigma", "estimate", lambda x: _serial_share(x[1])),
        ("coherency kappa", "estimate", lambda x: x[1].kappa), ("largest at", "estimate", lambda x: x[1].optimum),
        ("twice as far", "estimate", lambda x: x[1].twice), ("flags", "text", lambda x: join_flags(x[1].flags)),
    ], _NOTE) if laws else None  # fmt: skip


def _serial_share(law: LawDoc) -> Estimate | None:
    """Return sigma; with more workers than CPUs it is no serial share, as the flags say."""
    return None if any(flag.code == BEYOND_CPUS for flag in law.flags) else law.sigma
