"""State which configuration is fastest, which may be as fast, and which is the cheapest: cases and values."""

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from scalograph.analysis.estimate import Estimate
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.protocol.plain import AnswerCase, Level, is_number
from scalograph.questions.best.document import FIGURE, Best, BestConfiguration
from scalograph.questions.claims import case, state
from scalograph.text.answer_form import factor_with_ends
from scalograph.text.cell_numbers import is_resolved, level_range
from scalograph.text.format import significant
from scalograph.text.quantities import percent, probability
from scalograph.text.scale import scale_for
from scalograph.text.short_names import join_first

FORMS = {
    "faster": "Fastest: {who}, at {gain:times} the default's speed.",
    "default": "Fastest: the default, {who}.",
    "equivalent": "Fastest: {who}; the default is equivalent within {margin:percent}.",
    "unconfirmed": "Inconclusive: fresh runs do not confirm that {who} is faster than the default.",
    "open": "Inconclusive: the search ended after {n} runs; {who} is the fastest so far, but unconfirmed.",
    "several": "Equivalent within {margin:percent}, or inconclusive: {set} ({n_members} of {all})"
    "[[; another may be faster by more than that (probability {risk:chance})]].",
    "alone": "All other configurations are probably slower by more than {margin:percent}.",
    "risk": "Another configuration may be faster by more than {margin:percent} (probability {risk:chance}).",
    "cheapest": "Cheapest of these: {cheap}[[, at {over:times} the speed of the fastest]].",
    "no answer": "No answer: {reason}.",
}
# Levels of a factor that a sentence names.
MOST_NAMED = 3
# A probability that another configuration is faster below which nothing is said of it, as the search ends there.
RISK = 0.05


def best_claim(table: Table, part: Best | None, reason: str) -> Claim:
    if part is None:
        return state(FORMS, [case("no answer", reason=reason or "some of the first configurations have no run")])
    values = {
        "who": table.view.typed_levels(part.winner.levels), "gain": part.winner.speed, "margin": part.margin,
        "n": part.n_runs, "n_members": len(part.members), "all": part.n_configurations,
        "risk": part.risk if part.risk > RISK else None, "set": _set_text(table, part.members),
    }  # fmt: skip
    names = [_first_case(part), *_set_cases(part)]
    cases = [case(name, **values) for name in names] + [*_cheapest(table, part)]
    return state(FORMS, cases, _matrix(table, part), FIGURE if part.line else "")


def _first_case(part: Best) -> str:
    if not part.decided:
        return "open"
    if part.winner.levels == part.default.levels:
        return "default"
    gain = part.winner.speed
    if gain is None or gain.low is None or gain.high is None or not is_resolved(gain):
        return "unconfirmed"
    if gain.low > 1:
        return "faster"
    return "equivalent" if gain.high <= 1 + part.margin and gain.low >= 1 - part.margin else "unconfirmed"


def _set_cases(part: Best) -> Iterator[str]:
    if len(part.members) > 1:
        yield "several"
    else:
        yield "risk" if part.risk > RISK else "alone"


def recommend(part: Best) -> BestConfiguration | None:
    """Return the cheapest configuration unless fresh runs show it slower than the winner by more than the margin."""
    over = part.over_winner
    if part.cheapest is None or over is None or over.high is None or over.high < 1 - part.margin:
        return None
    return part.cheapest


def _cheapest(table: Table, part: Best) -> Iterator[AnswerCase]:
    if (cheap := recommend(part)) is not None:
        over = part.over_winner if part.over_winner and is_resolved(part.over_winner) else None
        yield case("cheapest", cheap=table.view.typed_levels(cheap.levels), over=over)


def _set_text(table: Table, members: Sequence[BestConfiguration]) -> str:
    """Name the levels that members have, factor by factor: "5 to 8 threads, -O3"; `some of`, where not all have."""
    own: Mapping[str, list[Level]] = {
        name: [*dict.fromkeys(member.levels[name] for member in members)] for name in members[0].levels
    }
    spans = {name: _span(table, name, levels) for name, levels in own.items()}
    text = ", ".join(_levels_text(table, name, levels) for name, levels in own.items())
    return text if prod(spans.values()) == len(members) else f"some of {text}"


def _span(table: Table, name: str, levels: Sequence[Level]) -> int:
    """Return how many levels of a factor its text covers: of numbers, all between the ends."""
    numbers = [level for level in levels if is_number(level)]
    if len(numbers) < len(levels):
        return len(levels)
    every = {t[name] for t in table.configurations}
    return sum(is_number(level) and min(numbers) <= level <= max(numbers) for level in every)


def _levels_text(table: Table, name: str, levels: Sequence[Level]) -> str:
    numbers = sorted(level for level in levels if is_number(level))
    if len(levels) > 1 and len(numbers) == len(levels):
        return level_range(table.view.title(name), table.view.unit(name), numbers[0], numbers[-1])
    return join_first([table.view.typed_levels({name: level}) for level in levels], MOST_NAMED).replace(" and ", " or ")


def _matrix(table: Table, part: Best) -> Matrix:
    """Tabulate the default, the winner and the cheapest: response in fresh runs, and speeds."""
    shown = {"default": part.default, "fastest": part.winner, "cheapest": part.cheapest}
    is_default = part.winner.levels == part.default.levels
    rows = [
        _row(table, label, configuration, part.over_winner if label == "cheapest" else None)
        for label, configuration in shown.items()
        if configuration and not (label == "default" and is_default)
    ]
    if len(part.members) > 1:
        rows.append(_set_row(table, part))
    if part.risk > RISK:
        cells = [MatrixCell(text=f"probability {probability(part.risk)}"), MatrixCell(), MatrixCell()]
        rows.append(MatrixRow(label=f"another is faster by more than {percent(part.margin)}", cells=cells))
    columns = [table.view.primary_title, "speed over default", "speed over fastest"]
    n = 3 if part.cheapest else 2
    note = f"searched with {part.n_runs} runs on {part.n_configurations} configurations"
    note += f"; {part.n_fresh} fresh runs, in pairs" if part.n_fresh else ""
    return Matrix(
        title=f"{table.view.primary_title}, {'fresh' if part.n_fresh else 'all'} runs", unit=table.view.response.unit,
        better=table.view.response.better, columns=columns[:n], note=note,
        rows=[row.model_copy(update={"cells": row.cells[:n]}) for row in rows],
    )  # fmt: skip


def _set_row(table: Table, part: Best) -> MatrixRow:
    """Show what the fit of all runs has of the configurations that may be as fast."""
    fits = [member.fitted.value for member in part.members if member.fitted and member.fitted.value]
    scale = scale_for(table.view.response.unit, fits)
    ends = dict.fromkeys(significant(x * scale.factor) for x in (min(fits), max(fits)))
    cells = [MatrixCell(text=f"{' to '.join(ends)} {scale.unit}, fitted"), MatrixCell(), MatrixCell()]
    return MatrixRow(label=_set_text(table, part.members), cells=cells)


def _row(table: Table, label: str, configuration: BestConfiguration, over: Estimate | None) -> MatrixRow:
    cells = [
        MatrixCell(estimate=configuration.fresh or configuration.fitted),
        _ratio(configuration.speed),
        _ratio(over),
    ]
    return MatrixRow(label=f"{label}: {table.view.typed_levels(configuration.levels)}", cells=cells)


def _ratio(over: Estimate | None) -> MatrixCell:
    return MatrixCell(text=factor_with_ends(over) if over and is_resolved(over) else "")
