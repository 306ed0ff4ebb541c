"""State the claim on throughput: the maximum rate, whether more load adds anything, and the bottleneck."""

from collections.abc import Iterator, Sequence

from scalograph.analysis.estimate import Estimate
from scalograph.findings.answer import SampleMap
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell
from scalograph.questions.claims import limit_sentences, missing_response, why_unanswerable
from scalograph.questions.matrices import choose_columns, matrix, rows
from scalograph.questions.throughput.document import LoadedGroup, LoadPoint, PartUse
from scalograph.questions.throughput.model_driven import WRONG
from scalograph.text.cell_numbers import claim_number, is_resolved
from scalograph.text.load_words import fold, owned_cpus, rate_unit, small_percent, used_of_granted
from scalograph.text.quantities import count_noun, percent, times
from scalograph.text.scale import scale_for
from scalograph.text.short_names import is_counted, join_names
from scalograph.text.units import format_duration

MOST, GROWN = 3, 1.5  # parts that are told to be ruled out, and what grows by more than this has waited
SEEN = 0.05  # shorter stalls are not worth a word
STALLS = {"io": "a device", "memory": "memory"}
# What becomes of requests without a right answer; the rest are answers that are wrong.
WRONG_CAUSES = {
    "connect": "get no connection", "closed": "lose their connection", "timeout": "get no answer in time",
    "malformed": "get no HTTP",
}  # fmt: skip


def bottleneck_phrase(group: LoadedGroup) -> str:
    """Name the bottleneck; empty where nothing was measured that could show it."""
    if group.ends == "not known":
        return ""
    if group.ends == "inside":
        grown = group.grows is not None and group.grows > GROWN
        waits = f" (response times grow {fold(group.grows or 1.0)})" if grown else ""
        unseen = "a lock" if any(part.kind == "pool" for part in group.ruled_out) else "a lock or a pool"
        return f"requests wait{waits} while no CPU is used up, for {unseen}"
    if group.ends == "not resolved":
        return _ambiguity_phrase(group)
    return _full_part_phrase(group, group.ended_by[0]) if group.ended_by else ""


def other_parts(group: LoadedGroup) -> str:
    """Name the parts that are ruled out, the fullest first; empty where there are none."""
    parts = [part for part in group.ruled_out if part.kind not in STALLS or part.share > SEEN]
    amounts = [utilization_phrase(group, part) for part in parts if part.kind != "clients"][:MOST]
    point = group.point(group.at)
    if group.ends in ("inside", "wrong") and point is not None and point.dropped == 0:
        amounts.append("dropped connections")
    return join_names(amounts) if amounts and group.ends not in ("not resolved", "not known") else ""


def utilization_phrase(group: LoadedGroup, part: PartUse) -> str:
    """State how full a part is: "database CPU 0.32 of 1"."""
    if part.kind == "clients":
        return f"{join_names(part.names)} {percent(part.share)}"
    if part.kind in STALLS:
        return f"{join_names(part.names)} stalled on {STALLS[part.kind]} for {percent(part.share)} of the time"
    if part.kind == "driver":
        return f"driver {percent(part.share)} of its CPU"
    if part.kind == "pool":
        return f"pool {used_of_granted(part.used or 0.0, part.granted or 0.0)}"
    kind = {"cpu": "CPU", "quota": "quota", "tasks": "tasks"}[part.kind]
    return f"{join_names(part.names)} {kind} {used_of_granted(part.used or 0.0, part.granted or 0.0)}"


def _ambiguity_phrase(group: LoadedGroup) -> str:
    if len(group.ended_by) > 1:
        names = join_names([utilization_phrase(group, part) for part in group.ended_by])
        return f"{names} are too much alike to say which ends it"
    if group.state == "rising":
        return ""
    if group.ended_by:
        full = _full_part_phrase(group, group.ended_by[0])
        return f"{full}; who has one waits for a CPU: which of the two ends it is not resolved"
    waits = f", and tasks wait {percent(group.waited)} of their time for one" if group.waited is not None else ""
    return f"what ends it is not resolved: no CPU is used up{waits}"


def _full_part_phrase(group: LoadedGroup, part: PartUse) -> str:
    used, granted = part.used or 0.0, part.granted or 0.0
    if part.kind == "backlog":
        dropped = f"for {percent(part.share)} of the requests a connection is dropped"
        return f"the queue of a listening socket is full: {dropped}"
    if part.kind == "wrong":
        return f"{percent(part.share)} of the requests {WRONG_CAUSES.get(part.names[0], 'get a wrong answer')}"
    if part.kind == "pool":
        wait = f", and a request waits {format_duration(part.wait_s)} for one" if part.wait_s else ""
        return f"all {round(granted)} of the pool are in use ({used_of_granted(used, granted)}){wait}"
    if part.kind == "driver":
        return "the driver gives out first"
    if part.kind == "clients":
        is_open = part.names == ["offered"]
        return "no more was asked for" if is_open else "the clients limit it: they hardly wait for answers"
    owner = _owner(group, part)
    if part.kind in STALLS:
        return f"{owner} tasks wait for {STALLS[part.kind]} for {percent(part.share)} of the time"
    if part.kind == "quota":
        return f"{owner} quota is used up ({used_of_granted(used, granted)} CPUs)"
    if part.kind == "tasks":
        return f"{owner} {count_noun(round(granted), 'task')} {'is' if granted == 1 else 'are'} always busy"
    shared = f", of which the driver has {used_of_granted(part.of_driver, granted)}" if part.of_driver else ""
    return f"{owned_cpus(granted, owner)} used up ({used_of_granted(used, granted)}{shared})"


def _owner(group: LoadedGroup, part: PartUse) -> str:
    """Name whose part it is: "its" where there is one service."""
    services = {name for p in (*group.ended_by, *group.ruled_out) if p.kind == "cpu" for name in p.names}
    if len(services) < 2:
        return "its"
    return f"the {part.names[0]}'s" if len(part.names) == 1 else f"{join_names(part.names)}'s"


DRIVER = {
    "late": "the driver was late", "CPU": "the driver's CPU was used up", "no CPU": "the driver had no CPU in time",
    "ceiling": "the driver was near its end",
}  # fmt: skip


def rate_matrix(table: Table, taken: SampleMap, groups: Sequence[LoadedGroup]) -> Matrix | None:
    """Tabulate rates at the loads that the claim names, and some between."""
    factor, first = groups[0].factor, groups[0]
    lowest, *_, highest = [point.level for point in (first.points_with_runs[0], *first.points_with_runs)]
    ends = [lowest, first.at or highest, highest]
    chosen = choose_columns(sorted(point.level for group in groups for point in group.points), ends)
    points = [({**group.group, factor: point.level}, point) for group in groups for point in group.points]
    by_key = {tuple(levels[name] for name in table.study.factors): point for levels, point in points}
    both = [(sample, by_key[key]) for key, sample in taken.items() if key in by_key]
    cells = [(s, MatrixCell(estimate=x.rate, doubt=DRIVER.get(x.driver_limits, ""))) for s, x in both]
    lines = rows(table, factor, chosen, cells)
    heads = [table.view.short_levels({factor: level}) for level in chosen]
    return matrix(table, lines, heads, **table.view.matrix_texts) if lines else None


def more_load_phrase(table: Table, groups: Sequence[LoadedGroup]) -> str:
    """State whether more load adds anything, why not, and where it does."""
    group, reason = groups[0], bottleneck_phrase(groups[0])
    if group.falls is not None and group.falls.value is not None:
        last = table.view.short_levels({group.factor: group.points_with_runs[-1].level})
        lost = group.points_with_runs[-1].errors
        there = f", where {percent(lost)} of the requests get no right answer" if lost >= WRONG else ""
        return f"; more carry less ({times(group.falls)} with {last}{there}){reason and f': {reason}'}"
    if group.state == "found":
        noun = table.view.title(group.factor)
        adds = f"more {noun} add" if is_counted(noun) else "more adds"
        return f"; {adds} nothing{exception_phrase(table, groups)}{reason and f': {reason}'}"
    if group.state == "between":
        low, high = (int(x) for x in (group.plateau.low or 0, group.plateau.high or 0))
        return f"; from {low} to {high} on more add nothing{reason and f': {reason}'}"
    if group.state == "rising":
        is_full = group.ends not in ("clients", "not resolved", "not known")
        return f"; it rises up to there, where {reason}" if is_full else f"; it still rises{reason and f': {reason}'}"
    if len(group.points_with_runs) == 1:
        return reason and f": {reason}"
    return "; whether more add anything is not resolved"


def exception_phrase(table: Table, groups: Sequence[LoadedGroup]) -> str:
    """Name the group, one factor away, in which more load does add: the plateau may hold for the first alone."""
    first = groups[0]
    for group in groups[1:]:
        other = {name: level for name, level in group.group.items() if first.group.get(name) != level}
        is_higher = group.at is not None and first.at is not None and group.at > first.at
        if is_higher and group.state in ("found", "rising") and len(other) == 1:
            does = "they do" if is_counted(table.view.title(group.factor)) else "it does"
            return f" (with {table.view.short_levels(other)} {does})"
    return ""


def throughput_claim(table: Table, taken: SampleMap, groups: Sequence[LoadedGroup]) -> Claim:
    """State the claim for the group with the highest rate, or why it cannot be stated."""
    figure = f"response {table.view.primary}"
    missing = "" if groups else missing_response(table, taken, table.view.primary)
    if reason := why_unanswerable(table, taken) or missing:
        return Claim(sentences=[f"Cannot be said: {reason}."], answered=False, figure=figure)
    group = groups[0]
    point = group.point(group.at)
    assert point is not None
    if point.driver_limits in ("late", "CPU"):
        late = f"it starts {small_percent(point.late or 0.0)} of the requests late"
        how = late if point.driver_limits == "late" else "its CPU is used up"
        at = f"at {_rate(table, point.rate)} with {_setting(table, group)}"
        sentences = [f"Cannot be said how much the service carries: the driver gives out first, {at} ({how})."]
    elif not is_resolved(point.rate):
        sentences = ["Cannot be said: the rates of runs differ too much, or there is one run only."]
    else:
        sentences = limit_sentences(_sentences(table, groups, group, point))
    answered = not sentences[0].startswith("Cannot")
    return Claim(sentences=sentences, answered=answered, matrix=rate_matrix(table, taken, groups), figure=figure)


def _sentences(table: Table, groups: Sequence[LoadedGroup], group: LoadedGroup, point: LoadPoint) -> Iterator[str]:
    more = more_load_phrase(table, groups)
    yield f"The service carries {_rate(table, point.rate)} with {_setting(table, group)}{more}."
    yield from _times(group, point)
    if rest := other_parts(group):
        yield f"Ruled out: {rest}."


def _rate(table: Table, rate: Estimate) -> str:
    scale = scale_for(rate_unit(table.view.primary_title, table.view.response.unit), [rate.value])
    shown = claim_number(rate, scale, ends=False)
    interval = claim_number(rate, scale).removeprefix(shown).strip()
    return " ".join(filter(None, (shown, scale.unit, interval)))


def _setting(table: Table, group: LoadedGroup) -> str:
    level = {group.factor: group.at} if group.at is not None else {}
    return table.view.short_levels({**level, **table.view.varying_levels(group.group)})


def _times(group: LoadedGroup, point: LoadPoint) -> Iterator[str]:
    parts, values = [], [point.quantiles[name] for name in ("p50", "p99") if name in point.quantiles]
    scale = scale_for("s", [e.value for e in values])
    if len(values) == len([e for e in values if is_resolved(e)]) == 2:
        half, last = (claim_number(e, scale, ends=False) for e in values)
        parts.append(f"there the median request takes {half} {scale.unit}, 99 % at most {last} {scale.unit}")
    if group.knee is not None and is_resolved(group.knee):
        parts.append(f"requests queue from {claim_number(group.knee)} clients on")
    if parts:
        text = "; ".join(parts)
        yield f"{text[:1].upper()}{text[1:]}."
