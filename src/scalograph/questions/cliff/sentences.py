"""Cliffs in words: where each is, what moved with the time, and what is open."""

from collections.abc import Mapping
from itertools import pairwise

from scalograph.findings.names import title
from scalograph.findings.sample import Sample
from scalograph.findings.table import Table
from scalograph.protocol.plain import Level
from scalograph.questions.cliff.document import CliffDoc, Cliffs
from scalograph.questions.cliff.model_sides import evidence
from scalograph.text.quantities import percent, probability

# A figure that grows by that much more than the time is told with the sentence; less is not worth a word.
TELLING, MOST_TOLD = 1.5, 2
# A further cliff that is less probable is not named.
NAMED = 0.05
# Cliffs of opposite directions that undo each other up to that factor are a bump.
UNDONE = 1.25

Taken = Mapping[tuple[Level, ...], Sample]


def cliff_sentence(table: Table, one: Cliffs | None) -> list[str]:
    """Say what the search has found, in one text."""
    if one is None:
        failed = sum(row.status != "ok" for row in table.rows)
        return [f"Not decided: of {len(table.rows)} runs too few are left ({failed} failed)."]
    name = title(table, one.factor)
    told = [*_places(table, one, name), *_bump(one, name)]
    if one.wanders:
        told = [_moves(one, name), *told]
    elif one.decided and not one.cliffs:
        levels = [int(row.treatment[one.factor]) for row in table.counted()]
        where = f"between {name} {min(levels)} and {max(levels)}" if levels else ""
        chance = probability(one.probability)
        told = [f"No jump of {percent(one.least - 1)} or more {where} (probability of one: {chance})."]
    left = [f"{text[:1].upper()}{text[1:]}." for text in _open(one, name)]
    return [" ".join([*told, *left, *_assumed(one)])]


def open_cliffs(table: Table, one: Cliffs | None) -> list[str]:
    """The doubt of a search that ended without an answer."""
    if one is not None and one.decided:
        return []
    return _open(one, title(table, one.factor)) if one else ["nothing is known of a cliff"]


def _places(table: Table, one: Cliffs, name: str) -> list[str]:
    return [_place(cliff, name) + _cause(table, one, cliff) + "." for cliff in one.cliffs]


def _place(cliff: CliffDoc, name: str) -> str:
    low, value, high = cliff.factor
    moves = "jumps to" if value > 1 else "falls to"
    how = f"{moves} {value:.2f} [{low:.2f}, {high:.2f}] times"
    if cliff.gradual > 0.5:
        moves = "rises" if value > 1 else "falls"
        return (
            f"Between {name} {cliff.low:.0f} and {cliff.high:.0f} the time {moves}, gradually, {how.partition(' ')[2]}"
        )
    return f"Between {name} {cliff.low:.0f} and {cliff.high:.0f} the time {how}"


def _moves(one: Cliffs, name: str) -> str:
    low, high = one.wanders or (0.0, 0.0)
    jump = one.jump or 1.0
    where = f"The time jumps, and the place moves from run to run: between {name} {low:.0f} and {high:.0f}"
    times = f"some runs take {max(jump, 1 / jump):.2g} times as long as others of the same level"
    return f"{where} {times}; or runs are slowed there, by just as much."


def _bump(one: Cliffs, name: str) -> list[str]:
    """Neighbors that undo each other."""
    found = []
    for first, second in pairwise(one.cliffs):
        if 1 / UNDONE <= first.factor[1] * second.factor[1] <= UNDONE:
            is_up = first.factor[1] > 1
            kind = "slower" if is_up else "faster"
            found.append(f"It comes and goes: {kind} from {name} {first.high:.0f} to {second.low:.0f}.")
    return found


def _open(one: Cliffs, name: str) -> list[str]:
    where = f", most probably near {name} {one.likely:.0f}" if one.likely else ""
    if one.cliffs and not one.decided and not one.wanders and not (one.another or 0) > NAMED:
        return ["it was not looked whether the place stays: the runs ended before"]
    if one.another is not None:
        return [f"another cliff has a probability of {probability(one.another)}{where}"] if one.another > NAMED else []
    if one.decided:
        return []
    more = f"; with this noise it would take about {one.n_more} more runs" if one.n_more else ""
    return [f"not decided after {one.n} runs: a cliff has a probability of {probability(one.probability)}{where}{more}"]


def _assumed(one: Cliffs) -> list[str]:
    """What the answer takes for granted."""
    least = percent(one.least - 1)
    return [f"Jumps of less than {least}, and such as come and go between measured levels, are not seen."]


def _cause(table: Table, one: Cliffs, cliff: CliffDoc) -> str:
    """The figures that moved most with the time, beyond it, and in its direction."""
    up = cliff.factor[1] > 1
    moved = [
        (name, above / below if up else below / above)
        for name, below, above in evidence(table, one.factor, cliff.low, cliff.high)
        if below and above
    ]
    time = max(cliff.factor[1], 1 / cliff.factor[1])
    told = [f"{name} {x:.1f} times" for name, x in sorted(moved, key=lambda line: -line[1]) if x >= TELLING * time]
    return f", {'and' if up else 'before it were'} {', '.join(told[:MOST_TOLD])}" if told else ""
