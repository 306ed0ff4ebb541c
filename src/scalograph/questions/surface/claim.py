"""State the claim of a surface: what each worker beyond the CPUs adds, over the expected cost."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from scalograph.analysis.estimate import Estimate
from scalograph.findings.answer import SampleMap
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import AnswerCase, Level
from scalograph.questions.claims import case, state
from scalograph.questions.surface.document import Surface
from scalograph.questions.surface.model import PLAY, widen_jointly
from scalograph.questions.terms import find_terms, term_text
from scalograph.text.answer_form import Quantity
from scalograph.text.cell_numbers import cell_number, is_resolved, matrix_scale
from scalograph.text.short_names import singular

_FAIR = "CPUs are shared fairly, as expected, within {most:at_most}[[; inconclusive for {left:list}]]."
FORMS = {
    "fair": _FAIR,
    "fair elsewhere": f"Elsewhere {_FAIR}",
    "unfair": "Sharing CPUs costs {gain:factor} the expected time{gain:interval}[[ for {who:list}]].",
    "left": "Inconclusive: whether CPUs are shared fairly[[ for {who:list}]]. Add runs.",
    "adds": "Each {worker} beyond the CPUs adds {first:value} on {at} (expected {first_expected:value})"
    "[[, {last:value} on {last_at} (expected {last_expected:value})]][[, with {group}]].",
    "ridge": "With a CPU each, {workers} still take {gain:factor} as long as one{gain:interval}[[ for {who:list}]].",
    "no slope": "Inconclusive: the time that each {worker} beyond the CPUs adds. Add runs, or more {workers}.",
}
FIGURE = "surfaces"
FEW_ROWS = 4  # of fewer, the curves show it better than a map
KNOWN = 0.2  # sharing is called fair where it is known that well
MOST_ROWS = 24
KINDS = ("dear", "cheap", "fair", "left")  # of sharing: where its cost is known, and where it is not


class _Line(NamedTuple):
    """One count of CPUs of a surface: its slope and its ridge, over the expected ones, with joint intervals."""

    surface: Surface
    row: int
    levels: Mapping[str, Level]
    ratio: Estimate
    ridge: Estimate

    @property
    def slope(self) -> Estimate:
        return self.surface.slopes[self.row]

    @property
    def expected_slope(self) -> Estimate:
        alone = self.surface.alone(self.row)
        return alone.rescale(1 / self.surface.y_levels[self.row]) if alone else Estimate()

    @property
    def kind(self) -> str:
        """Return what sharing costs, one of `KINDS`."""
        low, high = self.ratio.low or 0.0, self.ratio.high or math.inf
        if low > 1 + PLAY or high < 1 - PLAY:
            return "dear" if low > 1 else "cheap"
        return "fair" if low and self.off <= KNOWN else "left"

    @property
    def off(self) -> float:
        """Return how far the cost may be from the expected one, as a share."""
        return math.expm1(max(abs(math.log(x)) for x in (self.ratio.low or 1, self.ratio.high or 1)))


def surface_claim(table: Table, taken: SampleMap, surfaces: Sequence[Surface]) -> Claim | None:
    if not surfaces:
        return None
    shown = _Shown(table, taken, surfaces)
    figure = FIGURE if len(surfaces[0].y_levels) >= FEW_ROWS else f"response {surfaces[0].response}"
    return state(FORMS, [*shown.cases()], shown.matrix, figure)


class _Shown:
    """The rows of the matrix, and the cases that tell of them."""

    def __init__(self, table: Table, taken: SampleMap, surfaces: Sequence[Surface]) -> None:
        self._table, self._taken, self._surfaces = table, taken, surfaces
        self._x, self._y = (table.view.title(name) for name in (surfaces[0].x, surfaces[0].y))
        every = [
            _Line(s, row, {**table.view.varying_levels(s.group), s.y: n}, slope_ratio(s, row),
                  s.ridge(row)[1] or Estimate())
            for s in surfaces for row, n in enumerate(s.y_levels)
        ]  # fmt: skip
        n, n_ridges = sum(is_resolved(x.ratio) for x in every), sum(x.ridge.value is not None for x in every)
        every = [x._replace(ratio=widen_jointly(x.ratio, n), ridge=widen_jointly(x.ridge, n_ridges)) for x in every]
        self._slow = [x for x in every if (x.ridge.low or 0) > 1 + PLAY and is_resolved(x.ridge)]
        measured = [x for x in every if x.slope.value is not None and x.expected_slope.value is not None]
        self._dear, self._cheap, self._fair, self._left = ([x for x in measured if x.kind == kind] for kind in KINDS)
        self._lines = [*self._dear, *self._cheap, *(x for x in measured if x.kind in ("fair", "left"))]
        self._lines += [x for x in self._slow if x not in measured]
        self.matrix = self._make_matrix()

    def cases(self) -> Iterator[AnswerCase]:
        unfair, worker = [*self._dear, *self._cheap], singular(self._x)
        for lines in (self._dear, self._cheap):
            if lines:
                yield case("unfair", gain=_extremes([x.ratio for x in lines]), who=self._who(lines))
        if self._fair:
            most, left = max(x.off for x in self._fair), self._who(self._left) if self._left else []
            yield case("fair elsewhere" if unfair else "fair", most=most, left=left)
        elif self._left and any(is_resolved(x.ratio) for x in self._left):
            yield case("left", who=self._who(self._left))
        elif not unfair:
            yield case("no slope", worker=worker, workers=self._x)
        if self._slow:
            gain = _extremes([x.ridge for x in self._slow])
            yield case("ridge", workers=self._x, gain=gain, who=self._who(self._slow))
        if resolved := [x for x in self._lines if is_resolved(x.slope) and is_resolved(x.expected_slope)]:
            own = [x for x in resolved if x.surface is resolved[0].surface]
            worst = [max(unfair, key=lambda x: abs(math.log(x.ratio.value or 1)))] if unfair else []
            yield self._adds(worker, worst or (own[-1:] if len(self._surfaces) > 1 else [own[0], *own[1:][-1:]]))

    def _adds(self, worker: str, lines: Sequence[_Line]) -> AnswerCase:
        view, scale = self._table.view, matrix_scale(self.matrix)
        values: dict[str, object] = {}
        for name, at, line in zip(("first", "last"), ("at", "last_at"), lines, strict=False):
            values |= {name: Quantity(line.slope, scale), f"{name}_expected": Quantity(line.expected_slope, scale)}
            values[at] = view.short_levels({line.surface.y: line.surface.y_levels[line.row]})
        group = view.short_levels(view.varying_levels(lines[0].surface.group)) if len(self._surfaces) > 1 else ""
        return case("adds", worker=worker, group=group, **values)

    def _who(self, lines: Sequence[_Line]) -> list[str]:
        """Name rows by the narrowest terms, or each by itself; nothing where they are all."""
        terms = find_terms([x.levels for x in lines], [x.levels for x in self._lines], [*lines[0].levels])
        if terms is None:
            return [self._table.view.short_levels(x.levels) for x in lines]
        return [] if terms == [{}] else [term_text(self._table.view, term) for term in terms]

    def _make_matrix(self) -> Matrix:
        """Tabulate the rows, those first that are not as expected."""
        surface, view, matrix_rows = self._surfaces[0], self._table.view, []
        disturbed = [sample.configuration for sample in self._taken.values() if sample.falls_back]
        for x in self._lines[:MOST_ROWS]:
            is_doubted = any(x.levels.items() <= configuration.items() for configuration in disturbed)
            doubt = "some configurations have disturbed runs only" if is_doubted else ""
            cells = [MatrixCell(estimate=x.slope, doubt=doubt), MatrixCell(estimate=x.expected_slope)]
            cells += [MatrixCell(estimate=e, text=cell_number(e)) for e in (x.ratio, x.ridge)[: 1 + bool(self._slow)]]
            label = view.short_levels(x.levels) if len(self._surfaces) > 1 else str(x.levels[surface.y])
            matrix_rows.append(MatrixRow(label=label, cells=cells))
        return Matrix(
            title=f"{view.title(surface.response)} that each {singular(self._x)} beyond the CPUs adds",
            unit=self._table.study.responses[surface.response].unit, better="lower",
            rows_are=self._y if len(self._surfaces) == 1 else "",
            columns=["measured", "expected", "ratio", "a CPU each, over one"][: 3 + bool(self._slow)],
            rows=matrix_rows, note="expected: that of one alone, over the CPUs",
        )  # fmt: skip


def _extremes(estimates: Sequence[Estimate]) -> list[Estimate]:
    ordered = sorted(estimates, key=lambda e: e.value or 0.0)
    return ordered if len(ordered) < 2 else [ordered[0], ordered[-1]]


def slope_ratio(surface: Surface, row: int) -> Estimate:
    """Divide the slope by the expected one, where both are known well."""
    alone, over = surface.alone(row), surface.slope_ratio(row)
    is_known = alone is not None and is_resolved(alone) and is_resolved(surface.slopes[row])
    return Estimate(over.value, over.low, over.high, over.confidence, over.n) if is_known else Estimate()
