"""Findings as a source: the scores behind each point of their curves."""

import re
from collections.abc import Iterator

from scalograph.errors import ProtocolError, StudyError
from scalograph.exchange.compare.measured_source import (
    FailedConfiguration,
    MeasuredSource,
    SourceConfiguration,
    mostly_failed,
)
from scalograph.protocol.findings import Curve, Findings, Point, PointResponse, ResponseDoc
from scalograph.questions.registry import QUESTIONS, why_no_curves
from scalograph.study.scalars import unknown_name_error
from scalograph.text.quantities import count_noun

# Disturbed or invalid verdicts, and the share of such runs above which a study allows no verdict.
_DISTURBED, HALF = ("disturbed", "invalid"), 0.5
_BLOCK = re.compile(r"b(\d+)-")


def findings_source(findings: Findings, label: str, name: str | None = None) -> MeasuredSource:
    """Return a source of the findings of one study.

    The response is the primary one if `name` is None.

    Raises:
        StudyError: it has no such response, or one without a better direction, or it is a search without curves.
        ProtocolError: a point lacks a level of a factor.
    """
    asked = findings.study.question
    if not findings.curves and asked in QUESTIONS and (reason := why_no_curves(asked)):
        fix = "read both answers side by side: scalograph report RESULTS"
        raise StudyError.one(label, f'results of question "{asked}": {reason}', "results with curves", fix)
    response = _response(findings, label, name)
    # A law is of the primary response.
    is_primary = name in (None, findings.study.primary)
    failed = tuple(_failed_configurations(findings, response.name))
    configurations = tuple(_configurations(findings, response.name))
    rows: list[SourceConfiguration | FailedConfiguration] = [*configurations, *failed]
    names = [factor.name for factor in findings.study.factors]
    if lost := next((name for row in rows for name in names if name not in row.levels), None):
        raise ProtocolError(label, f'a point of a curve without a level of "{lost}"', "one of each factor")
    return MeasuredSource(
        label=label, name=findings.study.name, title=findings.study.title,
        factors={factor.name: factor for factor in findings.study.factors},
        along=findings.curves[0].factor if findings.curves else "", response=response, configurations=configurations,
        failed=failed, machine=findings.machine, facts={"study or program": findings.study.hash[:12]},
        refused=_refusal(findings, response.name), trust=findings.trust,
        curves=tuple(findings.curves) if is_primary else (),
        laws_left_out=not is_primary and any(curve.law is not None for curve in findings.curves),
    )  # fmt: skip


def _response(findings: Findings, label: str, name: str | None) -> ResponseDoc:
    wanted = name or findings.study.primary or next((r.name for r in findings.study.responses), "")
    every = {response.name: response for response in findings.study.responses}
    directed = [response.name for response in every.values() if response.better != "none"]
    if wanted not in every:
        raise unknown_name_error("--response", f'{label} has no "{wanted}"', wanted, directed)
    if every[wanted].better == "none":
        raise unknown_name_error("--response", f'"{wanted}" is neither better higher nor lower', wanted, directed)
    return every[wanted]


def counts_disturbed(findings: Findings, name: str) -> bool:
    """Return whether the study goes by this CPU time, which interference leaves nearly unchanged."""
    return findings.trust.responses.get(name) == "reliable"


def _configurations(findings: Findings, name: str) -> Iterator[SourceConfiguration]:
    by_cpu = counts_disturbed(findings, name)
    for curve in findings.curves:
        for point in curve.points:
            if (response := point.responses.get(name)) and not _is_failed(point, name):
                row = _configuration(curve, point, response, by_cpu)
                yield from [row] if row.scores else []


def _failed_configurations(findings: Findings, name: str) -> Iterator[FailedConfiguration]:
    for curve in findings.curves:
        for point in curve.points:
            if _is_failed(point, name):
                levels = {**curve.group, curve.factor: point.level}
                yield FailedConfiguration(levels, (point.n_failed, _n_runs(point, name)))


def _is_failed(point: Point, name: str) -> bool:
    return mostly_failed(point.n_failed, _n_runs(point, name))


def _n_runs(point: Point, name: str) -> int:
    """Count the failed runs of a point and the successful ones, counted or not."""
    return point.n_failed + (len(point.responses[name].scores) if name in point.responses else 0)


def _configuration(curve: Curve, point: Point, response: PointResponse, by_cpu: bool) -> SourceConfiguration:
    lost = {*response.left_out}
    runs = response.runs + [""] * (len(response.scores) - len(response.runs))
    kept = [(score, run) for score, run in zip(response.scores, runs, strict=False) if run not in lost]
    # Runs of a search have no blocks.
    named = [_BLOCK.match(run) for _, run in kept]
    blocks = [int(match[1]) if match else i for i, match in enumerate(named)]
    rests = not by_cpu and any(flag.code == "falls back" for flag in point.flags)
    return SourceConfiguration(
        levels={**curve.group, curve.factor: point.level}, scores=tuple(score for score, _ in kept),
        blocks=tuple(blocks), estimate=response.estimate, n_cpus=point.n_cpus,
        doubt="includes disturbed runs" if rests else "",
    )  # fmt: skip


def _refusal(findings: Findings, name: str) -> str:
    """Return why the study allows no verdict, whatever its values are; empty where it does."""
    if counts_disturbed(findings, name):
        return ""
    if "unusable" in (findings.trust.level, findings.trust.responses.get(name)):
        sentence = findings.trust.sentence.rstrip(".")
        return f"{sentence[:1].lower()}{sentence[1:]}"
    points = [point.responses.get(name) for curve in findings.curves for point in curve.points]
    verdicts = [verdict for response in points if response for verdict in response.verdicts]
    n = sum(verdict in _DISTURBED for verdict in verdicts)
    return f"{n:,} of {count_noun(len(verdicts), 'run')} were disturbed" if n > HALF * len(verdicts) else ""
