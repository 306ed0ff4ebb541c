"""Break-even in words beside its claim: the line as a formula, and why the search is not to be believed."""

from collections.abc import Mapping

from scalograph.findings.names import title
from scalograph.findings.table import Table
from scalograph.questions.break_even.document import BreakEven, EvenFormula
from scalograph.text.format import version_name
from scalograph.text.quantities import place

# Pairs that differ by more, in percent, are noisier than the intervals were tried with.
NOISY = 12
# Of the points: fewer that are open are no grave doubt.
FEW = 0.05
# Lines that the formula names; the table has all.
NAMED = 4


def formula_sentence(table: Table, found: BreakEven | None) -> list[str]:
    """Say which product of the sizes pays; with one size the claim has said it."""
    formula = found.formula if found else None
    return [_formula(table, found, formula)] if found and formula and len(formula.powers) > 1 else []


def open_break_even(one: BreakEven | None) -> list[str]:
    """Doubts of a search, the gravest first: a few open points change nothing of the others."""
    if one is None:
        return ["nothing is known of break-even"]
    few = one.shares["undecided"] < FEW
    return [*_misfits(one), *still_open(one)] if few else [*still_open(one), *_misfits(one)]


def _misfits(one: BreakEven) -> list[str]:
    """What a smooth surface with intervals does not carry."""
    found = []
    if one.noise_percent > NOISY:
        found.append(f"pairs differ by {one.noise_percent:.0f} %: intervals may be too narrow")
    if one.n_off:
        fit = "does" if one.n_off == 1 else "do"
        off = f"{one.n_off} of {one.n} pairs {fit} not fit a smooth surface"
        found.append(f"{off}: there is a cliff, or runs were slowed")
    return found


def _formula(table: Table, one: BreakEven, found: EvenFormula) -> str:
    product = " x ".join(_power(title(table, name), power) for name, power in found.powers.items())
    known = [(levels, work) for levels, work in found.work if work is not None]
    shown = known if len(known) <= NAMED else [known[0], known[-1]]
    parts = [f"{place(work)}{_for(table, levels)}" for levels, work in shown]
    return f"As a formula: {version_name(one.factor, one.other)} is faster where {product} is above {', '.join(parts)}."


def _power(name: str, power: float) -> str:
    return name if abs(power - 1) < 0.005 else f"{name}^{power:.2f}"


def _for(table: Table, levels: Mapping[str, float]) -> str:
    named = ", ".join(f"{title(table, name)} {place(level)}" for name, level in levels.items())
    return f" ({named})" if named else ""


def still_open(one: BreakEven) -> list[str]:
    """What is not decided, and what it would take; empty where all is."""
    if one.decided:
        return []
    if not (share := 100 * one.shares["undecided"]):
        return [f"{one.n} pairs of runs decide every point, {one.n_more} more would confirm it"]
    more = f"; about {one.n_more} more pairs would decide" if one.n_more else ""
    return [f"{share:.2g} % of the points are not decided after {one.n} pairs of runs{more}"]
