"""Summarize one result for series over time: its level by configuration, its coefficients, machine, and commit."""

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from msgspec.structs import replace

from scalograph.analysis.estimate import NO_LAW
from scalograph.analysis.modes import common_step
from scalograph.errors import ProtocolError, StudyError
from scalograph.exchange.compare.answer_level import SLOWDOWN, VERSION, answer_level, version_slowdown
from scalograph.exchange.compare.matched_configurations import machine_facts_text
from scalograph.exchange.compare.measured_source import SourceConfiguration, findings_source
from scalograph.exchange.compare.result_answer import has_resolution, have_logs, keep_open, logs_of
from scalograph.exchange.compare.series import refusal_of
from scalograph.protocol.findings import Findings
from scalograph.protocol.plain import is_number
from scalograph.protocol.result_summary import ResultSummary
from scalograph.questions.throughput.document import Throughputs
from scalograph.report.index_page import result_texts
from scalograph.study.scalars import format_value
from scalograph.text.escape import shorten
from scalograph.text.summaries import short_machine

# A folder that is called like one; a short one has a digit and a letter.
_COMMIT = re.compile(r"[0-9a-f]{40}|(?=.*\d)(?=.*[a-f])[0-9a-f]{7,39}")
# Which direction of a coefficient is better; the best level has none.
COEFFICIENTS = {
    "sigma": "lower", "kappa": "lower", "peak": "higher", "knee": "higher", "best level": "none", "slowdown": "lower",
}  # fmt: skip
_REVISION = re.compile(r"-[0-9a-f]{10}$")  # as `ab --base` and `--build` name a version


def summarize(findings: Findings, folder: str, program: str = "") -> ResultSummary:
    """Return the summary of a result in a folder; `program` is the checksum of what ran, where that is known."""
    title, sentence, reason, machine = result_texts(findings)
    facts = {**machine_facts_text(findings.machine), "study": findings.study.hash[:12], "program": program[:12]}
    bare = ResultSummary(
        folder=folder, study=findings.study.name, title=title, sentence=sentence, verdict=findings.trust.level,
        reason=reason, started=findings.runs.started or "", lane=short_machine(findings.machine),
        machine=machine,
        commit=next((part for part in reversed(PurePath(folder).parts) if _COMMIT.fullmatch(part)), ""),
        facts={name: shorten(text, 100) for name, text in facts.items() if text},
    )  # fmt: skip
    try:
        if answer := answer_level(findings):
            refused = findings.trust.sentence.rstrip(".") if findings.trust.level == "unusable" else ""
            return replace(bare, **answer.summary_fields(refused))
        source, coefficients = findings_source(findings, folder), dict(_coefficients(findings))
    except (StudyError, ProtocolError) as error:
        return replace(bare, excluded=error.problems[0].found)
    rows = [row for row in source.configurations if have_logs(row.scores)]
    by_name = {" ".join(f"{k}={format_value(v)}" for k, v in sorted(row.levels.items())): row for row in rows}
    names = sorted(by_name)
    excluded = refusal_of(source) or ("" if names else "no configuration with a run that counts")
    logs = tuple(float(logs_of(by_name[name]).logs.mean()) for name in names)
    response, open_log = source.response, _open_log(rows, source.response.unit)
    if not excluded and (slowdown := version_slowdown(source)) is not None:
        coefficients[SLOWDOWN.name] = math.exp(slowdown)
        # Other commits are other configurations, but what the second takes over the first is one series.
        if any(_REVISION.search(str(level)) for level in source.levels_of(VERSION)):
            response, names, logs, open_log = SLOWDOWN, [SLOWDOWN.name], (slowdown,), 2 * open_log
    return replace(
        bare, response=response.name, response_title=response.title or response.name.replace("_", " "),
        unit=response.unit, better=response.better, excluded=excluded, names=tuple(names),
        logs=tuple(round(log, 7) for log in logs), open_log=open_log, coefficients=coefficients,
    )  # fmt: skip


def _open_log(rows: Sequence[SourceConfiguration], unit: str) -> float:
    step = common_step(*(row.scores for row in rows)) if rows and has_resolution(unit) else None
    return max((keep_open(row, step).open_log for row in rows), default=0.0)


def _coefficients(findings: Findings) -> Iterator[tuple[str, float]]:
    """Yield the mean of each coefficient over all curves that have one; of a curve without a law there is none."""
    laws = [curve.law for curve in findings.curves]
    if laws and all(law is not None and not any(flag.code in NO_LAW for flag in law.flags) for law in laws):
        for name, attribute in (("sigma", "sigma"), ("kappa", "kappa"), ("peak", "optimum")):
            yield from _mean(name, [getattr(law, attribute).value for law in laws])
    loads = findings.document("throughput", Throughputs)
    if loads:
        yield from _mean("knee", [group.knee.value if group.knee else None for group in loads.groups])
    yield from _best_level(findings)


def _mean(name: str, values: Sequence[float | None]) -> Iterator[tuple[str, float]]:
    numbers = [value for value in values if value is not None and math.isfinite(value)]
    if numbers and len(numbers) == len(values):
        yield name, sum(numbers) / len(numbers)


def _best_level(findings: Findings) -> Iterator[tuple[str, float]]:
    """Yield the level that is best on average over all curves, of those that each has, if levels are numbers."""
    name = findings.study.primary
    better = next((r.better for r in findings.study.responses if r.name == name), "none")
    logs: dict[float, list[float]] = {}
    for point in (point for curve in findings.curves for point in curve.points):
        value = point.responses[name].estimate.value if name in point.responses else None
        if not is_number(point.level):
            return
        logs.setdefault(float(point.level), []).append(math.log(value) if value and value > 0 else math.nan)
    means = {level: sum(each) / len(each) for level, each in logs.items() if len(each) == len(findings.curves)}
    ranked = [(mean, level) for level, mean in means.items() if math.isfinite(mean)]
    if better != "none" and len(ranked) > 1:
        yield "best level", (min if better == "lower" else max)(ranked)[1]
