"""Break-even in words: from where on a version is faster, as a formula too, and what is open."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from scalograph.findings.names import title
from scalograph.findings.table import Table
from scalograph.questions.break_even.document import BreakEven, EvenFormula, EvenLine, EvenMap
from scalograph.text.format import version_name
from scalograph.text.quantities import place

# Pairs that differ by more, in percent, are noisier than the intervals were tried with.
NOISY = 12
# Lines that the sentence names; the table has all.
NAMED = 4


def break_even_sentences(table: Table, one: BreakEven | None) -> list[str]:
    """Say what the search has found."""
    if one is None:
        failed = sum(row.status != "ok" for row in table.rows)
        return [f"Not decided: {len(table.rows)} runs are too few pairs ({failed} failed)."]
    said = [" ".join(f"{text[:1].upper()}{text[1:]}." for text in (*_where(table, one), *_open(one)))]
    # With one size the lines have said it.
    if one.formula and len(one.formula.powers) > 1:
        said.append(_formula(table, one, one.formula))
    return [*said, _assumed(one)]


def open_break_even(one: BreakEven | None) -> list[str]:
    """The doubt of a search that ended without an answer."""
    return [*_open(one), *_misfits(one)] if one else ["nothing is known of break-even"]


def _misfits(one: BreakEven) -> list[str]:
    """What a smooth surface with intervals does not carry."""
    found = []
    if one.noise_percent > NOISY:
        found.append(f"pairs differ by {one.noise_percent:.0f} %: from a few of these, intervals are too narrow")
    if one.n_off:
        found.append(f"{one.n_off} of {one.n} pairs do not fit a smooth surface: a cliff, or runs that were slowed")
    return found


def _other(one: BreakEven) -> str:
    return version_name(one.factor, one.other)


def _where(table: Table, one: BreakEven) -> Iterator[str]:
    """The lines, those of all maps together: few are told one by one, many by their range."""
    told = [(one_map, line) for one_map in one.maps for line in one_map.lines]
    crossing = [(m, line) for m, line in told if line.location is not None]
    shown = crossing if len(crossing) <= NAMED else _spread(crossing)
    for number, (m, line) in enumerate(shown):
        subject = f"{_other(one)} is faster than {version_name(one.factor, one.baseline)}" if number == 0 else "it is"
        how = "from" if line.kind == "from" else "up to"
        told_to = f", for sure as far as {place(line.sure_to)}" if line.sure_to else ""
        on = " on" if how == "from" else ""
        yield f"{_at(table, m, line)}{subject} {how} {title(table, m.x)} {_ends(line)}{on}{told_to}"
    if len(shown) < len(crossing):
        yield f"the line was crossed at {len(crossing)} of {len(told)} settings: the table has all"
    even = f"{100 * one.even:g} %"
    yield from _partly(table, one, told)
    kinds = {
        "never": f"never faster by more than {even}",
        "always": f"always faster, or within {even}",
        "several": "faster in a part of the range, or in parts of it, and not at both ends: the map shows where",
    }
    for kind, said in kinds.items():
        if places := [(m, line) for m, line in told if line.kind == kind]:
            where = _places(table, places) if len(told) > 1 else ""
            yield f"{where}{_other(one)} is {said}"
    if places := [(m, line) for m, line in told if line.kind == "unmeasured"]:
        yield f"{_places(table, places)}nothing is known: no pair there has two times"


def _partly(table: Table, one: BreakEven, told: Sequence[tuple[EvenMap, EvenLine]]) -> Iterator[str]:
    """What is known of settings that are not decided."""
    texts = [(m, line, _known(one, title(table, m.x), line)) for m, line in told if line.kind == "undecided"]
    for m, line, text in [found for found in texts if found[-1]][:NAMED]:
        yield f"{_at(table, m, line)}{text}; the rest is not decided"


def _known(one: BreakEven, x: str, line: EvenLine) -> str:
    if line.sure_from is not None:
        return f"{_other(one)} is faster from {x} {place(line.sure_from)} on"
    if line.sure_to is not None:
        return f"{_other(one)} is faster up to {x} {place(line.sure_to)}"
    if line.low is not None:
        return f"{_other(one)} is not faster below {x} {place(line.low)}"
    return f"{_other(one)} is not faster above {x} {place(line.high)}" if line.high is not None else ""


def _spread(crossing: Sequence[tuple[EvenMap, EvenLine]]) -> list[tuple[EvenMap, EvenLine]]:
    """The lowest and the highest place, in this order."""
    ordered = sorted(crossing, key=lambda both: both[1].location or 0.0)
    return [ordered[0], ordered[-1]]


def _at(table: Table, one_map: EvenMap, line: EvenLine | None) -> str:
    """The setting of a line, or of a whole map, in words."""
    levels = {**one_map.group, **({one_map.y: line.level} if line and line.level is not None else {})}
    named = [f"{title(table, name)} {place(level)}" for name, level in levels.items()]
    return f"at {', '.join(named)} " if named else ""


def _places(table: Table, places: Sequence[tuple[EvenMap, EvenLine]]) -> str:
    """Settings of one kind; a map that has no other kind is one setting."""
    named = []
    for one_map, group in groupby(places, key=itemgetter(0)):
        lines = [line for _, line in group]
        if len(lines) == len(one_map.lines):
            named.append(_at(table, one_map, None).strip() or "everywhere")
        else:
            named += [_at(table, one_map, line).strip() for line in lines]
    return f"at {len(named)} settings " if len(named) > NAMED else "; ".join(named) + " "


def _ends(line: EvenLine) -> str:
    return f"{place(line.location)} [{place(line.low)}, {place(line.high)}]"


def _formula(table: Table, one: BreakEven, found: EvenFormula) -> str:
    product = " x ".join(_power(title(table, name), power) for name, power in found.powers.items())
    known = [(levels, work) for levels, work in found.work if work is not None]
    shown = known if len(known) <= NAMED else [known[0], known[-1]]
    parts = [f"{place(work)}{_for(table, levels)}" for levels, work in shown]
    return f"As a formula: {_other(one)} is faster where {product} is above {', '.join(parts)}."


def _power(name: str, power: float) -> str:
    return name if abs(power - 1) < 0.005 else f"{name}^{power:.2f}"


def _for(table: Table, levels: Mapping[str, float]) -> str:
    named = ", ".join(f"{title(table, name)} {place(level)}" for name, level in levels.items())
    return f" ({named})" if named else ""


def _open(one: BreakEven) -> list[str]:
    if one.decided:
        return []
    if not (share := 100 * one.shares["undecided"]):
        return [f"{one.n} pairs of runs decide every point, {one.n_more} more would confirm it"]
    more = f"; with this noise it would take about {one.n_more} more pairs" if one.n_more else ""
    return [f"not decided at {share:.2g} % of the points after {one.n} pairs of runs{more}"]


def _assumed(one: BreakEven) -> str:
    """What the answer takes for granted."""
    rests = f"It rests on {one.n} pairs of runs, which differ by {one.noise_percent:.2g} %"
    even = f"{100 * one.even:g} % more or less counts as even"
    return f"{rests}; {even}, and times are taken to change smoothly between the points that were measured."
