"""Whether more of the load adds anything, in words."""

from collections.abc import Sequence

from scalograph.findings.names import short, title
from scalograph.findings.table import Table
from scalograph.questions.throughput.claim_end import ended
from scalograph.questions.throughput.document import LoadedGroup
from scalograph.questions.throughput.model_wrong import WRONG
from scalograph.text.quantities import percent, times
from scalograph.text.short_names import is_counted


def more_load(table: Table, groups: Sequence[LoadedGroup]) -> str:
    """Say whether more of the load adds anything, why not, and where it does.

    Args:
        table: the study.
        groups: the setting that is told, and the others.
    """
    one, why = groups[0], ended(groups[0])
    if one.falls is not None and one.falls.value is not None:
        last = short(table, {one.factor: one.known[-1].level})
        lost = one.known[-1].errors
        there = f", where {percent(lost)} of the requests get no right answer" if lost >= WRONG else ""
        return f"; more carry less ({times(one.falls)} with {last}{there}){why and f': {why}'}"
    if one.state == "found":
        noun = title(table, one.factor)
        adds = f"more {noun} add" if is_counted(noun) else "more adds"
        return f"; {adds} nothing{elsewhere(table, groups)}{why and f': {why}'}"
    if one.state == "between":
        low, high = (int(x) for x in (one.plateau.low or 0, one.plateau.high or 0))
        return f"; from {low} to {high} on more add nothing{why and f': {why}'}"
    if one.state == "rising":
        is_full = one.ends not in ("clients", "not resolved", "not known")
        return f"; it rises up to there, where {why}" if is_full else f"; it still rises{why and f': {why}'}"
    if len(one.known) == 1:
        return why and f": {why}"
    return "; whether more add anything is not resolved"


def elsewhere(table: Table, groups: Sequence[LoadedGroup]) -> str:
    """Name the setting, one factor away, in which more do add: that nothing is gained may hold for the first alone."""
    first = groups[0]
    for one in groups[1:]:
        other = {name: level for name, level in one.group.items() if first.group.get(name) != level}
        adds = one.state in ("found", "rising") and one.at is not None and first.at is not None and one.at > first.at
        if adds and len(other) == 1:
            return f" (with {short(table, other)} {'they do' if is_counted(title(table, one.factor)) else 'it does'})"
    return ""
