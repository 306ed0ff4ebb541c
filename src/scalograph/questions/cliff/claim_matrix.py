"""The numbers of a claim about cliffs: the response just below each and just above."""

from collections.abc import Sequence
from dataclasses import dataclass

from scalograph.analysis.estimate import Estimate
from scalograph.findings.curves import estimated
from scalograph.findings.names import title
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.findings.whole_run import samples
from scalograph.protocol.claim import Matrix, MatrixCell, MatrixRow
from scalograph.questions.cliff.document import CliffDoc, Cliffs
from scalograph.text.compact import NOT_RESOLVED, compact
from scalograph.text.format import significant
from scalograph.text.scale import Scale, scale_for
from scalograph.text.spoken import amount

# Of fewer runs the runs themselves say more than an interval over decades.
FEW = 3


@dataclass(frozen=True)
class Sides:
    """The nearest levels that were measured on both sides, what was measured there, and how far the response moves.

    `factor` is as the search has it, of the response: for a rate, the inverse of that of the time.
    """

    factor: tuple[float, float, float]
    levels: tuple[int, int]
    taken: tuple[Sample, Sample]
    estimates: tuple[Estimate, Estimate]

    @property
    def over(self) -> float | None:
        """The response above over that below."""
        below, above = (found.value for found in self.estimates)
        return above / below if above and below else None


Cliffed = tuple[CliffDoc, Sides]


def cliffed(table: Table, found: Cliffs) -> list[Cliffed]:
    """Leave the cliffs that have runs on both sides, and no level between that always failed."""
    both = [(one, _sides(table, found, one)) for one in found.cliffs if not failed_between(table, found, one)]
    return [(one, sides) for one, sides in both if sides]


def failed_between(table: Table, found: Cliffs, one: CliffDoc) -> list[int]:
    """Levels inside a cliff of which every run failed."""
    tried = {int(row.treatment[found.factor]) for row in table.rows}
    inside = [n for n in tried if one.low < n < one.high]
    return sorted(set(inside) - {int(row.treatment[found.factor]) for row in table.counted()})


def _sides(table: Table, found: Cliffs, one: CliffDoc) -> Sides | None:
    name = primary(table)
    taken = {int(s.treatment[found.factor]): s for s in samples(table).values() if s.scores(name)}
    below, above = [n for n in taken if n <= one.low], [n for n in taken if n >= one.high]
    if not below or not above:
        return None
    levels = (max(below), min(above))
    first, second = (taken[n] for n in levels)
    low, value, high = one.factor
    factor = (1 / high, 1 / value, 1 / low) if table.study.responses[name].better == "higher" else one.factor
    return Sides(factor, levels, (first, second), (estimated(table, first, name), estimated(table, second, name)))


def cliff_matrix(table: Table, found: Cliffs, known: Sequence[Cliffed]) -> Matrix:
    """One row for each cliff."""
    response = table.study.responses[primary(table)]
    scale = scale_for(response.unit, [e.value for _, sides in known for e in sides.estimates])
    rows = [
        MatrixRow(
            label=amount("", "", *sides.levels).strip(),
            cells=[_cell(table, *side, scale) for side in zip(sides.taken, sides.estimates, strict=True)],
        )
        for _, sides in known
    ]
    is_few = any(len(sample.scores(primary(table))) < FEW for _, sides in known for sample in sides.taken)
    return Matrix(
        title=title(table, primary(table)), unit=response.unit, better=response.better,
        rows_are=title(table, found.factor), columns=["below", "above"], rows=rows,
        note="the jump is between the trends of both sides" + ('; "to": the two runs there are' if is_few else ""),
    )  # fmt: skip


def _cell(table: Table, sample: Sample, found: Estimate, scale: Scale) -> MatrixCell:
    runs, text = sorted(sample.scores(primary(table))), ""
    if len(runs) < FEW and (len(runs) == 1 or compact(found, scale) == NOT_RESOLVED):
        ends = [significant(x * scale.factor) for x in (runs[0], runs[-1])]
        text = " to ".join(dict.fromkeys(ends))
    return MatrixCell(estimate=found, text=text, doubt="disturbed runs only" if sample.falls_back else "")
