"""State where a search found cliffs, how far the response jumps there, and what else may: cases and their values."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from scalograph.analysis.estimate import Estimate
from scalograph.findings.curves import estimate_response
from scalograph.findings.sample import Sample
from scalograph.findings.table import Table
from scalograph.findings.whole_run import comparable_samples
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import AnswerCase
from scalograph.questions.claims import state
from scalograph.questions.cliff.document import CliffDoc, Cliffs
from scalograph.questions.cliff.model_wander import evidence
from scalograph.text.answer_form import factor_with_ends
from scalograph.text.cell_numbers import INCONCLUSIVE, cell_number, is_resolved, level_range
from scalograph.text.format import DASH, number, significant
from scalograph.text.quantities import probability
from scalograph.text.scale import Scale, scale_for
from scalograph.text.units import unit_of

FORMS = {
    "rise": "Cliff between {place}: {what} rises[[ {how}]] to {gain:times}.",
    "fall": "Cliff between {place}: {what} falls[[ {how}]] to {gain:times}.",
    "rise of uncertain size": "Cliff between {place}: {what} rises[[ {how}]] (size uncertain).",
    "fall of uncertain size": "Cliff between {place}: {what} falls[[ {how}]] (size uncertain).",
    "higher between": "{what} is higher only between {place}.",
    "lower between": "{what} is lower only between {place}.",
    "moves": "Cliff at a place that varies between {place}: runs at one level differ by {gain:times}.",
    "slowed": "Disturbed runs would look the same.",
    "none": "{what} has no jump of {least:percent} or more over {range} (probability of one: {probability:chance}).",
    "alternates": "With odd numbers of {factor}, {what} is {gain:times} that with even ones; this is no cliff.",
    "not searched": "The search ended there; a cliff in addition would be missed.",
    "another": "Another jump is possible[[ near {near}]] (probability {probability:chance}).",
    "unconfirmed": "The search ended before the place was confirmed.",
    "failed": "Every run failed at {levels}.",
    "unseen": "Jumps under {least:percent}, or between tested levels, would be missed.",
    "open": "Inconclusive: after {n} runs, a jump[[ near {near}]] has a probability of {probability:chance}."
    "[[ More runs needed: about {more}.]]",
    "all failed": "No answer: every run failed at {levels}.",
    "no answer": "No answer: too few runs; {failed} of {n} failed.",
}
# Below this number of runs, the runs themselves are shown: their interval would span decades.
FEW = 3
# A further cliff that is less probable is not named.
NAMED = 0.05
# Cliffs of opposite directions that undo each other up to that factor are a bump.
UNDONE = 1.25
# Counters that grow by that much more than the response are stated as causes, so many at most.
CAUSE_RATIO, MOST_CAUSES = 1.5, 2


def cliff_claim(table: Table, result: Cliffs | None) -> Claim:
    if result is None:
        failed = sum(row.status != "ok" for row in table.rows)
        return state(FORMS, [AnswerCase(case="no answer", values={"n": len(table.rows), "failed": failed})])
    cliffs = cliffs_with_sides(table, result)
    matrix = cliff_matrix(table, result, cliffs) if cliffs or result.wanders else None
    figure = f"response {table.view.primary}" if matrix else ""
    return state(FORMS, [*_cases(table, result, cliffs)], matrix, figure)


@dataclass(frozen=True)
class Sides:
    """The samples at the nearest measured levels on both sides of a cliff, and the size of the jump.

    `factor` is that of the response: for a rate, the inverse of that of the time.
    """

    factor: Estimate
    samples: tuple[Sample, Sample]
    estimates: tuple[Estimate, Estimate]

    @property
    def is_sized(self) -> bool:
        """Tell whether the size is narrow, and the runs on both sides do not contradict it."""
        below, above = (estimate.value for estimate in self.estimates)
        return is_resolved(self.factor) and not (below and above and not self.factor.contains(above / below))


CliffWithSides = tuple[CliffDoc, Sides]


def cliffs_with_sides(table: Table, result: Cliffs) -> list[CliffWithSides]:
    """Select the cliffs that have runs on both sides, and no level between that always failed."""
    cliffs = [cliff for cliff in result.cliffs if not failing_levels(table, result, cliff)]
    return [(cliff, sides) for cliff in cliffs if (sides := _sides(table, result, cliff))]


def failing_levels(table: Table, result: Cliffs, cliff: CliffDoc) -> list[int]:
    """Return the levels inside a cliff at which every run failed."""
    tried = {int(row.configuration[result.factor]) for row in table.rows}
    inside = [n for n in tried if cliff.low < n < cliff.high]
    return sorted(set(inside) - {int(row.configuration[result.factor]) for row in table.successful_rows()})


def _sides(table: Table, result: Cliffs, cliff: CliffDoc) -> Sides | None:
    name = table.view.primary
    samples = {int(s.configuration[result.factor]): s for s in comparable_samples(table).values() if s.scores(name)}
    below, above = [n for n in samples if n <= cliff.low], [n for n in samples if n >= cliff.high]
    if not below or not above:
        return None
    first, second = samples[max(below)], samples[min(above)]
    low, value, high = cliff.factor
    ends = (1 / value, 1 / high, 1 / low) if table.view.response.better == "higher" else (value, low, high)
    estimates = estimate_response(table, first, name), estimate_response(table, second, name)
    return Sides(Estimate(*ends), (first, second), estimates)


def _cases(table: Table, result: Cliffs, cliffs: Sequence[CliffWithSides]) -> Iterator[AnswerCase]:
    common = {"what": what_jumps(table), "least": result.least - 1}
    if result.wanders:
        ends = _levels(table, result, *result.wanders, joined=" and ")
        yield AnswerCase(case="moves", values={"place": ends, "gain": [_moving_jump(result)]})
        yield AnswerCase(case="slowed")
        return
    if result.alternates:
        gain = 1 / result.alternates if table.view.response.better == "higher" else result.alternates
        values = {"factor": table.view.title(result.factor), "what": what_jumps(table), "gain": [Estimate(gain)]}
        yield from (AnswerCase(case="alternates", values=values), AnswerCase(case="not searched"))
        return
    failed = [levels for cliff in result.cliffs if (levels := failing_levels(table, result, cliff))]
    holes = [{"levels": _levels(table, result, *dict.fromkeys((min(levels), max(levels))))} for levels in failed]
    if not cliffs:
        yield AnswerCase(case="all failed", values=holes[0]) if holes else _no_jump(table, result, common)
    else:
        jumps = sorted(cliffs, key=lambda pair: -abs(math.log(pair[0].factor[1])))
        first, *others = [_jump_case(table, result, *pair) for pair in jumps]
        yield from (first, *([*_bumps(table, result, cliffs)] or others)[:1], *_open_end(table, result))
    yield from (AnswerCase(case="failed", values=hole) for hole in holes[0 if cliffs else 1 :])
    if cliffs or (not holes and result.decided):
        yield AnswerCase(case="unseen", values=common)


def what_jumps(table: Table) -> str:
    response = table.view.response
    kind, name = unit_of(response.unit), table.view.primary.replace("_", " ")
    return response.title or ({"s": "time", "1/s": "rate"}[kind[0]] if kind and response.unit else name)


def _moving_jump(result: Cliffs) -> Estimate:
    times = result.jump or 1.0
    return Estimate(max(times, 1 / times))


def _jump_case(table: Table, result: Cliffs, cliff: CliffDoc, sides: Sides) -> AnswerCase:
    ends, how = _levels(table, result, cliff.low, cliff.high, joined=" and "), "gradually" * (cliff.gradual > 0.5)
    values = {"place": ends, "what": what_jumps(table), "how": how, "sides": list(sides.estimates)}
    kind = "rise" if (sides.factor.value or 1.0) > 1 else "fall"
    if not sides.is_sized:
        return AnswerCase(case=f"{kind} of uncertain size", values=values)
    return AnswerCase(case=kind, values={**values, "gain": [sides.factor]})


def _bumps(table: Table, result: Cliffs, cliffs: Sequence[CliffWithSides]) -> Iterator[AnswerCase]:
    for (first, sides), (second, others) in pairwise(cliffs):
        up, down = sides.factor.value or 1.0, others.factor.value or 1.0
        if 1 / UNDONE <= up * down <= UNDONE:
            ends = _levels(table, result, first.high, second.low, joined=" and ")
            case = "higher between" if up > 1 else "lower between"
            yield AnswerCase(case=case, values={"what": what_jumps(table), "place": ends})


def _open_end(table: Table, result: Cliffs) -> Iterator[AnswerCase]:
    if _has_another(result):
        yield AnswerCase(case="another", values={"probability": result.another, "near": _likely(table, result)})
    elif not result.decided:
        yield AnswerCase(case="unconfirmed")


def _has_another(result: Cliffs) -> bool:
    return result.another is not None and result.another > NAMED


def _likely(table: Table, result: Cliffs) -> str:
    return _levels(table, result, result.likely) if result.likely else ""


def _no_jump(table: Table, result: Cliffs, common: Mapping[str, object]) -> AnswerCase:
    values = {**common, "probability": result.probability, "near": _likely(table, result)}
    if not result.decided or result.cliffs:
        return AnswerCase(case="open", values={**values, "n": result.n, "more": result.n_more})
    levels = [int(row.configuration[result.factor]) for row in table.successful_rows()]
    return AnswerCase(case="none", values={**values, "range": _levels(table, result, min(levels), max(levels))})


def _levels(table: Table, result: Cliffs, *levels: float, joined: str = " to ") -> str:
    return level_range(
        table.view.title(result.factor), table.view.unit(result.factor), *map(round, levels), joined=joined
    )


def cliff_matrix(table: Table, result: Cliffs, cliffs: Sequence[CliffWithSides]) -> Matrix:
    """Make the matrix: a row for each cliff, by its place, and one for the jump that may be there too."""
    response = table.view.response
    scale = scale_for(response.unit, [e.value for _, sides in cliffs for e in sides.estimates])
    rows = [_row(table, *pair, scale) for pair in cliffs]
    if result.wanders:
        rows = [_text_row(_range_label(*result.wanders), DASH, DASH, factor_with_ends(_moving_jump(result)), DASH)]
    elif _has_another(result):
        label = f"near {number(round(result.likely))}" if result.likely else "another"
        rows.append(_text_row(label, DASH, DASH, DASH, probability(result.another or 0.0)))
    is_few = any(len(sample.scores(table.view.primary)) < FEW for _, sides in cliffs for sample in sides.samples)
    return Matrix(
        title=table.view.primary_title, unit=response.unit, better=response.better,
        rows_are=table.view.title(result.factor), columns=["below", "above", "change", "probability"], rows=rows,
        note="below, above: nearest measured levels; change: between trends" + '; "to": two runs' * is_few,
    )  # fmt: skip


def _range_label(low: float, high: float) -> str:
    return level_range("", "", low, high).strip()


def _text_row(label: str, *texts: str) -> MatrixRow:
    return MatrixRow(label=label, cells=[MatrixCell(text=text) for text in texts])


def _row(table: Table, cliff: CliffDoc, sides: Sides, scale: Scale) -> MatrixRow:
    cells = [_cell(table, *side, scale) for side in zip(sides.samples, sides.estimates, strict=True)]
    text = factor_with_ends(sides.factor) if sides.is_sized else INCONCLUSIVE
    change = MatrixCell(estimate=sides.factor if sides.is_sized else None, text=text)
    sure = MatrixCell(text=probability(cliff.probability))
    return MatrixRow(label=_range_label(cliff.low, cliff.high), cells=[*cells, change, sure])


def _cell(table: Table, sample: Sample, estimate: Estimate, scale: Scale) -> MatrixCell:
    runs, text = sorted(sample.scores(table.view.primary)), ""
    if len(runs) < FEW and (len(runs) == 1 or cell_number(estimate, scale) == INCONCLUSIVE):
        # With its unit: the others, of which few are as far apart, give that of the table.
        text = " to ".join(dict.fromkeys(significant(x * scale.factor) for x in (runs[0], runs[-1]))) + f" {scale.unit}"
    return MatrixCell(estimate=estimate, text=text, doubt="disturbed runs only" if sample.falls_back else "")


def cause_sentences(table: Table, result: Cliffs | None) -> list[str]:
    """State which counters moved most with the response, beyond it and in its direction."""
    if result is None:
        return []
    sentences = []
    for cliff in result.cliffs:
        side, size = ("Above", cliff.factor[1]) if cliff.factor[1] > 1 else ("Below", 1 / cliff.factor[1])
        counters = evidence(table, result.factor, cliff.low, cliff.high)
        moved = sorted(
            ((b / a if side == "Above" else a / b, name) for name, a, b in counters if a and b), reverse=True
        )
        causes = [f"{name} {x:.1f}\N{MULTIPLICATION SIGN}" for x, name in moved if x >= CAUSE_RATIO * size]
        if causes:
            sentences.append(f"{side} {_levels(table, result, cliff.low)}: {', '.join(causes[:MOST_CAUSES])}.")
    return sentences
