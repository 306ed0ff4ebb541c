"""State what levels do: the largest difference that is sure, or how large one may be: cases and their values."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import expm1
from statistics import median
from typing import NamedTuple

from scalograph.analysis.estimate import Estimate
from scalograph.findings.answer import SampleMap
from scalograph.findings.curves import estimate_response, modes_text
from scalograph.findings.sample import Sample, is_functional
from scalograph.findings.table import Table
from scalograph.findings.visible_effect import estimate_noise
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import AnswerCase, Level
from scalograph.questions.claims import missing_response, state, why_unanswerable
from scalograph.questions.levels.model import MOST_PAIRS, LevelDifference, differences, farthest
from scalograph.questions.matrices import Line, choose_columns, matrix, mean_estimate, rows
from scalograph.questions.terms import Term, find_terms, is_covered, term_text
from scalograph.text.answer_form import Quantity
from scalograph.text.cell_numbers import cell_number, is_resolved, matrix_scale
from scalograph.text.format import level_text
from scalograph.text.quantities import inverse
from scalograph.text.scale import PLAIN
from scalograph.text.short_names import drop_repeats

SHORT_LEVELS = 20  # letters of the levels of a factor that a sentence lists
_WHERE = "[[, for {who:list}]][[, in {n} of {all} configurations]]."
FORMS = {
    "longer": "{high} takes {gain:factor} as long as {low}{gain:interval}[[, {values:value}]]" + _WHERE,
    "larger": "With {high}, {response} is {gain:times} that with {low}[[, {values:value}]]" + _WHERE,
    "ratio": "Going from {low} to {high} gives {gain:times} the {response}[[, {values:value}]]" + _WHERE,
    "uncertain": "With {high}, {response} is larger than with {low} (size uncertain)[[, for {who:list}]].",
    "beside": "It is[[; reversed for {reversed:each}]][[; reversed in {n_reversed} configurations ({range:times})]]"
    "[[; equivalent within {most:at_most} for {alike:list}]]"
    "[[; equivalent within {most:at_most} in {n_alike} configurations]]"
    "[[; inconclusive for {left:list}]][[; inconclusive in {n_left} configurations]].",
    "other": "Going from {low} to {high} changes {response} from {less:value} to {more:value}[[ ({who})]].",
    "other factors": "[[levels of {alike:names} are equivalent]][[, within {most:at_most}]]"
    "[[; the effect of {left:names} is inconclusive]][[, with up to {possible:at_most} possible]].",
    "excluded": "Configurations with values of 0 or less are excluded ({n}).",
    "equivalent": "Equivalent: no two levels differ by more than {most:at_most}.",
    "identical": "Equivalent: all runs have the same value.",
    "noise": "Runs of one configuration typically differ by {noise:percent}.",
    "success": "{n} of {all} runs succeeded. With one run per configuration, values are not compared.",
    "open": "Inconclusive: no difference is significant among all comparisons; up to {most:at_most} is possible."
    " Add runs.",
    "too noisy": "Inconclusive: runs vary too much to compare. Add runs.",
    "few runs": "Inconclusive: one run per configuration is too few to compare. Add runs.",
    "many": "Inconclusive: too many configurations to compare.",
    "one time": "A run takes {value:measured}.",
    "one value": "The value of {response} is {value:measured}.",
    "one range": "Inconclusive: {response} ranges from {least:value} to {most:value} in {n} runs. Add runs.",
    "modes": "Run-to-run values are bimodal; no single value is typical.",
    "no answer": "No answer: {reason}.",
}
# All levels count as alike where no two may differ by more.
ALIKE = 0.05
# A larger share is no percentage to read.
MOST_SHARE = 9.0
# Terms of an exception; more are counted.
MOST_NAMED = 2
# Percent: smaller differences come from rounding.
ROUNDING = 1e-4
_SUMMARIES: Mapping[str, Callable[[Sequence[float]], float]] = {"median": median, "min": min, "max": max}


def claim(table: Table, samples: SampleMap) -> Claim:
    """State what the levels of each factor do."""
    table = _timeless_table(table, samples)
    name, n = table.view.primary, len(table.configurations)
    measured = [sample for sample in samples.values() if sample.scores(name)]
    reason = why_unanswerable(table, samples) or ("" if measured else missing_response(table, samples, name))
    if len(measured) == 1 < n:
        reason = reason or f"only 1 of {n:,} configurations has runs"
    if len(measured) == n == 1:
        alone = single_claim(table, measured[0])
        return state(FORMS, [_case("no answer", reason=reason)], alone.matrix) if reason else alone
    answer = _LevelCases(table, measured, differences(table, samples, name))
    if reason:
        cases = [_case("no answer", reason=reason)]
    elif success := _success_case(samples.values()):
        cases = [success]
    else:
        cases = [*answer.cases()]
    return state(FORMS, cases, answer.matrix)


def _timeless_table(table: Table, samples: SampleMap) -> Table:
    """Return a table that is asked for what emulated guests recorded, as these have no times; else as it is."""
    runs = [row for sample in samples.values() for row in sample.succeeded]
    if not runs or not all(map(is_functional, runs)) or any(s.scores(table.view.primary) for s in samples.values()):
        return table
    scores = {n: {tuple(s.scores(n)) for s in samples.values()} for n in table.study.responses}
    order = sorted((n for n, values in scores.items() if any(values)), key=lambda n: len(scores[n]) == 1)
    recorded = {n: table.study.responses[n] for n in order}  # what differs comes first
    return replace(table, study=table.study.model_copy(update={"responses": recorded})) if recorded else table


def _case(name: str, **values: object) -> AnswerCase:
    return AnswerCase(case=name, values=values)


def single_claim(table: Table, sample: Sample) -> Claim:
    """State the primary response of the runs of one configuration."""
    view, scores = table.view, sample.scores(table.view.primary)
    typical, modes = estimate_response(table, sample), modes_text(table, sample)
    values = [typical, *(Estimate(float(summary(scores))) for summary in _SUMMARIES.values())]
    shown = Matrix(
        title=f"{view.primary_title} (runs: {len(scores)})", unit=view.response.unit, better=view.response.better,
        columns=["typical", *_SUMMARIES], rows=[MatrixRow(label="", cells=[MatrixCell(estimate=x) for x in values])],
        note=modes,
    )  # fmt: skip
    value, _, least, most = (Quantity(e, matrix_scale(shown)) for e in values)
    if modes:
        case = _case("modes")
    elif typical.low is None or is_resolved(typical):
        case = _case("one time" if view.kind == "time" else "one value", response=view.primary_title, value=value)
    else:
        case = _case("one range", response=view.primary_title, least=least, most=most, n=len(scores))
    return state(FORMS, [case], shown)


def _success_case(samples: Iterable[Sample]) -> AnswerCase | None:
    samples = list(samples)
    runs = [row for sample in samples for row in sample.succeeded]
    if max(len(sample.succeeded) for sample in samples) > 1 or not all(map(is_functional, runs)):
        return None
    return _case("success", n=len(runs), all=len(runs) + sum(sample.n_failed for sample in samples))


class _Row(NamedTuple):
    """A row of the matrix, and the ratio of the two levels that the claim compares."""

    line: Line
    ratio: Estimate | None


class _LevelCases:
    """The cases of levels that are compared; each number is that of a row, which is shown."""

    def __init__(self, table: Table, samples: Sequence[Sample], pairs: Sequence[LevelDifference]) -> None:
        self._table, self._samples, self._pairs = table, samples, pairs
        self._is_whole = len(pairs) < MOST_PAIRS  # else some were not compared
        self._sure = [pair for pair in pairs if pair.is_sure]
        self._lead = next((p for p in self._sure if is_resolved(self._ratio(p))), next(iter(self._sure), None))
        first = self._lead or next(iter(pairs), None)
        self._factor = first.factor if first else ""
        self._ends = [sample.configuration[self._factor] for sample in first.samples] if first else []
        self._names = [name for name in table.view.varying if name != self._factor]
        self._second = next((p for p in self._sure if p.factor != self._factor and self._has_values(p)), None)
        self._kinds = self._sort_peers()
        self._terms = {kind: self._find_terms(pairs) for kind, pairs in self._kinds.items()}
        self._rows = self._make_rows() if pairs else []
        self.matrix = self._make_matrix() if pairs else None
        self._scale = matrix_scale(self.matrix) if self.matrix else PLAIN

    def _sort_peers(self) -> Mapping[str, list[LevelDifference]]:
        """Sort the pairs of the same two levels by what their difference is."""
        kinds: dict[str, list[LevelDifference]] = {"gain": [], "reversed": [], "alike": [], "left": []}
        for pair in self._pairs if self._lead and self._is_whole else [self._lead] if self._lead else ():
            levels = [sample.configuration[self._factor] for sample in pair.samples]
            if pair.factor != self._factor or levels not in (self._ends, self._ends[::-1]):
                continue
            if pair is self._lead or (pair.is_sure and is_resolved(self._ratio(pair))):
                kinds["gain" if levels == self._ends else "reversed"].append(pair)
            else:
                most = None if pair.is_sure else farthest([pair], self._table.view.confidence)
                kinds["alike" if most is not None and most <= ALIKE else "left"].append(pair)
        return kinds

    def cases(self) -> Iterator[AnswerCase]:
        """Yield the cases, the first one first."""
        noise = estimate_noise(self._table, self._samples)
        share = noise.sd_log_percent / 100 if noise else 0.0
        # Of work that is the same under all names, how much its runs differ is the question.
        is_noise = any(self._table.study.factors[name].kind == "nuisance" for name in self._table.view.varying)
        if is_noise and 100 * share > ROUNDING and expm1(share) <= MOST_SHARE:
            yield _case("noise", noise=share)
        n_left = sum(min(sample.scores(self._table.view.primary)) <= 0 for sample in self._samples)
        if self._lead is None:
            yield self._nothing_sure(n_left)
            return
        yield self._largest(self._lead)
        yield from self._exceptions()
        if self._second:
            yield self._other(self._second)
        yield from self._other_factors()
        if n_left:
            yield _case("excluded", n=n_left)

    def _nothing_sure(self, n_left: int) -> AnswerCase:
        if not self._is_whole:
            return _case("many")
        if n_left and not self._pairs:
            return _case("no answer", reason="values of 0 or less have no ratio")
        most = self._farthest(self._pairs)
        if most is None:
            return _case("few runs")
        if most > MOST_SHARE:
            return _case("too noisy")
        return _case("identical" if not most else "equivalent" if most <= ALIKE else "open", most=most)

    def _largest(self, lead: LevelDifference) -> AnswerCase:
        view, members = self._table.view, self._kinds["gain"]
        low, high = (view.short_levels({self._factor: level}) for level in self._ends)
        common = {"response": view.primary_title, "high": high, "low": low}
        where = [self._context_text(lead)] if self._names else []
        if not is_resolved(self._ratio(lead)):
            return _case("uncertain", **common, who=where)
        terms, extremes = self._terms["gain"], self._extremes(members)
        who = [*map(self._text, terms)] if terms and terms != [{}] else []
        name = "ratio" if view.kind != "time" else "longer" if isinstance(self._ends[1], str) else "larger"
        values = self._values(extremes[0].line) if len(extremes) == 1 else []
        return _case(
            name, **common, gain=self._cells(members), values=values,
            who=who if self._is_whole else where, n=len(members) if terms is None and self._is_whole else None,
            all=sum(map(len, self._kinds.values())),
        )  # fmt: skip

    def _values(self, line: Line) -> list[Quantity]:
        low, high = (line.cells[self._columns.index(level)].estimate for level in self._ends)
        pair = [e for e in (high, low) if e is not None and is_resolved(e)]
        return [Quantity(e, self._scale) for e in pair] if len(pair) > 1 else []

    def _exceptions(self) -> Iterator[AnswerCase]:
        """Name where the levels do something else: one sentence, so that nothing is dropped."""
        values: dict[str, object] = {}
        for kind in ("reversed", "alike", "left"):
            pairs = self._kinds[kind]
            terms = self._terms[kind]
            if terms is None or len(terms) > MOST_NAMED:
                values |= {f"n_{kind}": len(pairs)} | ({"range": self._cells(pairs)} if kind == "reversed" else {})
            elif kind == "reversed":
                values[kind] = [(self._text(term), self._cells(self._pairs_of(pairs, term))) for term in terms]
            else:
                values[kind] = [*map(self._text, terms)]
        if any(values.values()):
            yield _case("beside", **values, most=self._farthest(self._kinds["alike"]))

    def _other(self, pair: LevelDifference) -> AnswerCase:
        """State what another factor does, where that is largest."""
        low, high = (self._table.view.short_levels({pair.factor: s.configuration[pair.factor]}) for s in pair.samples)
        less, more = (Quantity(self._value(sample), self._scale) for sample in pair.samples)
        common = {"response": self._table.view.primary_title, "who": self._context_text(pair)}
        return _case("other", high=high, more=more, low=low, less=less, **common)

    def _other_factors(self) -> Iterator[AnswerCase]:
        """Name the factors of which no difference was found."""
        sure, far = {pair.factor for pair in self._sure}, dict[str, float | None]()
        for name in [n for n in self._table.view.varying if n not in sure and self._is_whole]:
            if own := [pair for pair in self._pairs if pair.factor == name]:
                far[self._name_factor(name)] = self._farthest(own)
        alike = {title: most for title, most in far.items() if most is not None and most <= ALIKE}
        left = {title: most for title, most in far.items() if title not in alike}
        possible = max((MOST_SHARE if most is None else most for most in left.values()), default=MOST_SHARE)
        if far:
            yield _case(
                "other factors", alike=[*alike], most=max(alike.values(), default=0.0) or None, left=[*left],
                possible=possible if possible < MOST_SHARE else None,
            )  # fmt: skip

    def _name_factor(self, name: str) -> str:
        """Name a factor, with its levels where these are few words: "version (java, c)"."""
        levels = [level_text(level or "none") for level in self._table.study.factors[name].levels]
        listed, are_words = ", ".join(levels), any(level.isalpha() for level in levels)
        return self._table.view.title(name) + f" ({listed})" * (are_words and len(listed) <= SHORT_LEVELS)

    def _farthest(self, pairs: Sequence[LevelDifference]) -> float | None:
        return farthest(pairs, self._table.view.confidence)

    def _ratio(self, pair: LevelDifference) -> Estimate:
        return pair.ratio(self._table.view.confidence)

    def _value(self, sample: Sample) -> Estimate:
        return estimate_response(self._table, sample)

    def _has_values(self, pair: LevelDifference) -> bool:
        return all(is_resolved(self._value(sample)) for sample in pair.samples)

    def _context_text(self, pair: LevelDifference) -> str:
        levels = self._table.view.varying_levels(pair.less.configuration)
        return self._table.view.short_levels({name: level for name, level in levels.items() if name != pair.factor})

    def _context(self, sample: Sample) -> Mapping[str, Level]:
        return {name: sample.configuration[name] for name in self._names}

    def _find_terms(self, pairs: Sequence[LevelDifference]) -> list[Term] | None:
        """Find terms of some peers that no other configuration has, also where the two levels were not measured."""
        every = [dict(items) for items in dict.fromkeys(tuple(self._context(s).items()) for s in self._samples)]
        own = [self._context(pair.less) for pair in pairs]
        return find_terms([levels for levels in every if levels in own], every, self._names) if pairs else []

    def _text(self, term: Term) -> str:
        return term_text(self._table.view, term)

    def _pairs_of(self, pairs: Sequence[LevelDifference], term: Term) -> list[LevelDifference]:
        return [pair for pair in pairs if is_covered(self._context(pair.less), term)]

    def _kind(self, levels: Mapping[str, Level]) -> Hashable:
        """Tell apart what the claim names: the terms of each kind, and the rows of the other factor."""
        second = [levels == self._context(sample) for sample in (self._second.samples if self._second else ())]
        for kind, pairs in self._kinds.items():
            if any(levels == self._context(pair.less) for pair in pairs):
                terms = self._terms[kind] or []
                return kind, next((i for i, term in enumerate(terms) if is_covered(levels, term)), None), *second
        return "", None, *second

    def _make_rows(self) -> list[_Row]:
        named = [s for pair in (self._lead, self._second) if pair for s in pair.samples]
        samples = sorted(self._samples, key=lambda s: not any(self._context(s) == self._context(x) for x in named))
        levels, second = [s.configuration[self._factor] for s in samples], self._second.samples if self._second else ()
        every = [level for level in self._table.study.factors[self._factor].levels for x in levels if x == level]
        self._columns = choose_columns(every, [*self._ends, *(sample.configuration[self._factor] for sample in second)])
        cells = [(sample, MatrixCell(estimate=self._value(sample))) for sample in samples]
        lines = rows(self._table, self._factor, self._columns, cells, self._kind)
        return [_Row(line, self._line_ratio(line)) for line in lines]

    def _line_ratio(self, line: Line) -> Estimate | None:
        ratios = []
        for pair in (pair for peers in self._kinds.values() for pair in peers):
            if is_covered(self._context(pair.less), line.levels):
                is_forward = pair.more.configuration[self._factor] == self._ends[1]
                ratios.append(self._ratio(pair) if is_forward else inverse(self._ratio(pair)))
        is_mean = len(ratios) > 1 and all(map(is_resolved, ratios))
        return mean_estimate(ratios) if is_mean else next(iter(ratios), None)

    def _rows_of(self, samples: Iterable[Sample]) -> list[_Row]:
        contexts = [self._context(sample) for sample in samples]
        return [row for row in self._rows if any(is_covered(levels, row.line.levels) for levels in contexts)]

    def _extremes(self, pairs: Sequence[LevelDifference]) -> list[_Row]:
        """Return the rows with the least and the largest ratio of these pairs."""
        own = [row for row in self._rows_of(pair.less for pair in pairs) if row.ratio]
        own.sort(key=lambda row: row.ratio.value or 0.0 if row.ratio else 0.0)
        return own if len(own) < 2 else [own[0], own[-1]]

    def _cells(self, pairs: Sequence[LevelDifference]) -> list[Estimate]:
        return [row.ratio for row in self._extremes(pairs) if row.ratio]

    def _make_matrix(self) -> Matrix:
        """Tabulate the levels that the claim names, and some between; the rows that it names first."""
        chosen = [row for kind in ("gain", "reversed") for row in self._extremes(self._kinds[kind])]
        for kind, pairs in self._kinds.items():
            some = [self._pairs_of(pairs, term) for term in self._terms[kind] or ()]
            chosen += [row for part in some for row in self._rows_of(pair.less for pair in part)[:1] if kind != "gain"]
        second = self._rows_of(self._second.samples) if self._second else []
        order = [*chosen[:2], *second, *chosen[2:], *self._rows]
        shown = [row for i, row in enumerate(order) if not any(row is other for other in order[:i])]
        heads = drop_repeats([self._table.view.short_levels({self._factor: level}) for level in self._columns])
        lines = [row.line for row in shown]
        if self._lead:
            heads.append(" / ".join(level_text(level if level != "" else "none") for level in reversed(self._ends)))
            last = [MatrixCell(estimate=row.ratio, text=cell_number(row.ratio)) for row in shown]
            lines = [Line(line.levels, (*line.cells, cell)) for line, cell in zip(lines, last, strict=True)]
        return matrix(self._table, lines, heads, **self._table.view.matrix_texts)
