"""Cliffs in tables: all of them, both sides of each, and the measured levels."""

from scalograph.analysis.ratios import ratio
from scalograph.findings.answer import SampleMap
from scalograph.findings.curves import estimate_response
from scalograph.findings.table import Table
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.questions.cliff.document import CliffDoc, Cliffs
from scalograph.questions.cliff.model_wander import evidence, sides


def cliff_tables(table: Table, samples: SampleMap, result: Cliffs | None) -> list[TableDoc]:
    """Make the tables of all cliffs, of both sides of each, and of the measured levels."""
    if result is None:
        return []
    both = [_sides(table, result, cliff, index) for index, cliff in enumerate(result.cliffs)]
    return [*([_cliffs(table, result)] if result.cliffs else []), *both, _levels(table, samples, result)]


def _cliffs(table: Table, result: Cliffs) -> TableDoc:
    factor = table.study.factors[result.factor]
    columns = [
        Column(name=f"{table.view.title(result.factor)} at half of it", unit=factor.unit, kind="label"),
        Column(name="begins at or after"), Column(name="is over at"),
        Column(name="time above over below", kind="text"), Column(name="probability", unit="%"),
        Column(name="kind", kind="text"),
    ]  # fmt: skip
    rows: list[list[Cell]] = []
    for c in result.cliffs:
        factor_text = "{1:.2f} [{0:.2f}, {2:.2f}]".format(*c.factor)
        kind = "gradual" if c.gradual > 0.5 else "sharp"
        rows.append([f"{c.location:.4g}", c.low, c.high, factor_text, 100 * c.probability, kind])
    return TableDoc(id="cliffs", title="Cliffs", columns=columns, rows=rows)


def _sides(table: Table, result: Cliffs, cliff: CliffDoc, index: int) -> TableDoc:
    below, above = sides(table, result.factor, cliff.low, cliff.high)
    name = table.view.primary
    scores = [[r.scores[name] for r in rows if name in r.scores] for rows in (above, below)]
    over = ratio(scores[0], scores[1])
    note = f"medians over {len(below)} and {len(above)} runs of the nearest levels"
    if over.value is not None:
        note += f"; {table.view.title(name)} {over.value:.2f} times"
    columns = [Column(name="figure of a run", kind="label")]
    columns += [Column(name=head) for head in ("below", "above", "above over below")]
    rows: list[list[Cell]] = [
        [text, _round(low), _round(high), _round(high / low) if low and high is not None else None]
        for text, low, high in evidence(table, result.factor, cliff.low, cliff.high)
    ]
    heading = f"Both sides of {table.view.title(result.factor)} {cliff.location:.4g}"
    return TableDoc(id=f"cliff-sides-{index}", title=heading, note=note, columns=columns, rows=rows)


def _round(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


def _levels(table: Table, samples: SampleMap, result: Cliffs) -> TableDoc:
    name = table.view.primary
    factor, response = table.study.factors[result.factor], table.view.response
    columns = [
        Column(name=table.view.title(result.factor), unit=factor.unit, kind="label"),
        Column(name=table.view.title(name), unit=response.unit, kind="estimate"),
        Column(name="runs"), Column(name="failed"),
    ]  # fmt: skip
    measured = {int(s.configuration[result.factor]): s for s in samples.values() if s.succeeded or s.n_failed}
    rows: list[list[Cell]] = [
        [level, estimate_response(table, sample, name), len(sample.succeeded), sample.n_failed]
        for level, sample in sorted(measured.items())
    ]
    return TableDoc(id="cliff-levels", title="Levels that were measured", columns=columns, rows=rows)
