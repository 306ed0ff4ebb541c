"""State which tunables matter, by how much, and what is not known of the others: cases and their values."""

from collections.abc import Iterator, Sequence

from scalograph.analysis.estimate import Estimate
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import AnswerCase
from scalograph.questions.claims import case, state, worst_disturbance
from scalograph.questions.tunables.document import SettingEffect, Tunables
from scalograph.questions.tunables.model_array import causes_failures
from scalograph.text.cell_numbers import is_resolved
from scalograph.text.quantities import response_ratio
from scalograph.text.short_names import join_first

FORMS = {
    "matter": "Tunables that matter: {n} of {all}[[; with {who:names}, {noun} is {gain:factor} the default's"
    "{gain:interval}]][[; the default of {best:names} is best]].",
    "effects": "Over the default, {noun} is[[; lower with {lower:each}]][[; higher with {higher:each}]]"
    "[[; not confirmed to differ with {refuted:each}]][[; not retested with {candidates:each}]]"
    "[[; different by an uncertain factor with {uncertain}]].",
    "others": "Others are[[; equivalent within {margin:percent} ({n_same})]]"
    "[[; inconclusive, with up to {most:at_most} possible ({left})]]"
    "[[; without a result ({unknown})]][[; failing with {fails}]].",
    "fails": "Runs fail with {fails}.",
    "equivalent": "No tunable of {all} matters: all levels are equivalent to the default within {margin:percent}.",
    "nothing": "No tunable of {all} measurably matters: no level changes {noun} by more than {most:at_most}"
    "[[; without a result: {unknown}]][[; runs fail with {fails}]].",
    "open": "Inconclusive: no tunable of {all} is known to matter; effects up to {most:at_most} remain possible"
    "[[; without a result: {unknown}]][[; runs fail with {fails}]]. Add runs[[: about {needed} blocks in all]].",
    "too few": "No answer: less than one block of runs so far ({n_runs}).",
    "worst": "The most disturbed run was {worst}.",
    "wait": "A search counts undisturbed runs only; --wait-quiet 10m waits for a quiet machine.",
    "no answer": "No answer: {reason}.",
}
FIGURE = "tunables-effects"
MOST_ROWS = 8
# Levels that a sentence names; of more, how many there are.
MOST_NAMED = 3


def tunables_claim(table: Table, part: Tunables, reason: str) -> Claim:
    if part.half_width is None or all(factor.p is None for factor in part.factors):
        return state(FORMS, [*_nothing_known(table, part, reason)])
    answer = _TunableCases(table, part)
    cases = [*(answer.matter() if part.matter else answer.nothing())]
    return state(FORMS, cases, answer.matrix(), FIGURE)


def _nothing_known(table: Table, part: Tunables, reason: str) -> Iterator[AnswerCase]:
    if not reason:
        yield case("too few", n_runs=part.n_runs)
        return
    yield case("no answer", reason=reason)
    if worst := worst_disturbance(table):
        yield case("worst", worst=worst)
        yield case("wait")


class _TunableCases:
    """The cases, and the rows that they name."""

    def __init__(self, table: Table, part: Tunables) -> None:
        self._table, self._part, self._named = table, part, list[MatrixRow]()
        self._common = {"all": len(part.factors), "noun": table.view.primary_title}
        self._sides = ("worse", "better") if table.view.response.better == "higher" else ("better", "worse")
        matter = {factor.factor for factor in part.matter}
        own, self._others = ([s for s in part.settings if (s.factor in matter) == x] for x in (True, False))
        self._confirmed = [s for s in own if _is_gain(s.alone)]
        self._refuted = [s for s in own if s.alone is not None and not _is_gain(s.alone)]
        self._candidates = [s for s in own if s.alone is None and s.label == "positive" and not self._has_fresh(s)]
        self._losses = [s for s in own if s.label == "negative"]
        explained = {s.factor for s in (*self._confirmed, *self._refuted, *self._candidates, *self._losses)}
        self._culprits = [s for s in part.settings if causes_failures(s.fails_p, len(part.settings))]
        self._uncertain = sorted(matter - explained)
        # What fresh runs refute does not matter, unless another level does.
        self._n = len(matter - ({s.factor for s in self._refuted} - {s.factor for s in self._losses}))

    def _ratio(self, gain: Estimate) -> Estimate:
        return response_ratio(gain, self._table.view.response.better)

    def _has_fresh(self, setting: SettingEffect) -> bool:
        return any(s.alone is not None for s in self._part.settings if s.factor == setting.factor)

    def matter(self) -> Iterator[AnswerCase]:
        """Yield the cases where tunables matter, the first one first."""
        gain, who = self._together()
        lost = {s.factor for s in self._losses}
        best = [f for f in lost if all(s.label == "negative" for s in self._part.settings if s.factor == f)]
        names = [self._table.view.title(name) for name in best if not who]
        yield case("matter", **self._common, n=self._n, gain=gain, who=who, best=names)
        better = [self._name_size(s, s.alone) for s in self._confirmed if [self._name(s)] != who]
        sides = {"better": better, "worse": [self._name_size(s, s.gain) for s in self._losses]}
        values = {
            "gain": [e for side in sides.values() for _, cells in side for e in cells],
            "lower": sides[self._sides[0]], "higher": sides[self._sides[1]],
            "refuted": [self._name_size(s, s.alone) for s in self._refuted],
            "candidates": [self._name_size(s, s.gain) for s in self._candidates],
            "uncertain": join_first([self._table.view.title(n) for n in self._uncertain] or [""], MOST_NAMED),
        }  # fmt: skip
        if any(values.values()):
            yield case("effects", **self._common, **values)
        if self._others:
            yield self._rest()
        elif self._culprits:
            yield case("fails", fails=self._failures())

    def _together(self) -> tuple[list[Estimate], list[str]]:
        """Return the gain of all confirmed levels together, or of the only one."""
        levels = {s.factor: s.level for s in self._confirmed}
        if len(self._confirmed) == 1:
            (only,) = self._confirmed
            return (gain, [self._name(only)]) if (gain := self._cells(only, only.alone)) else ([], [])
        for combination in self._part.combinations:
            over = self._ratio(combination.gain)
            if levels and combination.levels == levels and _is_gain(combination.gain) and is_resolved(over):
                names = [self._name(s) for s in self._confirmed]
                cells = [MatrixCell(), MatrixCell(estimate=over)]
                self._named.append(MatrixRow(label=", ".join(names), cells=cells))
                return [over], names
        return [], []

    def _rest(self) -> AnswerCase:
        """Name what is known of the tunables that do not matter."""
        measured = [s for s in self._others if s.gain]
        factors = {s.factor for s in measured}
        left = factors - {f for f in factors if all(s.label == "equivalent" for s in measured if s.factor == f)}
        return case(
            "others", margin=self._part.margin, n_same=len(factors - left) or None,
            most=self._most([s for s in measured if s.factor in left]) if left else None,
            left=join_first([self._table.view.title(n) for n in sorted(left)], MOST_NAMED - 1) if left else "",
            unknown=self._unknown(self._others), fails=self._failures(),
        )  # fmt: skip

    def nothing(self) -> Iterator[AnswerCase]:
        """Yield the case where no tunable matters, or none is known to."""
        settings = self._part.settings
        values = {**self._common, "margin": self._part.margin, "most": self._most(settings)}
        values |= {"unknown": self._unknown(settings), "fails": self._failures(), "needed": self._part.blocks_needed}
        is_same = all(s.label == "equivalent" for s in settings)
        yield case("open" if not self._part.decided else "equivalent" if is_same else "nothing", **values)

    def _failures(self) -> str:
        """Name the levels with which runs fail."""
        for s in self._culprits[:MOST_NAMED]:
            self._show(s)
        return join_first([self._name(s) for s in self._culprits], MOST_NAMED) if self._culprits else ""

    def _unknown(self, settings: Sequence[SettingEffect]) -> str:
        names = [self._name(s) for s in settings if not s.gain and s not in self._culprits]
        return join_first(names, MOST_NAMED) if names else ""

    def _most(self, settings: Sequence[SettingEffect]) -> float:
        """Return how far any of these may be from the default, as a share."""
        over = [self._ratio(s.gain) for s in settings if s.gain]
        return max((max((e.high or 1.0) - 1, 1 - (e.low or 1.0)) for e in over), default=0.0)

    def _name(self, setting: SettingEffect) -> str:
        return self._table.view.typed_levels(setting.levels)

    def _name_size(self, setting: SettingEffect, gain: Estimate | None) -> tuple[str, list[Estimate]]:
        cells = self._cells(setting, gain)
        return self._name(setting) + " (size uncertain)" * (not cells), cells

    def _cells(self, setting: SettingEffect, gain: Estimate | None) -> list[Estimate]:
        """Return the ratio of a level if it is resolved; its row shows."""
        self._show(setting)
        over = self._ratio(gain) if gain else None
        return [over] if over and is_resolved(over) else []

    def _show(self, setting: SettingEffect) -> None:
        row = self._row(setting)
        self._named += [row] if row not in self._named else []

    def _row(self, setting: SettingEffect) -> MatrixRow:
        cells = [MatrixCell(estimate=self._ratio(gain) if gain else None) for gain in (setting.gain, setting.alone)]
        return MatrixRow(label=self._name(setting), cells=cells)

    def matrix(self) -> Matrix:
        measured = sorted((s for s in self._part.settings if s.gain), key=_weight)
        rows = [*self._named, *(row for s in measured if (row := self._row(s)) not in self._named)][:MOST_ROWS]
        n = 2 if any(row.cells[1].estimate for row in rows) else 1
        return Matrix(
            title=f"{self._common['noun']} over the default", better=self._table.view.response.better, rows_are="level",
            columns=["all runs", "fresh runs"][:n], note="fresh runs: made after the search" * (n > 1),
            rows=[row.model_copy(update={"cells": row.cells[:n]}) for row in rows],
        )  # fmt: skip


def _is_gain(gain: Estimate | None) -> bool:
    return gain is not None and gain.low is not None and gain.low > 1


def _weight(setting: SettingEffect) -> float:
    value = (setting.gain.value if setting.gain else None) or 1.0
    return -max(value, 1 / value)
