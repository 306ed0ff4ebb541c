"""Facts of a study as sentences and short lines for the terminal and the page."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any

from scalograph.protocol.findings import DegradedRuns, Findings, RunsDoc, StudyNoise, Trust
from scalograph.protocol.watched_series import LevelChange, SeriesPoint, WatchedSeries
from scalograph.text.answer_form import change_cell, change_text
from scalograph.text.format import number, significant
from scalograph.text.quantities import count_noun, cpus
from scalograph.text.scale import SECONDS
from scalograph.text.short_names import join_names, shorten
from scalograph.text.units import format_duration

DOT = " \N{MIDDLE DOT} "
# What the model name of a CPU has beside its name.
_MARKS = re.compile(r"\((?:R|TM)\)|\b(?:CPU|Processor)\b|@", re.IGNORECASE)
NUMBER = re.compile(r"\d+(?:\.\d+)?")
WORK = {"total": "the same total work at every level", "per-worker": "the same work for each worker"}


def runs(doc: RunsDoc) -> str:
    """Count the runs and their verdicts.

    >>> runs(RunsDoc(n_asked=10, n_done=9, n_failed=1, configurations=2, verdicts={"clean": 8}))
    '9 of 10 runs done, 2 configurations, 1 failed, 8 clean'
    """
    again = f" and {doc.n_repeated:,} repeated" if doc.n_repeated else ""
    parts = [
        f"{doc.n_done:,} of {doc.n_asked:,} runs done{again}",
        f"{count_noun(doc.configurations, 'configuration')}",
    ]
    parts += [f"{doc.n_failed:,} failed"] if doc.n_failed else []
    parts += [f"{count:,} {verdict}" for verdict, count in doc.verdicts.items() if count and verdict != "failed"]
    return ", ".join(parts)


_DRAWN = {"env": "environment size", "hash-seed": "hash seed"}


def variation_text(names: Sequence[str], each: str = "block") -> str:
    """State what was drawn anew, and for which group of runs.

    >>> variation_text(["env", "hash-seed"], "pair"), variation_text(["layout"])
    ('Drawn anew for each pair: environment size and hash seed.', 'Drawn anew for each run: address layout.')
    """
    drawn = [words for name, words in _DRAWN.items() if name in names]
    parts = [f"for each {each}: {join_names(drawn)}"] if drawn else []
    parts += ["for each run: address layout"] if "layout" in names else []
    return f"Drawn anew {', '.join(parts)}."


def period(doc: RunsDoc) -> str:
    """Format the time of the runs, to the minute.

    >>> times = {"started": "2024-06-11T09:14:02Z", "ended": "2024-06-11T10:12:44Z"}
    >>> period(RunsDoc(n_asked=1, n_done=1, n_failed=0, configurations=1, **times))
    '2024-06-11 09:14 to 10:12 UTC'
    """
    start, end = (_minute(text) for text in (doc.started, doc.ended))
    if start and end and start[:10] == end[:10]:
        end = end[11:]
    return " to ".join(text for text in (start, end) if text) + (" UTC" if start or end else "")


def _minute(text: str | None) -> str:
    try:
        return f"{datetime.fromisoformat(text).astimezone(UTC):%Y-%m-%d %H:%M}" if text else ""
    except (ValueError, OverflowError):
        return text or ""


def failures(doc: RunsDoc) -> str:
    """Return the reasons why runs failed; empty if none did."""
    return ", ".join(f"{count:,} \N{MULTIPLICATION SIGN} {reason}" for reason, count in doc.failures.items() if count)


def noise(doc: StudyNoise) -> str:
    """Return a sentence on the noise of runs and the smallest detectable effect."""
    if doc.sd_log_percent == 0:  # a coarse clock, or a value that is counted: no measure of effects
        return f"Typical runs of one configuration do not differ, with {doc.n} runs each."
    sd, least = (significant(x, 2) for x in (doc.sd_log_percent, doc.minimum_detectable_percent))
    return (
        f"Runs of a typical configuration differ by {sd}% (standard deviation); with {doc.n} runs each, the smallest"
        f" effect found at 80% power is {least}%."
    )


def degradation(doc: DegradedRuns) -> str:
    """Format what was missing, why, and the fix."""
    fix = f"; {doc.fix}" if doc.fix else ""
    return f"{doc.what}: {doc.why}{fix} ({count_noun(doc.n_runs, 'run')})"


def merge_degradations(docs: Sequence[DegradedRuns]) -> list[DegradedRuns]:
    """Merge degradations whose reasons differ only in numbers, with the range of these.

    >>> whys = [f"{n} a second, above 1000" for n in (7819, 2386)]
    >>> rates = [DegradedRuns(what="switches", why=why, n_runs=1) for why in whys]
    >>> [(d.why, d.n_runs) for d in merge_degradations(rates)]
    [('2386 to 7819 a second, above 1000', 2)]
    """
    groups: dict[tuple[str, str, tuple[str, ...]], list[DegradedRuns]] = {}
    for doc in docs:
        groups.setdefault((doc.what, doc.fix, tuple(NUMBER.split(doc.why))), []).append(doc)
    return [
        DegradedRuns(what=what, why=_join_ranges(texts, same), fix=fix, n_runs=sum(d.n_runs for d in same))
        for (what, fix, texts), same in groups.items()
    ]


def _join_ranges(texts: Sequence[str], docs: Sequence[DegradedRuns]) -> str:
    """Join the texts between numbers with the range of the numbers."""
    places = zip(*(NUMBER.findall(doc.why) for doc in docs), strict=True)
    ends = [(min(numbers, key=float), max(numbers, key=float)) for numbers in places]
    ranges = [low if float(low) == float(high) else f"{low} to {high}" for low, high in ends]
    return "".join(text + number for text, number in zip_longest(texts, ranges, fillvalue=""))


def unstated_causes(trust: Trust) -> list[str]:
    """Return the causes that the verdict does not state in the same words."""
    stated = " ".join([trust.sentence, *trust.points]).casefold()
    return [cause for cause in trust.causes if cause.casefold() not in stated]


def study(findings: Findings) -> str:
    """Describe the study in one line."""
    doc = findings.study
    parts = [doc.name, f"question: {doc.question}", WORK.get(doc.work, doc.work), f"seed {doc.seed}"]
    return DOT.join(part for part in parts if part)


def machine(findings: Findings) -> str:
    """Describe the machine and its runs in one line.

    >>> doc = {"n_cpus": 2, "cpu_model": "AMD EPYC", "hypervisor": "KVM", "kernel": "6.18.44-v4"}
    >>> _machine({**doc, "jvms_used": {"25": "25.0.3+9-LTS"}})
    ['AMD EPYC (KVM)', '2 CPUs', 'Linux 6.18', 'JDK 25.0.3']
    >>> _machine({"cpu_model": "Intel(R) Xeon(R) Processor @ 2.80GHz"})
    ['Intel Xeon 2.80GHz']
    """
    return DOT.join(filter(None, [machine_words(findings.machine), _run_count(findings)]))


def machine_words(doc: Mapping[str, Any]) -> str:
    return ", ".join(_machine(doc))


def short_machine(doc: Mapping[str, Any]) -> str:
    """Name a machine by its CPUs.

    >>> short_machine({"n_cpus": 16, "cpu_model": "AMD EPYC"}), short_machine({})
    ('16 CPUs, AMD EPYC', 'unknown CPUs')
    """
    n_cpus = doc.get("n_cpus")
    counted = cpus(n_cpus) if isinstance(n_cpus, int) else "unknown CPUs"
    return ", ".join(filter(None, [counted, shorten(_cpu_name(doc))]))


def _cpu_name(doc: Mapping[str, Any]) -> str:
    return " ".join(_MARKS.sub(" ", str(doc.get("cpu_model") or "")).split())


def _machine(doc: Mapping[str, Any]) -> list[str]:
    hypervisor, n_cpus, jvms = (doc.get(key) for key in ("hypervisor", "n_cpus", "jvms_used"))
    name = _cpu_name(doc)
    parts = [f"{name}{f' ({hypervisor})' if hypervisor else ''}".strip()]
    parts += [cpus(n_cpus)] if isinstance(n_cpus, int) else []
    parts += [f"Linux {'.'.join(str(doc['kernel']).split('.')[:2])}"] if doc.get("kernel") else []
    builds = jvms.values() if isinstance(jvms, dict) else ()
    parts += [f"JDK {re.split('[+-]', str(build))[0]}" for build in builds if build]
    return [part for part in parts if part]


def _run_count(findings: Findings) -> str:
    """Count configurations and runs, with their duration; without the configurations that a search did not run."""
    doc, log = findings.runs, findings.log
    n, of = doc.n_done + doc.n_repeated, len(log.configurations) if log else doc.configurations
    across = f"{count_noun(of, 'configuration')}{DOT}" if of <= n else ""
    try:
        ends = [datetime.fromisoformat(text) for text in (doc.started or "", doc.ended or "")]
        seconds = (ends[1] - ends[0]).total_seconds() - doc.paused_s
        whole = 60 * round(seconds / 60) if seconds > 600 else max(round(seconds), 1)
        took = f" in {'less than ' * (seconds < 1)}{format_duration(whole)}"
    except (ValueError, TypeError, OverflowError):
        took = ""
    return f"{across}{count_noun(n, 'run')}{took}" if n else ""


def point_name(point: SeriesPoint | LevelChange) -> str:
    """Name a result by its commit, else by its date, else by its folder."""
    return point.commit[:10] or point.started[:10] or point.folder


def series_name(series: WatchedSeries, with_lane: bool = True) -> str:
    """Name a series: "first, wall time, 2 CPUs, AMD EPYC"."""
    return ", ".join([series.study, *filter(None, [series.figure]), *([series.lane] if with_lane else [])])


def size_text(series: WatchedSeries, change: LevelChange) -> str:
    """State how much a level changed: "5.1% more time", or both values of a coefficient."""
    if change.ratio is None:
        return f"{number(change.before)} \N{RIGHTWARDS ARROW} {number(change.after)}"
    is_time = series.unit in SECONDS and series.better == "lower"
    return f"{change_text(change.ratio)} {'time' if is_time else series.figure}"


def change_size(series: WatchedSeries, change: LevelChange) -> str:
    """State how much a level changed as a cell does: "+5.1% [4.6-5.6]", or both values of a coefficient."""
    return change_cell(change.ratio) if change.ratio else size_text(series, change)
