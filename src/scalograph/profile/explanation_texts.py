"""Say what an explanation holds: its answer, its table, and what it rules out."""

from collections.abc import Iterator
from pathlib import Path

from scalograph.errors import ProtocolError
from scalograph.profile import wait_kinds
from scalograph.profile.explanation import LEAST_SHARE, Explanation, LossPart, Share, read_explanation
from scalograph.protocol.findings import Column, Findings, TableDoc
from scalograph.text.format import significant
from scalograph.text.quantities import percent
from scalograph.text.short_names import join_names, short_setting

SHOWN = 8
_MOST_OVERHEAD = 0.2
_WORDS = {
    wait_kinds.LOCK: "waiting for a lock",
    wait_kinds.CONDITION: "waiting for another thread",
    wait_kinds.BARRIER: "waiting at a barrier",
    wait_kinds.JOIN: "waiting for a thread to end",
    wait_kinds.GIL: "waiting for Python's interpreter lock",
    wait_kinds.GC: "garbage collection",
    wait_kinds.SLEEP: "sleeping",
    wait_kinds.DISK: "waiting for the disk",
    wait_kinds.NETWORK: "waiting for the network",
    wait_kinds.PIPE: "waiting for a pipe",
    wait_kinds.CHILD: "waiting for a child process",
    wait_kinds.EVENTS: "waiting for events",
    wait_kinds.FAULT: "page faults",
    wait_kinds.QUEUE: "ready, but behind others on a CPU",
    wait_kinds.QUOTA: "stopped by the CPU quota",
    wait_kinds.SYSTEM: "kernel time",
    wait_kinds.SERIAL: "idle while others work",
    "inflation": "more CPU time for the same work",
}
_RULED_OUT = {
    wait_kinds.QUOTA: "CPU quota", wait_kinds.DISK: "disk",
    wait_kinds.FAULT: "page faults",
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


def explanation_table(document: Explanation) -> TableDoc:
    """Make the table of an explanation: each cause with its share of the loss, then what has none."""
    columns = [
        Column(name="share of the loss", unit="%"), Column(name="from", unit="%"), Column(name="to", unit="%"),
        Column(name="cause", kind="text"), *(Column(name=_level_name(document, i), unit="s") for i in (0, 1)),
    ]  # fmt: skip
    shown = [part for part in document.parts if abs(part.share.value) >= LEAST_SHARE]
    gained = [part for part in shown if part.share.value < 0]
    shown = [part for part in shown if part.share.value > 0][:SHOWN] + gained[-2:]
    rows: list[list[object]] = [
        [*_cells(part.share), cause_text(part), _digits(part.before_s), _digits(part.after_s)] for part in shown
    ]
    rest = document.unexplained or Share(value=0.0)
    rows.append([*_cells(rest), "not explained", None, None])
    note = (
        f"CPU seconds per unit of work with {document.cpus[0]:g} and {document.cpus[1]:g} CPUs, in "
        f"{min(document.n_runs)} recorded runs of each level; intervals over runs; below 1% is omitted"
    )
    return TableDoc(id="explanation", title="Where lost CPU time goes", note=note, columns=columns, rows=rows)


def _level_name(document: Explanation, index: int) -> str:
    return short_setting(document.factor, document.levels[index])


def _cells(share: Share) -> list[float | None]:
    ends = (share.value, share.low, share.high)
    return [None if end is None else round(100 * end, 1 if abs(end) < 0.1 else 0) for end in ends]


def _digits(seconds: float) -> float:
    return float(f"{seconds:.3g}")


def _bounded(value: float, share: Share) -> str:
    text = significant(value, 2)
    if share.low is None or share.high is None:
        return text
    return f"{text} (95% CI {significant(max(share.low, 0.0), 2)}–{significant(share.high, 2)})"


def add_explanation(findings: Findings, folder: Path | None) -> Findings:
    """Add the explanation in `folder` to the findings; one of another study becomes a warning."""
    if folder is None:
        return findings
    try:
        document = read_explanation(folder, findings.study.hash)
    except ProtocolError as error:
        return findings.model_copy(update={"warnings": [*findings.warnings, str(error)]})
    if document is None:
        return findings
    tables = [*findings.tables, explanation_table(document)]
    return findings.model_copy(update={"tables": tables})
