"""State the claim of a search for cliffs: where the response jumps, how far, and what else may."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from scalograph.analysis.estimate import Estimate
from scalograph.findings.curves import estimate_response
from scalograph.findings.sample import Sample
from scalograph.findings.table import Table
from scalograph.findings.whole_run import comparable_samples
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import Level
from scalograph.questions.cliff.document import CliffDoc, Cliffs
from scalograph.questions.cliff.model_wander import evidence
from scalograph.text.cell_numbers import NOT_RESOLVED, capitalize, cell_number, claim_number, is_resolved, level_range
from scalograph.text.format import significant
from scalograph.text.quantities import percent, probability
from scalograph.text.scale import Scale, scale_for
from scalograph.text.units import unit_of

# Below this number of runs, the runs themselves are shown: their interval would span decades.
FEW = 3


@dataclass(frozen=True)
class Sides:
    """The nearest measured levels on both sides of a cliff, their samples, and the size of the jump.

    `factor` is that of the response: for a rate, the inverse of that of the time.
    """

    factor: tuple[float, float, float]
    levels: tuple[int, int]
    samples: tuple[Sample, Sample]
    estimates: tuple[Estimate, Estimate]

    @property
    def ratio(self) -> float | None:
        """Return the response above over that below."""
        below, above = (estimate.value for estimate in self.estimates)
        return above / below if above and below else None


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
    factor = (1 / high, 1 / value, 1 / low) if table.view.response.better == "higher" else cliff.factor
    estimates = estimate_response(table, first, name), estimate_response(table, second, name)
    return Sides(factor, (max(below), min(above)), (first, second), estimates)


def cliff_matrix(table: Table, result: Cliffs, cliffs: Sequence[CliffWithSides]) -> Matrix:
    """Make the matrix: one row for each cliff."""
    response = table.view.response
    scale = scale_for(response.unit, [e.value for _, sides in cliffs for e in sides.estimates])
    rows = []
    for _, sides in cliffs:
        cells = [_cell(table, *side, scale) for side in zip(sides.samples, sides.estimates, strict=True)]
        rows.append(MatrixRow(label=level_range("", "", *sides.levels).strip(), cells=cells))
    is_few = any(len(sample.scores(table.view.primary)) < FEW for _, sides in cliffs for sample in sides.samples)
    return Matrix(
        title=table.view.primary_title, unit=response.unit, better=response.better,
        rows_are=table.view.title(result.factor), columns=["below", "above"], rows=rows,
        note="the jump is between the trends of both sides" + ('; "to": the two runs there are' if is_few else ""),
    )  # fmt: skip


def _cell(table: Table, sample: Sample, estimate: Estimate, scale: Scale) -> MatrixCell:
    runs, text = sorted(sample.scores(table.view.primary)), ""
    if len(runs) < FEW and (len(runs) == 1 or cell_number(estimate, scale) == NOT_RESOLVED):
        text = " to ".join(dict.fromkeys(significant(x * scale.factor) for x in (runs[0], runs[-1])))
    return MatrixCell(estimate=estimate, text=text, doubt="disturbed runs only" if sample.falls_back else "")


# A further cliff that is less probable is not named.
NAMED = 0.05
# Cliffs of opposite directions that undo each other up to that factor are a bump.
UNDONE = 1.25
# Jumps by a smaller factor are stated in percent.
FOLD = 1.9
# Counters that grow by that much more than the response are stated as causes, so many at most.
CAUSE_RATIO, MOST_CAUSES = 1.5, 2
UNSEEN = "Jumps that come and go between measured levels are not seen."


def cliff_claim(table: Table, result: Cliffs | None) -> Claim:
    """State what the search has found, an open end too."""
    if result is None:
        n_failed = sum(row.status != "ok" for row in table.rows)
        return _no_answer(f"of {len(table.rows)} runs too few are left ({n_failed} failed).")
    figure = f"response {table.view.primary}"
    cliffs = cliffs_with_sides(table, result)
    failed = [levels for cliff in result.cliffs if (levels := failing_levels(table, result, cliff))]
    holes = [f"Every run failed {_where_phrase(table, result, min(n), max(n))}." for n in failed]
    if result.wanders:
        times, ends = result.jump or 1.0, _levels(table, result, *result.wanders, joined=" and ")
        moves = f"{capitalize(subject(table))} jumps, but not always at one place: between {ends} runs of one level"
        moves = f"{moves} differ {max(times, 1 / times):.2g}-fold."
        return Claim(sentences=[moves, "Slowed runs would look alike."], figure=figure)
    if cliffs:
        first, *others = _jump_sentences(table, result, cliffs)
        rest = [*(_bump_sentences(table, result, cliffs) or others[:1]), *holes]
        least = f"Jumps of less than {percent(result.least - 1)} are not looked for."
        sentences = [first, *rest[:1], *_open_sentences(table, result), *rest[1:], least]
        return Claim(sentences=sentences[:3], matrix=cliff_matrix(table, result, cliffs), figure=figure)
    if holes:
        return _no_answer(holes[0][0].lower() + holes[0][1:])
    return _no_jump_claim(table, result)


def cause_sentences(table: Table, result: Cliffs | None) -> list[str]:
    """State which counters moved most with the response, beyond it and in its direction."""
    return [text for cliff in result.cliffs for text in _cause_sentences(table, result, cliff)] if result else []


def subject(table: Table) -> str:
    """Name the response that jumps."""
    response = table.view.response
    kind, name = unit_of(response.unit), table.view.primary.replace("_", " ")
    return f"the {response.title or ({'s': 'time', '1/s': 'rate'}[kind[0]] if kind and response.unit else name)}"


def _no_answer(reason: str, *more: str) -> Claim:
    return Claim(sentences=[f"Cannot be said: {reason}", *more], answered=False)


def _where_phrase(table: Table, result: Cliffs, low: float, high: float) -> str:
    """Name two levels: "from" where none lies between them."""
    if any(low < float(t[result.factor]) < high for t in table.configurations):
        return f"between {_levels(table, result, low, high, joined=' and ')}"
    return f"from {_levels(table, result, low, high)}"


def _levels(table: Table, result: Cliffs, *levels: Level, joined: str = " to ") -> str:
    return level_range(table.view.title(result.factor), table.view.unit(result.factor), *levels, joined=joined)


def _jump_sentences(table: Table, result: Cliffs, cliffs: Sequence[CliffWithSides]) -> list[str]:
    texts = []
    for cliff, sides in sorted(cliffs, key=lambda pair: -abs(math.log(pair[0].factor[1]))):
        is_gradual = cliff.gradual > 0.5
        verb = "falls" if sides.factor[1] < 1 else "rises" if is_gradual else "jumps"
        how = " gradually" * is_gradual + jump_size_text(sides)
        texts.append(capitalize(f"{_where_phrase(table, result, cliff.low, cliff.high)} {subject(table)} {verb}{how}."))
    return texts


def jump_size_text(sides: Sides) -> str:
    """State the size of a jump; not resolved where the runs on both sides contradict it."""
    low, value, high = sides.factor
    over = Estimate(value, low, high) if value > 1 else Estimate(1 / value, 1 / high, 1 / low)
    if not is_resolved(over) or (sides.ratio is not None and not low <= sides.ratio <= high):
        return " (how far is not resolved)"
    if not 1 / FOLD < value < FOLD:
        return f" {claim_number(over).replace(' [', '-fold [')}"
    ends = sorted(100 * abs(x - 1) for x in (low, high))
    return f" by {100 * abs(value - 1):.0f} % [{ends[0]:.0f}, {ends[1]:.0f}]"


def _bump_sentences(table: Table, result: Cliffs, cliffs: Sequence[CliffWithSides]) -> list[str]:
    sentences = []
    for (first, sides), (second, others) in pairwise(cliffs):
        if 1 / UNDONE <= sides.factor[1] * others.factor[1] <= UNDONE:
            kind = "higher" if sides.factor[1] > 1 else "lower"
            levels = _levels(table, result, first.high, second.low, joined=" and ")
            sentences.append(f"{capitalize(subject(table))} is {kind} only between {levels}.")
    return sentences


def _open_sentences(table: Table, result: Cliffs) -> list[str]:
    if result.another is not None and result.another > NAMED:
        return [f"Another jump is possible ({probability(result.another)}){_likely_text(table, result)}."]
    return [] if result.decided else ["The search ended before it could check that the place stays."]


def _likely_text(table: Table, result: Cliffs) -> str:
    return f", most likely near {_levels(table, result, round(result.likely))}" if result.likely else ""


def _no_jump_claim(table: Table, result: Cliffs) -> Claim:
    chance = probability(result.probability)
    if not result.decided:
        near = _likely_text(table, result)
        more = [f"With this noise it would take about {result.n_more} more runs."] if result.n_more else []
        return _no_answer(f"the search ended after {result.n} runs; a jump has a probability of {chance}{near}.", *more)
    levels = [int(row.configuration[result.factor]) for row in table.successful_rows()]
    where = f" from {_levels(table, result, min(levels), max(levels))}" if levels else ""
    none = f"No jump of {subject(table).removeprefix('the ')} by {percent(result.least - 1)} or more"
    return Claim(sentences=[f"{none} was found{where} (probability of one: {chance}).", UNSEEN])


def _cause_sentences(table: Table, result: Cliffs, cliff: CliffDoc) -> list[str]:
    is_up = cliff.factor[1] > 1
    moved = [
        (name, above / below if is_up else below / above)
        for name, below, above in evidence(table, result.factor, cliff.low, cliff.high)
        if below and above
    ]
    least = CAUSE_RATIO * max(cliff.factor[1], 1 / cliff.factor[1])
    causes = [f"{name} {x:.1f} times" for name, x in sorted(moved, key=lambda line: -line[1]) if x >= least]
    side = "Above" if is_up else "Below"
    return [f"{side} {_levels(table, result, cliff.low)}: {', '.join(causes[:MOST_CAUSES])}."] if causes else []
