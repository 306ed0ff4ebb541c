"""Facts of a study as sentences and short lines, the same on the terminal and the page."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import zip_longest

from scalograph.protocol.findings import (
    DegradedRuns,
    Findings,
    RunsDoc,
    StudyNoise,
    Trust,
)
from scalograph.text.format import significant

DOT = " \N{MIDDLE DOT} "
NUMBER = re.compile(r"\d+(?:\.\d+)?")
VERDICTS = {"contaminated": "disturbed", "undecided": "unverified"}
WORK = {"total": "the same total work at every level", "per-worker": "the same work for each worker"}


def runs(doc: RunsDoc) -> str:
    """Say how many runs there were and what became of them.

    >>> runs(RunsDoc(n_asked=10, n_done=9, n_failed=1, treatments=2, verdicts={"clean": 8}))
    '9 of 10 runs done, 2 configurations, 1 failed, 8 clean'
    """
    again = f" and {doc.n_repeated:,} repeated" if doc.n_repeated else ""
    s = "s" * (doc.treatments != 1)
    parts = [f"{doc.n_done:,} of {doc.n_asked:,} runs done{again}", f"{doc.treatments:,} configuration{s}"]
    parts += [f"{doc.n_failed:,} failed"] if doc.n_failed else []
    parts += [
        f"{count:,} {VERDICTS.get(verdict, verdict)}"
        for verdict, count in doc.verdicts.items()
        if count and verdict != "failed"
    ]
    return ", ".join(parts)


def period(doc: RunsDoc) -> str:
    """Say when the runs were done, to the minute.

    >>> times = {"started": "2024-06-11T09:14:02Z", "ended": "2024-06-11T10:12:44Z"}
    >>> period(RunsDoc(n_asked=1, n_done=1, n_failed=0, treatments=1, **times))
    '2024-06-11 09:14 to 10:12 UTC'
    """
    start, end = (_minute(text) for text in (doc.started, doc.ended))
    if start and end and start[:10] == end[:10]:
        end = end[11:]
    return " to ".join(text for text in (start, end) if text) + (" UTC" if start or end else "")


def _minute(text: str | None) -> str:
    try:
        return f"{datetime.fromisoformat(text).astimezone(UTC):%Y-%m-%d %H:%M}" if text else ""
    except ValueError:
        return text or ""


def failures(doc: RunsDoc) -> str:
    """Say why runs failed; empty if none did."""
    return ", ".join(f"{count:,} \N{MULTIPLICATION SIGN} {why}" for why, count in doc.failures.items() if count)


def noise(doc: StudyNoise) -> str:
    """Say in one sentence what the study could have seen."""
    if doc.sd_log_percent == 0:  # a coarse clock, or a figure that is counted: no measure of effects
        return f"Typical runs of one configuration do not differ at all, with {doc.n} runs each."
    sd, least = (significant(x, 2) for x in (doc.sd_log_percent, doc.minimum_detectable_percent))
    return (
        f"Runs of one configuration differ by {sd} % (standard deviation); with {doc.n} runs each, the smallest"
        f" effect found at 80 % power is {least} %."
    )


def degraded(doc: DegradedRuns) -> str:
    """Say what was missing, why, and what would help."""
    fix = f"; {doc.fix}" if doc.fix else ""
    return f"{doc.what}: {doc.why}{fix} ({doc.n_runs:,} run{'' if doc.n_runs == 1 else 's'})"


def alike(docs: Sequence[DegradedRuns]) -> list[DegradedRuns]:
    """Merge what is missing for the same reason: reasons that differ only in numbers give the range of these.

    >>> whys = [f"{n} a second, above 1000" for n in (7819, 2386)]
    >>> rates = [DegradedRuns(what="switches", why=why, n_runs=1) for why in whys]
    >>> [(d.why, d.n_runs) for d in alike(rates)]
    [('2386 to 7819 a second, above 1000', 2)]
    """
    groups: dict[tuple[str, str, tuple[str, ...]], list[DegradedRuns]] = {}
    for doc in docs:
        groups.setdefault((doc.what, doc.fix, tuple(NUMBER.split(doc.why))), []).append(doc)
    return [
        DegradedRuns(what=what, why=_ranged(texts, same), fix=fix, n_runs=sum(d.n_runs for d in same))
        for (what, fix, texts), same in groups.items()
    ]


def _ranged(texts: Sequence[str], docs: Sequence[DegradedRuns]) -> str:
    """Join the texts between the numbers, with the least and the largest number at each place."""
    places = zip(*(NUMBER.findall(doc.why) for doc in docs), strict=True)
    ends = [(min(numbers, key=float), max(numbers, key=float)) for numbers in places]
    ranges = [low if float(low) == float(high) else f"{low} to {high}" for low, high in ends]
    return "".join(text + number for text, number in zip_longest(texts, ranges, fillvalue=""))


def causes(trust: Trust) -> list[str]:
    """Return the causes that the verdict's points do not tell."""
    return [cause for cause in trust.causes if cause not in trust.points]


def study(findings: Findings) -> str:
    """Say in one line what was asked."""
    doc = findings.study
    parts = [doc.name, f"question: {doc.question}", WORK.get(doc.work, doc.work), f"seed {doc.seed}"]
    return DOT.join(part for part in parts if part)


def machine(findings: Findings) -> str:
    """Describe the machine in one line, from what is known about it."""
    doc = findings.machine
    cpus = doc.get("n_cpus")
    parts = [doc.get("cpu_model"), f"{cpus} CPUs" if cpus is not None else None, doc.get("kernel")]
    return DOT.join(str(part) for part in parts if part)
