"""What a study of throughput says first: how much is carried, whether more load adds anything, and what ends it."""

from collections.abc import Iterator, Sequence

from scalograph.analysis.estimate import Estimate
from scalograph.findings.answer import Taken
from scalograph.findings.names import short, title, varying
from scalograph.findings.names import title as title_of
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell
from scalograph.questions.claims import fitting, unsaid, untold
from scalograph.questions.matrices import columns_of, matrix, rows
from scalograph.questions.throughput.document import LoadedGroup, LoadPoint, PartUse
from scalograph.questions.throughput.model_driven import WRONG
from scalograph.text.cell_numbers import is_resolved, spoken
from scalograph.text.load_words import at_most_share, cpus_named, fold, of_granted, rate_unit
from scalograph.text.quantities import counted, percent, times
from scalograph.text.scale import scale_for
from scalograph.text.short_names import is_counted, listed
from scalograph.text.units import format_duration

# Parts that are told to be ruled out, and what grows by more than this has waited.
MOST, GROWN = 3, 1.5
# Shorter stalls are not worth a word.
SEEN = 0.05
STALLS = {"io": "a device", "memory": "memory"}
# What becomes of requests without a right answer; the rest are answers that are wrong.
WRONG_CAUSES = {
    "connect": "get no connection", "closed": "lose their connection", "timeout": "get no answer in time",
    "malformed": "get no HTTP",
}  # fmt: skip


def ended(one: LoadedGroup) -> str:
    """Say what ends it; empty where nothing was measured that could tell."""
    if one.ends == "not known":
        return ""
    if one.ends == "inside":
        grown = one.grows is not None and one.grows > GROWN
        waits = f" (response times grow {fold(one.grows or 1.0)})" if grown else ""
        unseen = "a lock" if any(part.kind == "pool" for part in one.ruled_out) else "a lock or a pool"
        return f"requests wait{waits} while no CPU is used up, for {unseen}"
    if one.ends == "not resolved":
        return _unresolved(one)
    return _full(one, one.ended_by[0]) if one.ended_by else ""


def left_over(one: LoadedGroup) -> str:
    """Name the parts that are ruled out, the fullest first; empty where there are none."""
    parts = [
        part for part in one.ruled_out if part.kind != "clients" and (part.kind not in STALLS or part.share > SEEN)
    ]
    told = [amount(one, part) for part in parts][:MOST]
    point = one.point(one.at)
    if one.ends in ("inside", "wrong") and point is not None and point.dropped == 0:
        told.append("dropped connections")
    return listed(told) if told and one.ends not in ("not resolved", "not known") else ""


def amount(one: LoadedGroup, part: PartUse) -> str:
    """Say how full a part is: "database CPU 0.32 of 1"."""
    if part.kind == "clients":
        return f"{listed(part.names)} {percent(part.share)}"
    if part.kind in STALLS:
        return f"{listed(part.names)} stalled on {STALLS[part.kind]} for {percent(part.share)} of the time"
    if part.kind == "driver":
        return f"driver {percent(part.share)} of its CPU"
    if part.kind == "pool":
        return f"pool {of_granted(part.used or 0.0, part.granted or 0.0)}"
    kind = {"cpu": "CPU", "quota": "quota", "tasks": "tasks"}[part.kind]
    return f"{listed(part.names)} {kind} {of_granted(part.used or 0.0, part.granted or 0.0)}"


def _unresolved(one: LoadedGroup) -> str:
    if len(one.ended_by) > 1:
        return f"{listed([amount(one, part) for part in one.ended_by])} are too much alike to say which ends it"
    if one.state == "rising":
        return ""
    if one.ended_by:
        return f"{_full(one, one.ended_by[0])}; who has one waits for a CPU: which of the two ends it is not resolved"
    waits = f", and tasks wait {percent(one.waited)} of their time for one" if one.waited is not None else ""
    return f"what ends it is not resolved: no CPU is used up{waits}"


def _full(one: LoadedGroup, part: PartUse) -> str:
    used, granted = part.used or 0.0, part.granted or 0.0
    if part.kind == "backlog":
        dropped = f"for {percent(part.share)} of the requests a connection is dropped"
        return f"the queue of a listening socket is full: {dropped}"
    if part.kind == "wrong":
        return f"{percent(part.share)} of the requests {WRONG_CAUSES.get(part.names[0], 'get a wrong answer')}"
    if part.kind == "pool":
        wait = f", and a request waits {format_duration(part.wait_s)} for one" if part.wait_s else ""
        return f"all {round(granted)} of the pool are in use ({of_granted(used, granted)}){wait}"
    if part.kind == "driver":
        return "the driver gives out first"
    if part.kind == "clients":
        return (
            "no more was asked for"
            if part.names == ["offered"]
            else "the clients limit it: they hardly wait for answers"
        )
    owner = _owner(one, part)
    if part.kind in STALLS:
        return f"{owner} tasks wait for {STALLS[part.kind]} for {percent(part.share)} of the time"
    if part.kind == "quota":
        return f"{owner} quota is used up ({of_granted(used, granted)} CPUs)"
    if part.kind == "tasks":
        return f"{owner} {counted(round(granted), 'task')} {'is' if granted == 1 else 'are'} always busy"
    shared = f", of which the driver has {of_granted(part.of_driver, granted)}" if part.of_driver else ""
    return f"{cpus_named(granted, owner)} used up ({of_granted(used, granted)}{shared})"


def _owner(one: LoadedGroup, part: PartUse) -> str:
    """Whose it is: "its" where there is one service."""
    services = {name for p in (*one.ended_by, *one.ruled_out) if p.kind == "cpu" for name in p.names}
    if len(services) < 2:
        return "its"
    return f"the {part.names[0]}'s" if len(part.names) == 1 else f"{listed(part.names)}'s"


DRIVER = {
    "late": "the driver was late",
    "CPU": "the driver's CPU was used up",
    "no CPU": "the driver had no CPU in time",
    "ceiling": "the driver was near its end",
}


def rate_matrix(table: Table, taken: Taken, groups: Sequence[LoadedGroup]) -> Matrix | None:
    """Show rates at the loads that the claim names, and some between.

    Args:
        table: the study.
        taken: the runs of each configuration.
        groups: those of the highest rates first, one at least.
    """
    factor, first = groups[0].factor, groups[0]
    ends = [first.known[0].level, first.at or first.known[-1].level, first.known[-1].level]
    chosen = columns_of(sorted(point.level for one in groups for point in one.points), ends)
    found = {
        tuple({**one.group, factor: point.level}[name] for name in table.study.factors): point
        for one in groups
        for point in one.points
    }
    cells = [
        (sample, MatrixCell(estimate=found[key].rate, doubt=DRIVER.get(found[key].driver_limits, "")))
        for key, sample in taken.items()
        if key in found
    ]
    lines = rows(table, factor, chosen, cells)
    response = table.study.responses[primary(table)]
    texts = {"title": title_of(table, primary(table)), "unit": response.unit, "better": response.better}
    return matrix(table, lines, [short(table, {factor: level}) for level in chosen], **texts) if lines else None


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


def throughput_claim(table: Table, taken: Taken, groups: Sequence[LoadedGroup]) -> Claim:
    """Say it of the setting that carries the most, or why it cannot be said.

    Args:
        table: the study.
        taken: the runs of each configuration.
        groups: those of the highest rates first.
    """
    figure = f"response {primary(table)}"
    why = unsaid(table, taken) or ("" if groups else untold(table, taken, primary(table)))
    if why:
        return Claim(sentences=[f"Cannot be said: {why}."], answered=False, figure=figure)
    one = groups[0]
    point = one.point(one.at)
    assert point is not None
    if point.driver_limits in ("late", "CPU"):
        sentences = [_driver_first(table, one, point)]
    elif not is_resolved(point.rate):
        sentences = ["Cannot be said: the rates of runs differ too much, or there is one run only."]
    else:
        sentences = fitting(_sentences(table, groups, one, point))
    answered = not sentences[0].startswith("Cannot")
    return Claim(
        sentences=sentences,
        answered=answered,
        matrix=rate_matrix(table, taken, groups),
        figure=figure,
    )


def _sentences(table: Table, groups: Sequence[LoadedGroup], one: LoadedGroup, point: LoadPoint) -> Iterator[str]:
    yield f"The service carries {_rate(table, point.rate)} with {_setting(table, one)}{more_load(table, groups)}."
    yield from _times(one, point)
    if rest := left_over(one):
        yield f"Ruled out: {rest}."


def _driver_first(table: Table, one: LoadedGroup, point: LoadPoint) -> str:
    late = f"it starts {at_most_share(point.late or 0.0)} of the requests late"
    how = late if point.driver_limits == "late" else "its CPU is used up"
    at = f"at {_rate(table, point.rate)} with {_setting(table, one)}"
    return f"Cannot be said how much the service carries: the driver gives out first, {at} ({how})."


def _rate(table: Table, rate: Estimate) -> str:
    response = primary(table)
    scale = scale_for(rate_unit(title(table, response), table.study.responses[response].unit), [rate.value])
    shown = spoken(rate, scale, ends=False)
    interval = spoken(rate, scale).removeprefix(shown).strip()
    return " ".join(filter(None, (shown, scale.unit, interval)))


def _setting(table: Table, one: LoadedGroup) -> str:
    level = {one.factor: one.at} if one.at is not None else {}
    return short(table, {**level, **varying(table, one.group)})


def _times(one: LoadedGroup, point: LoadPoint) -> Iterator[str]:
    """Response times at that load, and where queues begin."""
    said, values = [], [point.quantiles[name] for name in ("p50", "p99") if name in point.quantiles]
    scale = scale_for("s", [e.value for e in values])
    if len(values) == len([e for e in values if is_resolved(e)]) == 2:
        half, last = (spoken(e, scale, ends=False) for e in values)
        said.append(f"there the median request takes {half} {scale.unit}, 99 % at most {last} {scale.unit}")
    if one.knee is not None and is_resolved(one.knee):
        said.append(f"requests queue from {spoken(one.knee)} clients on")
    if said:
        text = "; ".join(said)
        yield f"{text[:1].upper()}{text[1:]}."
