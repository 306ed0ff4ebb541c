"""What ends it, in words, and what was ruled out."""

from scalograph.questions.throughput.document import LoadedGroup, PartUse
from scalograph.text.load_words import cpus_named, fold, of_granted
from scalograph.text.quantities import counted, percent
from scalograph.text.short_names import listed
from scalograph.text.units import format_duration

# Parts that are told to be ruled out, and what grows by more than this has waited.
MOST, GROWN = 3, 1.5
# Shorter stalls are not worth a word.
SEEN = 0.05
STALLS = {"io": "a device", "memory": "memory"}
# What becomes of requests without a right answer; the rest are answers that are wrong.
WRONG = {
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
        return f"{percent(part.share)} of the requests {WRONG.get(part.names[0], 'get a wrong answer')}"
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
