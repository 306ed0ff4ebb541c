"""Findings as a source: the scores behind each point of their curves."""

import re
from collections.abc import Iterator, Sequence

from scalograph.errors import ProtocolError, StudyError
from scalograph.exchange.compare.measured_source import FailedTreatment, MeasuredSource, SourceTreatment, mostly_failed
from scalograph.protocol.findings import Curve, Findings, Point, PointResponse, ResponseDoc
from scalograph.questions.registry import QUESTIONS, without_curves
from scalograph.study.scalars import no_such
from scalograph.text.quantities import counted

# Runs that were disturbed, or cannot be as recorded, and the share of them from which a study says nothing.
_DISTURBED, HALF = ("contaminated", "impossible"), 0.5
_BLOCK = re.compile(r"b(\d+)-")


def from_findings(found: Findings, label: str, name: str | None = None) -> MeasuredSource:
    """Read what can be compared.

    Args:
        found: of one study.
        label: what it is called.
        name: of the response; None for the one that the study is about.

    Raises:
        StudyError: it has no such response, or one without a better direction, or it is a search without curves.
        ProtocolError: a point lacks a level of a factor.
    """
    _refuse_search(found, label)
    response = _response(found, label, name)
    # A law is of the primary response.
    is_primary = name in (None, found.study.primary)
    failed = tuple(_failed(found, response.name))
    treatments = tuple(_treatments(found, response.name))
    _refuse_partial(found, label, [*treatments, *failed])
    return MeasuredSource(
        label=label,
        name=found.study.name,
        title=found.study.title,
        factors={factor.name: factor for factor in found.study.factors},
        along=found.curves[0].factor if found.curves else "",
        response=response,
        treatments=treatments,
        failed=failed,
        machine=found.machine,
        facts={"study or program": found.study.hash[:12]},
        refused=_refused(found, response.name),
        trust=found.trust,
        curves=tuple(found.curves) if is_primary else (),
        laws_left_out=not is_primary and any(curve.law is not None for curve in found.curves),
    )


def _refuse_search(found: Findings, label: str) -> None:
    asked = found.study.question
    if not found.curves and asked in QUESTIONS and (why := without_curves(asked)):
        fix = "read both answers side by side: scalograph report RESULTS"
        raise StudyError.one(label, f'results of question "{asked}": {why}', "results with curves", fix)


def _refuse_partial(found: Findings, label: str, treatments: Sequence[SourceTreatment | FailedTreatment]) -> None:
    """Findings may come from anybody: a point is known by the levels of all factors."""
    names = [factor.name for factor in found.study.factors]
    if lost := next((name for one in treatments for name in names if name not in one.levels), None):
        raise ProtocolError(label, f'a point of a curve without a level of "{lost}"', "one of each factor")


def _response(found: Findings, label: str, name: str | None) -> ResponseDoc:
    wanted = name or found.study.primary or next((r.name for r in found.study.responses), "")
    every = {response.name: response for response in found.study.responses}
    directed = [response.name for response in every.values() if response.better != "none"]
    if wanted not in every:
        raise no_such("--response", f'{label} has no "{wanted}"', wanted, directed)
    if every[wanted].better == "none":
        raise no_such("--response", f'"{wanted}" is neither better higher nor lower', wanted, directed)
    return every[wanted]


def counts_disturbed(found: Findings, name: str) -> bool:
    """Tell whether a response is a CPU time, which neighbors leave nearly as it was, in a study that goes by it."""
    return found.trust.responses.get(name) == "believe"


def _treatments(found: Findings, name: str) -> Iterator[SourceTreatment]:
    by_cpu = counts_disturbed(found, name)
    for curve in found.curves:
        for point in curve.points:
            response = point.responses.get(name)
            if response is None or _is_failed(point, name):
                continue
            if (made := _treatment(curve, point, response, by_cpu)).scores:
                yield made


def _failed(found: Findings, name: str) -> Iterator[FailedTreatment]:
    for curve in found.curves:
        for point in curve.points:
            if _is_failed(point, name):
                levels = {**curve.group, curve.factor: point.level}
                yield FailedTreatment(levels, (point.n_failed, _n_runs(point, name)))


def _is_failed(point: Point, name: str) -> bool:
    return mostly_failed(point.n_failed, _n_runs(point, name))


def _n_runs(point: Point, name: str) -> int:
    """Runs that failed, and those that succeeded, counted or not."""
    return point.n_failed + (len(point.responses[name].scores) if name in point.responses else 0)


def _treatment(curve: Curve, point: Point, response: PointResponse, by_cpu: bool) -> SourceTreatment:
    lost = {*response.left_out}
    runs = response.runs + [""] * (len(response.scores) - len(response.runs))
    kept = [(score, run) for score, run in zip(response.scores, runs, strict=False) if run not in lost]
    # Runs of a search are no blocks.
    named = [_BLOCK.match(run) for _, run in kept]
    blocks = [int(match[1]) if match else i for i, match in enumerate(named)]
    rests = not by_cpu and any(flag.code == "falls back" for flag in point.flags)
    return SourceTreatment(
        levels={**curve.group, curve.factor: point.level},
        scores=tuple(score for score, _ in kept),
        blocks=tuple(blocks),
        estimate=response.estimate,
        n_cpus=point.n_cpus,
        doubt="rests on disturbed runs" if rests else "",
    )


def _refused(found: Findings, name: str) -> str:
    """Why nothing is to be said from a study, whatever its figures are."""
    if counts_disturbed(found, name):
        return ""
    if "reject" in (found.trust.level, found.trust.responses.get(name)):
        sentence = found.trust.sentence.rstrip(".")
        return f"{sentence[:1].lower()}{sentence[1:]}"
    verdicts = [v for curve in found.curves for point in curve.points for v in _verdicts(point, name)]
    n = sum(verdict in _DISTURBED for verdict in verdicts)
    return f"{n:,} of {counted(len(verdicts), 'run')} were disturbed" if n > HALF * len(verdicts) else ""


def _verdicts(point: Point, name: str) -> list[str]:
    return point.responses[name].verdicts if name in point.responses else []
