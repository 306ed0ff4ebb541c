"""Say what an explanation holds: causes in words, its answer, and what it rules out."""

from collections.abc import Iterator

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.explanation import LEAST_SHARE, Explanation, LossPart, Share, Trial
from scalograph.text.answer_form import Quantity, fill
from scalograph.text.format import significant
from scalograph.text.quantities import cpus, percent
from scalograph.text.scale import PLAIN
from scalograph.text.short_names import join_names, short_setting

OWN_WORK = "the program's own work"
_MOST_OVERHEAD = 0.2
_WORDS = {
    "lock": "waiting for a lock",
    "condition": "waiting for another thread",
    "barrier": "waiting at a barrier",
    "join": "waiting for a thread to end",
    "gil": "waiting for Python's interpreter lock",
    "gc": "garbage collection",
    "sleep": "sleeping",
    "disk": "waiting for the disk",
    "network": "waiting for the network",
    "pipe": "waiting for a pipe",
    "child": "waiting for a child process",
    "events": "waiting for events",
    "page-fault": "page faults",
    "ready": "ready, but behind others on a CPU",
    "quota": "stopped by the CPU quota",
    "kernel": "kernel time",
    "serial": "idle while others work",
    "smaller": "other causes, each smaller",
    "build": "idle while the build works",
    "inflation": "more CPU time for the same work",
}
_RULED_OUT = {"quota": "CPU quota", "disk": "disk", "page-fault": "page faults"}

_GAIN = "From {first!s} to {second!s}, speedup is {gain}× in the recorded runs."
_LOST = "Of {cpus} {lost:measured} are lost."
_SCALES = "Of {cpus} {lost:measured} are lost: there is nothing to explain."
_NONE = "No CPU time is lost: there is nothing to explain."
_INCONCLUSIVE = "Inconclusive: the runs differ too much. More runs: --recordings 10."
_LARGEST = "{share} of the loss: {cause!s}."
_EFFICIENCY = (
    "Efficiency: load balance {load_balance}, communication {communication}, computation scaling {computation}."
)
_TRIED = "{lead}: {change!s}, speed is {speed:times}."
_CHANGES = {"quota": "without the quota"}


def answer_sentences(document: Explanation) -> list[str]:
    """Return the answer: how far work per time grows, and how much of the CPUs is lost."""
    first, second = (short_setting(document.factor, level) for level in document.levels)
    values = {
        "first": first, "second": second, "gain": significant(document.gain), "cpus": cpus(round(document.cpus[1])),
        "lost": Quantity(_estimate(document.lost_cpus), PLAIN),
    }  # fmt: skip
    lost = _LOST if not document.scales else _SCALES if document.lost_cpus.value > 0 else _NONE
    sentences = [fill(_GAIN, values), fill(lost, values)]
    if document.is_inconclusive:
        return [*sentences, _INCONCLUSIVE]
    if not document.scales and document.parts and (top := document.parts[0]).share.value > LEAST_SHARE:
        sentences.append(fill(_LARGEST, {"share": percent(top.share.value), "cause": cause_text(top)}))
    return sentences


def closing_sentences(document: Explanation) -> Iterator[str]:
    """Yield what is ruled out, what cannot be seen here, and how far recording slowed the runs."""
    yield from map(trial_sentence, document.trials)
    if document.scales:
        return
    if names := [_RULED_OUT[kind] for kind in document.ruled_out]:
        yield f"Ruled out, below 1%: {join_names(names)}."
    if document.not_visible:
        yield f"Not visible without hardware counters: {join_names(document.not_visible)}."
    if document.efficiency is not None:
        _, after = document.efficiency
        yield fill(_EFFICIENCY, {name: percent(value) for name, value in after.model_dump().items()})
    if max(document.overhead) > 1 + _MOST_OVERHEAD:
        texts = " and ".join(f"{significant(over)}×" for over in document.overhead)
        yield f"Recording slowed the runs: {texts} the time without it."
    yield from document.warnings


def trial_sentence(trial: Trial) -> str:
    """Return what an experiment says: "Confirmed: with malloc, speed is 2.9× (95% CI 2.7–3.1)."."""
    lead = {"confirmed": "Confirmed", "slower": "Not the cause", "not the cause": "Not the cause"}
    values = {
        "lead": lead.get(trial.outcome, "Inconclusive"),
        "change": change_text(trial.name),
        "speed": _estimate(trial.speed),
    }
    return fill(_TRIED, values)


def defect_sentence(lack: str, module: str, share: float, package: str) -> str:
    """Return what stacks of a file lack, and what gives it: symbols of its package, or another build."""
    stacks = f"in {percent(share)} of the stacks"
    if lack == "callerless":
        return f"Callers of functions of {module} are not known {stacks}: link {module} with -Wl,--eh-frame-hdr."
    if module == "[compiled]":
        return f"Code compiled at run time has no names {stacks}: the runtime writes no map for perf."
    remedy = "install its debug symbols" if ".so" in module else "build it with -g and do not strip it"
    remedy = f"install {package}-dbgsym" if package else remedy
    return f"Functions of {module or 'unknown files'} have no names {stacks}: {remedy}."


def kind_text(kind: str) -> str:
    """Return a kind of lost time in words; CPU time of the program is its own work."""
    return OWN_WORK if kind == "user" else _WORDS.get(kind, kind)


def change_text(name: str) -> str:
    """Return a change in words: "with malloc"."""
    return _CHANGES.get(name, f"with {name}")


def cause_text(part: LossPart) -> str:
    """Return a cause in words: "waiting for a lock in insert", "app waits for database: sleeping in flush"."""
    words = _WORDS.get(part.kind, part.kind) + (f" of {part.on}" if part.on else "")
    lead = f"{part.waiter} waits for {part.service}: " if part.waiter else f"{part.service}: " if part.service else ""
    if part.kind == "serial" and part.service:
        lead, words = (lead, "work") if part.waiter else ("", f"idle while {part.service} works")
    if part.what:
        words += f" in {part.what}" + (f", called by {part.caller}" if part.caller and part.kind != "build" else "")
    return lead + words


def _estimate(share: Share) -> Estimate:
    return Estimate(share.value, share.low, share.high)
