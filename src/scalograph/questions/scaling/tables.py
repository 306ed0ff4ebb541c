"""Table of scaling laws, and sentences about levels that are slower than both neighbors."""

from collections.abc import Iterator, Sequence

from scalograph.analysis.estimate import BEYOND_CPUS, Estimate, join_flags
from scalograph.findings.answer import level_columns, tabulate
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve, LawDoc, TableDoc
from scalograph.questions.scaling.document import LocalSlowdown, Swept, SweptCurve
from scalograph.text.cell_numbers import INCONCLUSIVE
from scalograph.text.quantities import change
from scalograph.text.short_names import is_plural

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


# More would be a pattern of the whole curve, which its figure shows.
MOST = 2


def neighbor_sentences(table: Table, levels: Swept | None) -> Iterator[str]:
    """Name levels that are slower than the one below and the one above, the most pronounced first."""
    by_level: dict[int, list[tuple[SweptCurve, LocalSlowdown]]] = {}
    for curve in levels.curves if levels else ():
        for bump in (bump for bump in curve.bumps if bump.shown):
            by_level.setdefault(bump.level, []).append((curve, bump))
    order = sorted(by_level.values(), key=lambda group: -max(bump.slower.low or 0.0 for _, bump in group))
    for group in order[:MOST]:
        yield _sentence(table, group, len(levels.curves) if levels else 0)


def _sentence(table: Table, group: Sequence[tuple[SweptCurve, LocalSlowdown]], n_curves: int) -> str:
    group = sorted(group, key=lambda pair: -(pair[1].slower.low or 0.0))
    curve, bump = group[0]
    who, beside = (table.view.short_levels({curve.factor: level}) for level in (bump.level, bump.above))
    verb = "are" if is_plural(table.view.title(curve.factor), bump.level) else "is"
    text = f"{who} {verb} slower than both {bump.below} and {beside}"
    how, setting = change(bump.slower, "time"), table.view.short_levels(table.view.varying_levels(curve.group))
    more = f"by how much is {INCONCLUSIVE}" if how == INCONCLUSIVE else how
    if n_curves == 1 or not setting:
        return f"{text}: {more}."
    if len(group) == 1:
        return f"{text} with {setting}: {more}."
    return f"{text} in {len(group)} of {n_curves} curves, most with {setting}: {more}."
