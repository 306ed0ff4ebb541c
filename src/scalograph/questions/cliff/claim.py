"""The claim of a search for cliffs: where the response jumps and how far, what else may, what was not looked at."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from scalograph.analysis.estimate import Estimate
from scalograph.findings.curves import estimated
from scalograph.findings.names import title
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.findings.whole_run import samples
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import Level
from scalograph.questions.cliff.document import CliffDoc, Cliffs
from scalograph.questions.cliff.model_wander import evidence
from scalograph.text.cell_numbers import NOT_RESOLVED, amount, compact, is_resolved, sentence, spoken
from scalograph.text.format import significant
from scalograph.text.quantities import percent, probability
from scalograph.text.scale import Scale, scale_for
from scalograph.text.units import unit_of

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


# A further cliff that is less probable is not named.
NAMED = 0.05
# Cliffs of opposite directions that undo each other up to that factor are a bump.
UNDONE = 1.25
# A jump by less is told in percent.
FOLD = 1.9
# A figure that grows by that much more than the response is told with it; less is not worth a word.
TELLING, MOST_TOLD = 1.5, 2
UNSEEN = "Jumps that come and go between measured levels are not seen."


def cliff_claim(table: Table, found: Cliffs | None) -> Claim:
    """Say what the search has found, an open end too."""
    if found is None:
        n_failed = sum(row.status != "ok" for row in table.rows)
        return _unsaid(f"of {len(table.rows)} runs too few are left ({n_failed} failed).")
    figure = f"response {primary(table)}"
    known, holes = cliffed(table, found), _holes(table, found)
    if found.wanders:
        return Claim(sentences=[_moves(table, found, *found.wanders), "Slowed runs would look alike."], figure=figure)
    if known:
        first, *others = _jumps(table, found, known)
        rest = [*(_bump(table, found, known) or others[:1]), *holes]
        least = f"Jumps of less than {percent(found.least - 1)} are not looked for."
        told = [first, *rest[:1], *_open(table, found), *rest[1:], least]
        return Claim(sentences=told[:3], matrix=cliff_matrix(table, found, known), figure=figure)
    if holes:
        return _unsaid(holes[0][0].lower() + holes[0][1:])
    return _none(table, found)


def cause(table: Table, found: Cliffs | None) -> list[str]:
    """Say which figures moved most with the response, beyond it and in its direction."""
    return [text for one in found.cliffs for text in _moved(table, found, one)] if found else []


def subject(table: Table) -> str:
    """Name what jumps."""
    response = table.study.responses[primary(table)]
    kind = unit_of(response.unit)
    plain = {"s": "time", "1/s": "rate"}[kind[0]] if kind and response.unit else primary(table).replace("_", " ")
    return f"the {response.title or plain}"


def _unsaid(why: str, *more: str) -> Claim:
    return Claim(sentences=[f"Cannot be said: {why}", *more], answered=False)


def _where(table: Table, found: Cliffs, low: float, high: float) -> str:
    """Name two levels: "from" where none lies between them."""
    between = [t for t in table.treatments if low < float(t[found.factor]) < high]
    return _between(table, found, low, high) if between else f"from {_levels(table, found, low, high)}"


def _between(table: Table, found: Cliffs, low: float, high: float) -> str:
    return f"between {_levels(table, found, low, high, joined=' and ')}"


def _levels(table: Table, found: Cliffs, *levels: Level, joined: str = " to ") -> str:
    return amount(title(table, found.factor), table.study.factors[found.factor].unit, *levels, joined=joined)


def _jumps(table: Table, found: Cliffs, known: Sequence[Cliffed]) -> list[str]:
    """One sentence for each, the largest first."""
    texts = []
    for one, sides in sorted(known, key=lambda pair: -abs(math.log(pair[0].factor[1]))):
        is_gradual = one.gradual > 0.5
        verb = "falls" if sides.factor[1] < 1 else "rises" if is_gradual else "jumps"
        how = " gradually" * is_gradual + how_far(sides)
        texts.append(sentence(f"{_where(table, found, one.low, one.high)} {subject(table)} {verb}{how}."))
    return texts


def how_far(sides: Sides) -> str:
    """Say how far it jumps, as the search weighs it; nothing that the runs on both sides would refute."""
    low, value, high = sides.factor
    over = Estimate(value, low, high) if value > 1 else Estimate(1 / value, 1 / high, 1 / low)
    if not is_resolved(over) or (sides.over is not None and not low <= sides.over <= high):
        return " (how far is not resolved)"
    if not 1 / FOLD < value < FOLD:
        return f" {spoken(over).replace(' [', '-fold [')}"
    ends = sorted(100 * abs(x - 1) for x in (low, high))
    return f" by {100 * abs(value - 1):.0f} % [{ends[0]:.0f}, {ends[1]:.0f}]"


def _bump(table: Table, found: Cliffs, known: Sequence[Cliffed]) -> list[str]:
    """Neighbors that undo each other."""
    told = []
    for (first, sides), (second, others) in pairwise(known):
        if 1 / UNDONE <= sides.factor[1] * others.factor[1] <= UNDONE:
            kind = "higher" if sides.factor[1] > 1 else "lower"
            where = _between(table, found, first.high, second.low)
            told.append(f"{sentence(subject(table))} is {kind} only {where}.")
    return told


def _holes(table: Table, found: Cliffs) -> list[str]:
    """A cliff between levels that all failed is none."""
    failed = [levels for one in found.cliffs if (levels := failed_between(table, found, one))]
    return [f"Every run failed {_where(table, found, min(n), max(n))}." for n in failed]


def _moves(table: Table, found: Cliffs, low: float, high: float) -> str:
    times = max(found.jump or 1.0, 1 / (found.jump or 1.0))
    moves = f"{sentence(subject(table))} jumps, but not always at one place"
    return f"{moves}: {_between(table, found, low, high)} runs of one level differ {times:.2g}-fold."


def _open(table: Table, found: Cliffs) -> list[str]:
    """What was not decided, or may yet be there."""
    if found.another is not None and found.another > NAMED:
        near = f", most likely near {_levels(table, found, round(found.likely))}" if found.likely else ""
        return [f"Another jump is possible ({probability(found.another)}){near}."]
    return [] if found.decided else ["The search ended before it could check that the place stays."]


def _none(table: Table, found: Cliffs) -> Claim:
    chance = probability(found.probability)
    if not found.decided:
        near = f", most likely near {_levels(table, found, round(found.likely))}" if found.likely else ""
        more = [f"With this noise it would take about {found.n_more} more runs."] if found.n_more else []
        return _unsaid(f"the search ended after {found.n} runs; a jump has a probability of {chance}{near}.", *more)
    levels = [int(row.treatment[found.factor]) for row in table.counted()]
    where = f" from {_levels(table, found, min(levels), max(levels))}" if levels else ""
    none = f"No jump of {subject(table).removeprefix('the ')} by {percent(found.least - 1)} or more"
    return Claim(sentences=[f"{none} was found{where} (probability of one: {chance}).", UNSEEN])


def _moved(table: Table, found: Cliffs, one: CliffDoc) -> list[str]:
    is_up = one.factor[1] > 1
    moved = [
        (name, above / below if is_up else below / above)
        for name, below, above in evidence(table, found.factor, one.low, one.high)
        if below and above
    ]
    least = TELLING * max(one.factor[1], 1 / one.factor[1])
    told = [f"{name} {x:.1f} times" for name, x in sorted(moved, key=lambda line: -line[1]) if x >= least]
    side = "Above" if is_up else "Below"
    return [f"{side} {_levels(table, found, one.low)}: {', '.join(told[:MOST_TOLD])}."] if told else []
