"""Facts of a study as sentences and short lines; the terminal and the page say the same."""

import math
from datetime import UTC, datetime
from typing import Any

from scalograph.findings import Degraded, Findings, Noise, RunsDoc
from scalograph.report.format import number, significant
from scalograph.report.scale import scale_for

DOT = " \N{MIDDLE DOT} "
WORK = {"total": "the same total work at every level", "per-worker": "the same work for each worker"}


def runs(doc: RunsDoc) -> str:
    """How many runs there were and what became of them.

    >>> runs(RunsDoc(n_asked=10, n_done=9, n_failed=1, treatments=2, verdicts={"clean": 8}))
    '9 of 10 runs done, 2 treatments, 1 failed, 8 clean'
    """
    parts = [f"{doc.n_done:,} of {doc.n_asked:,} runs done", f"{doc.treatments:,} treatments"]
    parts += [f"{doc.n_failed:,} failed"] if doc.n_failed else []
    parts += [f"{count:,} {verdict}" for verdict, count in doc.verdicts.items() if count and verdict != "failed"]
    return ", ".join(parts)


def period(doc: RunsDoc) -> str:
    """When the runs were done, to the minute.

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
    """Why runs failed; nothing where none did."""
    return ", ".join(f"{count:,} \N{MULTIPLICATION SIGN} {why}" for why, count in doc.failures.items() if count)


def noise(doc: Noise) -> str:
    """What the study could have seen, in one sentence."""
    sd, least = (significant(x, 2) for x in (doc.sd_log_percent, doc.minimum_detectable_percent))
    return (
        f"Runs of one treatment differ by {sd} % (standard deviation); with {doc.n} runs each, the smallest"
        f" effect found at 80 % power is {least} %."
    )


def degraded(doc: Degraded) -> str:
    """What was missing, why, and what would help."""
    fix = f"; {doc.fix}" if doc.fix else ""
    return f"{doc.what}: {doc.why}{fix} ({doc.n_runs:,} runs)"


def study(findings: Findings) -> str:
    """What was asked, in one line."""
    doc = findings.study
    parts = [doc.name, f"question: {doc.question}", WORK.get(doc.work, doc.work), f"seed {doc.seed}"]
    return DOT.join(part for part in parts if part)


def machine(findings: Findings) -> str:
    """The machine in one line, from what is known of it."""
    doc = findings.machine
    cpus = doc.get("n_cpus")
    parts = [doc.get("cpu_model"), f"{cpus} CPUs" if cpus is not None else None, doc.get("kernel")]
    return DOT.join(str(part) for part in parts if part)


def facts(values: dict[str, Any]) -> list[tuple[str, str]]:
    """Each fact of the machine, with its name and its value in words.

    >>> facts({"memory_bytes": 8589934592, "smt": {"active": False}, "microcode": None})
    [('memory', '8 GiB'), ('smt', 'active: no'), ('microcode', 'not known')]
    """
    return [(_name(name), _said(name, value)) for name, value in values.items()]


def _name(name: str) -> str:
    for ending in ("_bytes", "_ns", "_s"):
        name = name.removesuffix(ending)
    return name.removeprefix("n_").replace("_", " ")


def _said(name: str, value: Any) -> str:
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return _figure(name, value)
    if isinstance(value, dict):
        return "; ".join(f"{_name(str(k))}: {_said(str(k), v)}" for k, v in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(_said(name, v) for v in value) or "none"
    return str(value)


def _figure(name: str, value: float) -> str:
    unit = next((u for u in ("bytes", "ns", "s") if name.endswith(f"_{u}")), "")
    if not unit or not math.isfinite(value):
        return number(value)
    scale = scale_for(unit, [value])
    return f"{number(float(f'{value * scale.factor:.3g}'))} {scale.unit}"
