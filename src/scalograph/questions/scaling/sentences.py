"""Sentences about levels that are slower than both neighbors."""

from collections.abc import Iterator, Sequence

from scalograph.findings.table import Table
from scalograph.questions.scaling.document import LocalSlowdown, Swept, SweptCurve
from scalograph.text.cell_numbers import INCONCLUSIVE
from scalograph.text.quantities import change
from scalograph.text.short_names import is_plural

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
