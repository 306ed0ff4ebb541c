"""State which number of jobs builds fastest, and what it costs: cases and their values."""

from collections.abc import Iterator, Sequence
from statistics import median

from scalograph.findings.answer import SampleMap
from scalograph.findings.curves import estimate_response
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import AnswerCase, Level
from scalograph.questions.claims import case, state, why_unanswerable
from scalograph.questions.parallel_build.model_equivalence import (
    MARGIN,
    USER,
    Group,
    compare_with_best,
    groups,
    inflation,
    rests_on_disturbed,
    user_time,
)
from scalograph.questions.terms import find_terms, term_text
from scalograph.text.answer_form import Quantity
from scalograph.text.cell_numbers import cell_number, is_resolved, matrix_scale
from scalograph.text.short_names import drop_repeats, join_names, short_setting

FORMS = {
    "fastest": "{who} builds fastest[[ {where}]][[: {time:measured}]][[ {at}]].",
    "several": "{who} builds fastest[[ {where}]] (which one is inconclusive)"
    "[[; {first} takes {time:measured}]][[ {at}]].",
    "elsewhere": "The fastest elsewhere is[[; {others:list}]][[; inconclusive {left}]].",
    "cost": "{who} takes {gain:factor} the {noun} of {base}{gain:interval}[[ {where}]].",
    "as much": "{noun} of {who} and {base} is equivalent within {margin:percent}[[ {where}]].",
    "cost open": "{noun} of {who} vs. {base} is inconclusive[[ {where}]].",
    "open": "Inconclusive: the fastest {factor} cannot be determined"
    "[[; differences below {least:percent} would be missed]]. Add runs.",
    "disturbed": "Inconclusive: the fastest {factor} cannot be determined; {n} of {all} runs were disturbed."
    " Rerun with --wait-quiet 10m.",
    "too few": "Inconclusive: fewer than two blocks have an undisturbed run of every {factor}. Add runs.",
    "no answer": "No answer: {reason}.",
}
MOST_ROWS = 24
MISSED = 1.0  # share from which a difference that would be missed is no number worth a word


def build_claim(table: Table, taken: SampleMap, factor: str) -> Claim | None:
    """State the claim, for the groups with the most CPUs first; None where less is not better."""
    every = sorted(groups(table, taken, factor), key=lambda group: -_n_cpus(group))
    if not every or table.view.response.better != "lower":
        return None
    answer, reason = _BuildCases(table, factor, every), why_unanswerable(table, taken)
    cases = [case("no answer", reason=reason)] if reason else [*answer.cases(taken)]
    return state(FORMS, cases, answer.matrix, f"response {table.view.primary}")


def _n_cpus(group: Group) -> int:
    return max(row.n_cpus for sample in group.samples.values() for row in sample.succeeded)


class _BuildCases:
    """Groups with what builds fastest in each; the first one that has an answer leads."""

    def __init__(self, table: Table, factor: str, every: Sequence[Group]) -> None:
        self._table, self._factor, self._every = table, factor, every
        self._names = [name for name in table.view.varying if name != factor]
        self._contenders = [compare_with_best(table, group, len(every)) for group in every]
        self._user = user_time(table)
        is_user = table.study.responses[self._user].source in USER
        self._costs = [inflation(table, group) if is_user else {} for group in every]
        self._lead = next((i for i in range(len(every)) if self._best(i)), None)
        order = sorted(range(len(every)), key=lambda i: i != self._lead)
        rows = [row for i in order for row in self._rows(i)]
        cost = f"{table.view.title(self._user).partition(',')[0]} vs. {self._name(min(map(int, every[0].samples)))}"
        heads = [table.view.primary_title, *([cost] if any(self._costs) else []), "may be fastest"]
        self.matrix = Matrix(
            **table.view.matrix_texts | {"title": "time of one build"}, columns=heads, rows=rows[:MOST_ROWS],
            rows_are=table.view.title(factor) if len(every) == 1 else "",
        )  # fmt: skip

    def _best(self, i: int) -> tuple[float, ...]:
        """Return the levels that may be the fastest; none where all may be, or runs were disturbed."""
        best = tuple(c.level for c in self._contenders[i] if c.may_be_best)
        is_known = len(best) < len(self._contenders[i]) and not self._is_disturbed(i)
        return best if is_known else ()

    def _is_disturbed(self, i: int) -> bool:
        return rests_on_disturbed(self._every[i], self._table.view.primary)

    def cases(self, samples: SampleMap) -> Iterator[AnswerCase]:
        lead = self._lead
        if lead is None:
            yield self._inconclusive(samples)
            yield from (case for case in self._cost(0) if case.case != "cost open")
            return
        by_best: dict[tuple[float, ...], list[int]] = {}
        for i in range(len(self._every)):
            by_best.setdefault(self._best(i), []).append(i)
        best, left = self._best(lead), by_best.pop((), [])
        times = {level: estimate_response(self._table, self._every[lead].samples[int(level)]) for level in best}
        shortest, time = min(times.items(), key=lambda item: item[1].value or 0.0)
        alike = by_best.pop(best)
        yield case(
            "fastest" if len(best) == 1 else "several", best=[*best], who=self._or(best), where=self._where(alike),
            first=self._name(shortest), at=self._where([lead]) if len(alike) > 1 else "",
            time=Quantity(time, matrix_scale(self.matrix)) if is_resolved(time) else None,
        )  # fmt: skip
        if by_best or left:
            others = [f"{self._or(levels)} {self._where(groups)}" for levels, groups in by_best.items()]
            yield case("elsewhere", others=others, left=self._where(left))
        yield from self._cost(lead)

    def _inconclusive(self, samples: SampleMap) -> AnswerCase:
        factor = self._table.view.title(self._factor)
        if all(self._is_disturbed(i) for i in range(len(self._every))):
            n, every = (
                sum(x) for x in zip(*((s.n_disturbed, len(s.succeeded)) for s in samples.values()), strict=True)
            )
            return case("disturbed", factor=factor, n=n, all=every)
        if not any(self._contenders):
            return case("too few", factor=factor)
        least = median(c.visible for contenders in self._contenders for c in contenders)
        return case("open", factor=factor, least=least if least < MISSED else None)

    def _cost(self, i: int) -> Iterator[AnswerCase]:
        """Yield what the most jobs cost over the fewest."""
        (first, *_), (*_, level) = self._every[i].samples, self._every[i].samples
        cost = self._costs[i].get(level)
        if cost is None or rests_on_disturbed(self._every[i], self._user, first, level):
            return
        values = {"who": self._name(level), "base": self._name(first), "where": self._where([i]), "margin": MARGIN}
        values["noun"] = self._table.view.title(self._user).partition(",")[0]
        if cost.label == "equivalent":
            yield case("as much", **values)
        elif is_resolved(cost.ratio) and not cost.ratio.contains(1.0):
            yield case("cost", **values, gain=[cost.ratio])
        else:
            yield case("cost open", **values)

    def _where(self, chosen: Sequence[int]) -> str:
        """Name groups by the narrowest terms; empty for all."""
        levels, every = ([self._every[i].fixed for i in some] for some in (chosen, range(len(self._every))))
        if len(chosen) in (0, len(every)):
            return ""
        terms = find_terms(levels, every, self._names)
        texts = [term_text(self._table.view, term) for term in terms or []]
        return f"with {' or with '.join(texts)}" if texts else f"in {len(chosen)} of {len(every)} groups"

    def _name(self, level: Level) -> str:
        return short_setting(self._table.view.title(self._factor), int(level), self._table.view.unit(self._factor))

    def _or(self, levels: Sequence[float]) -> str:
        return join_names(drop_repeats([self._name(level) for level in levels]), "or")

    def _rows(self, i: int) -> Iterator[MatrixRow]:
        group, view, costs = self._every[i], self._table.view, self._costs[i]
        may_be = {c.level: "yes" if c.may_be_best else "no" for c in self._contenders[i] if not self._is_disturbed(i)}
        for level, sample in group.samples.items():
            doubt = "disturbed runs only" * rests_on_disturbed(group, view.primary, level)
            cells = [MatrixCell(estimate=estimate_response(self._table, sample), doubt=doubt)]
            if any(self._costs):
                ratio = costs[level].ratio if level in costs else None
                cells.append(MatrixCell(estimate=ratio, text=cell_number(ratio) if ratio else "1", doubt=doubt))
            cells.append(MatrixCell(text=may_be.get(float(level), "inconclusive")))
            rest = view.short_levels({name: group.fixed[name] for name in self._names})
            yield MatrixRow(label=f"{self._name(level)}, {rest}" if rest else str(level), cells=cells)
