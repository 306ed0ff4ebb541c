"""Cliffs in tables: all of them, both sides of each, and the measured levels."""

from scalograph.analysis.ratios import ratio
from scalograph.findings.answer import SampleMap, tabulate
from scalograph.findings.curves import estimate_response
from scalograph.findings.table import Table
from scalograph.protocol.findings import TableDoc
from scalograph.questions.cliff.document import CliffDoc, Cliffs
from scalograph.questions.cliff.model_wander import evidence, sides


def cliff_tables(table: Table, samples: SampleMap, result: Cliffs | None) -> list[TableDoc]:
    if result is None:
        return []
    both = [_sides(table, result, cliff, index) for index, cliff in enumerate(result.cliffs)]
    return [*([_cliffs(table, result)] if result.cliffs else []), *both, _levels(table, samples, result)]


def _cliffs(table: Table, result: Cliffs) -> TableDoc:
    title, unit = table.view.title(result.factor), table.view.unit(result.factor)
    return tabulate("cliffs", "Cliffs", result.cliffs, [
        (f"{title} at half of it", "label", lambda c: f"{c.location:.4g}", unit),
        ("begins at or after", "number", lambda c: c.low), ("is over at", "number", lambda c: c.high),
        ("time above over below", "text", lambda c: "{1:.2f} [{0:.2f}, {2:.2f}]".format(*c.factor)),
        ("probability", "number", lambda c: 100 * c.probability, "%"),
        ("kind", "text", lambda c: "gradual" if c.gradual > 0.5 else "sharp"),
    ])  # fmt: skip


def _sides(table: Table, result: Cliffs, cliff: CliffDoc, index: int) -> TableDoc:
    below, above = sides(table, result.factor, cliff.low, cliff.high)
    name = table.view.primary
    high, low = ([r.scores[name] for r in rows if name in r.scores] for rows in (above, below))
    over = ratio(high, low)
    note = f"medians over {len(below)} and {len(above)} runs of the nearest levels"
    if over.value is not None:
        note += f"; {table.view.title(name)} {over.value:.2f} times"
    heading = f"Both sides of {table.view.title(result.factor)} {cliff.location:.4g}"
    return tabulate(f"cliff-sides-{index}", heading, evidence(table, result.factor, cliff.low, cliff.high), [
        ("figure of a run", "label", lambda x: x[0]), ("below", "number", lambda x: _round(x[1])),
        ("above", "number", lambda x: _round(x[2])),
        ("above over below", "number", lambda x: _round(x[2] / x[1]) if x[1] and x[2] is not None else None),
    ], note)  # fmt: skip


def _round(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


def _levels(table: Table, samples: SampleMap, result: Cliffs) -> TableDoc:
    view = table.view
    measured = {int(s.configuration[result.factor]): s for s in samples.values() if s.succeeded or s.n_failed}
    return tabulate("cliff-levels", "Levels that were measured", sorted(measured.items()), [
        (view.title(result.factor), "label", lambda x: x[0], view.unit(result.factor)),
        (view.primary_title, "estimate", lambda x: estimate_response(table, x[1]), view.response.unit),
        ("runs", "number", lambda x: len(x[1].succeeded)), ("failed", "number", lambda x: x[1].n_failed),
    ])  # fmt: skip
