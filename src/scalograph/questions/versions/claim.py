"""State what versions take over their reference: cases and their values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.versus import SAME
from scalograph.findings.answer import SampleMap
from scalograph.findings.curves import estimate_response, modes_text
from scalograph.findings.sample import Sample, is_mostly_unverified
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import AnswerCase, Level
from scalograph.questions.claims import state, why_unanswerable
from scalograph.questions.terms import find_terms, is_covered
from scalograph.questions.versions.model import Version, ratio
from scalograph.text.answer_form import change_cell
from scalograph.text.cell_numbers import WIDEST, cell_number, is_resolved
from scalograph.text.short_names import join_names

FORMS = {
    "percent of time": "{who!s} takes {gain:change} time than {base}{gain:change_ci}.",
    "factor of time": "{who!s} takes {gain:factor} as long as {base}{gain:interval}.",
    "percent": "{who!s} has {gain:change} {noun} than {base}{gain:change_ci}.",
    "factor": "{who!s} has {gain:factor} the {noun} of {base}{gain:interval}.",
    "size uncertain": "{who!s} is {answer} than {base} (size uncertain).",
    "best": "The best of {n} is {who}[[, with {gain:factor} the {noun} of {base}{gain:interval}]].",
    "none better": "No version is {better} than {base}[[; all have {gain:factor} its {noun}]].",
    "ends": "It is lowest with {least} and highest with {most}.",
    "none clearly better": "No version is measurably {better} than {base}.",
    "beside": "Over {base}, {noun} is[[; lower with {lower:each}]][[; higher with {higher:each}]]"
    "[[; equivalent with {same:each}]][[; inconclusive with {left:list}]].",
    "equivalent": "Within the {margin:percent} margin, {base} is equivalent to {same:each}.",
    "modes": "Runs of {who:names} are bimodal; no single value is typical.",
    "open": "Inconclusive: {who:list} may differ from {base} by up to {most:at_most}; the margin is {margin:percent}."
    " Add runs.",
    "too noisy": "Inconclusive: runs vary too much to compare with {base}. Add runs.",
    "one run": "Inconclusive: one run of each is too few to compare with {base}. Add runs.",
    "no ratio": "Inconclusive: {reason}.",
    "no answer": "No answer: {reason}.",
}
MOST_ROWS, MOST_NAMED = 24, 3
_NOTE = "paired within blocks; all intervals hold together"


def claim(table: Table, taken: SampleMap, versions: Sequence[Version]) -> Claim:
    """State what beats the reference."""
    answer = _VersionCases(table, sorted(versions, key=lambda v: -(v.gain.value or 0)))
    reason = why_unanswerable(table, taken)
    cases = [_case("no answer", reason=reason)] if reason else answer.cases()
    every = {id(sample): sample for v in versions for sample in (v.base, v.sample)}.values()
    modes = {version_name(table, s.configuration): modes_text(table, s) for s in every}
    if odd := [name for name, text in modes.items() if text]:
        cases.append(_case("modes", who=odd))
    stated = state(FORMS, cases, answer.matrix(versions, modes))
    return stated.model_copy(update={"figure": f"response {table.view.primary}"})


def version_name(table: Table, configuration: Mapping[str, Level]) -> str:
    """Name what differs from the reference, and what varies beside; texts first: "stream, 8 threads"."""
    levels = table.view.varying_levels(configuration)
    return table.view.typed_levels(dict(sorted(levels.items(), key=lambda item: not isinstance(item[1], str))))


@dataclass
class _VersionCases:
    """Versions, the fastest first, and those that the cases name."""

    table: Table
    ordered: Sequence[Version]
    named: list[Version] = field(default_factory=list)

    def __post_init__(self) -> None:
        table, levels = self.table, self.table.study.reference
        self._ratios = {id(v): ratio(table, v) for v in self.ordered}
        texts = {name: level for name, level in levels.items() if isinstance(level, str)}
        is_short = not any(texts.items() <= v.sample.configuration.items() for v in self.ordered)
        self._is_time = table.view.kind == "time"
        self._common = {
            "base": table.view.typed_levels(texts if is_short else levels),
            "noun": "time" if self._is_time else table.view.primary_title,
        }

    def cases(self) -> list[AnswerCase]:
        """Return the cases, the first one first."""
        words = {v.word for v in self.ordered}
        if words <= {"inconclusive"}:
            return [self._inconclusive()]
        if words == {"equivalent"}:
            return [_case("equivalent", **self._common, margin=SAME, same=self._each(self.ordered))]
        if len(self.ordered) == 1:
            return [self._pair(self.ordered[0])]
        best, *rest = self.ordered
        if best.word == "faster":
            values = {**self._common, "n": len(self.ordered) + 1, "who": self._name(best)}
            return [_case("best", **values, gain=self._cells([best])), self._name_others(rest)]
        values = {**self._common, "better": "faster" if self.table.view.kind else "better"}
        if words == {"slower"} and all(map(is_resolved, self._ratios.values())):
            ends = sorted(self.ordered, key=lambda v: self._ratios[id(v)].value or 0)
            first = _case("none better", **values, gain=self._cells(ends))
            return [first, _case("ends", least=self._name(ends[0]), most=self._name(ends[-1]))]
        return [
            _case("none better" if words == {"slower"} else "none clearly better", **values),
            self._name_others(self.ordered),
        ]

    def _pair(self, version: Version) -> AnswerCase:
        gain, of_time = self._cells([version]), " of time" * self._is_time
        values = {**self._common, "who": self._name(version), "answer": version.word}
        if not gain:
            return _case("size uncertain", **values)
        return _case(f"percent{of_time}" if self._is_percent else f"factor{of_time}", **values, gain=gain)

    @property
    def _is_percent(self) -> bool:
        """Tell whether the ratio of one version alone reads best as percent."""
        (version, *others) = self.ordered
        is_clear = version.word in ("faster", "slower")
        return not others and is_clear and 1 / WIDEST < (self._ratios[id(version)].value or 0) < WIDEST

    def _name_others(self, rest: Sequence[Version]) -> AnswerCase:
        """Name all others with their ratios."""
        low, high = ("slower", "faster") if self.table.view.response.better == "higher" else ("faster", "slower")
        by_word = {word: self._each([v for v in rest if v.word == word]) for word in (low, high, "equivalent")}
        left = [name for name, _ in self._each([v for v in rest if v.word == "inconclusive"])]
        return _case(
            "beside", **self._common, lower=by_word[low], higher=by_word[high], same=by_word["equivalent"], left=left
        )

    def _each(self, chosen: Sequence[Version]) -> list[tuple[str, list[Estimate]]]:
        """Name versions by the narrowest terms, with their ratios."""
        if not chosen:
            return []
        levels, every = ([v.sample.configuration for v in group] for group in (chosen, self.ordered))
        terms = find_terms(levels, every, self.table.view.varying)
        if len(chosen) > MOST_NAMED and (terms is None or len(chosen) == len(every)):
            return [self._add_size(f"{'all ' if terms else ''}{len(chosen)} versions", chosen)]
        parts = [[v for v in chosen if is_covered(v.sample.configuration, term)] for term in terms or [{}]]
        return [self._add_size(join_names(sorted(map(self._name, part)), "or"), part) for part in parts]

    def _add_size(self, name: str, chosen: Sequence[Version]) -> tuple[str, list[Estimate]]:
        cells = self._cells(chosen)
        return (name if cells or chosen[0].word == "inconclusive" else f"{name} (size uncertain)"), cells

    def _cells(self, chosen: Sequence[Version]) -> list[Estimate]:
        """Return the resolved ratios, the least and the largest of several; their rows show."""
        shown = [v for v in chosen if is_resolved(self._ratios[id(v)])]
        shown.sort(key=lambda v: self._ratios[id(v)].value or 0)
        ends = shown if len(shown) < 2 else [shown[0], shown[-1]]
        self.named += ends or chosen[:1]
        return [self._ratios[id(v)] for v in ends]

    def _inconclusive(self) -> AnswerCase:
        ends = [(e.low, e.high) for v in self.ordered if (e := self._ratios[id(v)]).low and e.high]
        if not ends:
            if all(v.gain.n == 1 for v in self.ordered):
                return _case("one run", **self._common)
            reasons = [text for v in self.ordered for text in v.gain.warnings[-1:]]
            return _case("no ratio", reason=[*reasons, f"a {self._common['noun']} of 0 has no ratio"][0])
        most = max(max(high or 1, 1 / (low or 1)) for low, high in ends) - 1
        if most >= 1:
            return _case("too noisy", **self._common)
        who = [name for name, _ in self._each(self.ordered)]
        return _case("open", **self._common, who=who, most=most, margin=SAME)

    def _name(self, version: Version) -> str:
        return version_name(self.table, version.sample.configuration)

    def matrix(self, versions: Sequence[Version], odd: Mapping[str, str]) -> Matrix:
        """Tabulate a row for each version below its reference; of too many, those that are named."""
        named, room = {id(v) for v in self.named}, MOST_ROWS - len({id(v.base) for v in versions})
        kept = sorted(versions, key=lambda v: id(v) not in named)[: max(room, 1)]
        shown, rows = {id(v) for v in kept}, []
        for base in {id(v.base): v.base for v in kept}.values():
            rows.append(self._row(base, None, odd))
            rows += [self._row(v.sample, v, odd) for v in versions if v.base is base and id(v) in shown]
        columns = [self._common["noun"], f"vs. {self._common['base']}"]
        return Matrix(**self.table.view.matrix_texts, columns=columns, rows=rows[:MOST_ROWS], note=_NOTE)

    def _row(self, sample: Sample, version: Version | None, odd: Mapping[str, str]) -> MatrixRow:
        name = version_name(self.table, sample.configuration)
        doubt = odd.get(name) or _doubt(sample)
        cell = MatrixCell(estimate=estimate_response(self.table, sample), doubt=doubt)
        if version is None:
            return MatrixRow(label=name, cells=[cell, MatrixCell(text="1")])
        over = self._ratios[id(version)]
        text = change_cell(over) if self._is_percent else cell_number(over)
        return MatrixRow(
            label=name, cells=[cell, MatrixCell(estimate=over, text=text, doubt=doubt or _doubt(version.base))]
        )


def _doubt(sample: Sample) -> str:
    return (
        "disturbed runs only" if sample.falls_back else "most runs unverified" if is_mostly_unverified(sample) else ""
    )


def _case(name: str, **values: object) -> AnswerCase:
    return AnswerCase(case=name, values=values)
