"""Say what an explanation holds: causes in words, its answer, and what it rules out."""

from collections.abc import Iterator

from scalograph.protocol.explanation import LEAST_SHARE, Explanation, LossPart, Share
from scalograph.text.format import significant
from scalograph.text.quantities import percent
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
    "inflation": "more CPU time for the same work",
}
_RULED_OUT = {
    "quota": "CPU quota", "disk": "disk",
    "page-fault": "page faults",
}  # fmt: skip


def answer_sentences(document: Explanation) -> list[str]:
    """Return the answer: how far work per time grows, and how much of the CPUs is lost."""
    first, second = (short_setting(document.factor, level) for level in document.levels)
    cpus, lost = significant(document.cpus[1]), document.lost_cpus
    if document.scales:
        return [
            f"From {first} to {second}, speedup is {significant(document.gain)}×.",
            f"Of {cpus} CPUs {_bounded(max(lost.value, 0.0), lost)} are lost: there is nothing to explain.",
        ]
    sentences = [
        f"From {first} to {second}, speedup is {significant(document.gain)}×.",
        f"Of {cpus} CPUs {_bounded(lost.value, lost)} are lost.",
    ]
    if document.is_inconclusive:
        return [*sentences, "Inconclusive: the runs differ too much; more recordings: --recordings 10."]
    if document.parts and (top := document.parts[0]).share.value > LEAST_SHARE:
        sentences.append(f"{percent(top.share.value)} of the loss: {cause_text(top)}.")
    return sentences


def closing_sentences(document: Explanation) -> Iterator[str]:
    """Yield what is ruled out, what cannot be seen here, and how far recording slowed the runs."""
    if document.scales:
        return
    if names := [_RULED_OUT[kind] for kind in document.ruled_out]:
        yield f"Ruled out, below 1%: {join_names(names)}."
    if document.not_visible:
        yield f"Not visible without hardware counters: {join_names(document.not_visible)}."
    if max(document.overhead) > 1 + _MOST_OVERHEAD:
        texts = " and ".join(f"{significant(over)}×" for over in document.overhead)
        yield f"Recording slowed the runs: {texts} the time without it."
    yield from document.warnings


def cause_text(part: LossPart) -> str:
    """Return a cause in words: "waiting for a lock in insert"."""
    words, what = _WORDS.get(part.kind, part.kind), part.what
    if not what:
        return words
    return f"{words} in {what}" + (f", called by {part.caller}" if part.caller else "")


def _bounded(value: float, share: Share) -> str:
    text = significant(value, 2)
    if share.low is None or share.high is None:
        return text
    return f"{text} (95% CI {significant(max(share.low, 0.0), 2)}–{significant(share.high, 2)})"
