"""The answer on the terminal, and as one document for machines: findings, laid out for a command."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from scalograph.analysis.estimate import Estimate
from scalograph.cli.adhoc.answer_sentence import unused
from scalograph.cli.adhoc.steps import efficiency, gains_per_cost, ordered, primary, scores
from scalograph.protocol.findings import Cell, Column, Curve, FactorDoc, Findings, Point, StudyDoc, TableDoc

_NOTE = "scaling over the smallest; gain over the row before, in throughput; intervals of {:g} %"
_FIGURES = (("speedup", ""), ("CPUs used", ""), ("gain", "%"), ("gain per cost", "%"))


class StepRow(NamedTuple):
    """A row of the table: labels, the point, and its figures in the order of the columns."""

    labels: list[Cell]
    point: Point
    figures: tuple[Estimate | None, ...]


def steps_table(found: Findings, cost: float | None) -> TableDoc:
    """Lay out a row for each level.

    Args:
        found: of the study of a command.
        cost: of a CPU for an hour, in any money.
    """
    study, names = found.study, shown(found.study)
    labels = _labels(found)
    rows = [row for curve in found.curves for row in _rows(study, curve, labels, cost)]
    kept = [i for i in range(len(_FIGURES)) if any(row.figures[i] for row in rows)]
    responses = {response.name: response for response in study.responses}
    columns = [Column(name=factor.title, unit=factor.unit, kind="label") for factor in labels]
    columns += [Column(name=responses[n].title, unit=responses[n].unit, kind="estimate") for n in names]
    columns += [Column(name=_FIGURES[i][0], unit=_FIGURES[i][1], kind="estimate") for i in kept]
    columns += [Column(name="runs", kind="text")]
    cells = [
        [
            *row.labels,
            *(row.point.responses[name].estimate for name in names),
            *(row.figures[i] or Estimate() for i in kept),
            _runs(row.point),
        ]
        for row in rows
    ]
    note = _NOTE.format(100 * _confidence(found)) if study.baseline else ""
    return TableDoc(id="steps", title=study.title, note=note, columns=columns, rows=cells)


def shown(study: StudyDoc) -> list[str]:
    """Name the responses of the table, the one that the study is about first; CPUs used have a column of their own."""
    first = primary(study)
    others = (response.name for response in study.responses)
    return [first, *(name for name in others if name not in (first, "cpu", "cpu_percent", "wall"))]


def _labels(found: Findings) -> list[FactorDoc]:
    """Factors that have more than one level, that of the curves last."""
    along = found.curves[0].factor
    groups = [name for name in found.curves[0].group if len({curve.group[name] for curve in found.curves}) > 1]
    factors = {factor.name: factor for factor in found.study.factors}
    return [factors[name] for name in (*groups, along)]


def _rows(study: StudyDoc, curve: Curve, labels: Sequence[FactorDoc], cost: float | None) -> list[StepRow]:
    dear = gains_per_cost(study, curve, cost)
    group: list[Cell] = [curve.group[factor.name] for factor in labels[:-1]]
    return [
        StepRow(
            [*group, point.level],
            point,
            (point.speedup, point.cpus_used, point.gain and point.gain.scaled(100), dear.get(point.level)),
        )
        for point in ordered(curve)
    ]


def _runs(point: Point) -> str:
    n = max(len(response.runs) for response in point.responses.values())
    return f"{n}, {point.n_failed} failed" if point.n_failed else str(n)


def _confidence(found: Findings) -> float:
    return found.curves[0].points[0].responses[primary(found.study)].estimate.confidence


def document(found: Findings, said: Sequence[str], cost: float | None) -> dict[str, Any]:
    """Give one document: of the first curve its largest level and its law by themselves, of all curves every step."""
    first = found.curves[0]
    law = first.law
    estimates = {
        "speedup": ordered(first)[-1].speedup,
        "sigma": law.sigma if law else None,
        "kappa": law.kappa if law else None,
        "gamma": law.gamma if law else None,
        "serial_share": first.serial,
    }
    return {
        "verdict": found.trust.level,
        "sentence": found.trust.sentence,
        "answer": list(said),
        **{name: _plain(estimate) for name, estimate in estimates.items()},
        "runs": found.runs.model_dump(mode="json"),
        "curves": [_curve(found.study, curve, cost) for curve in found.curves],
    }


def _curve(study: StudyDoc, curve: Curve, cost: float | None) -> dict[str, Any]:
    law, dear = curve.law, gains_per_cost(study, curve, cost)
    return {
        "group": dict(curve.group),
        "factor": curve.factor,
        "law": {name: _plain(getattr(law, name)) for name in ("sigma", "kappa", "gamma", "optimum")} if law else None,
        "flags": [*(flag.text for flag in (law.flags if law else ())), *filter(None, [unused(study, curve)])],
        "next": {"size": curve.next_size, **asdict(curve.next)} if curve.next else None,
        "steps": [_step(study, point, dear.get(point.level)) for point in ordered(curve)],
    }


def _step(study: StudyDoc, point: Point, per_cost: Estimate | None) -> dict[str, Any]:
    parts = {"speedup": point.speedup, "efficiency": efficiency(study, point), "cpus_used": point.cpus_used,
             "gain": point.gain, "gain_percent_per_cost": per_cost}  # fmt: skip
    return {
        "level": point.level,
        "n_failed": point.n_failed,
        **{name: _plain(estimate) for name, estimate in parts.items()},
        "responses": {
            name: {"scores": scores(point, name), **asdict(response.estimate)}
            for name, response in point.responses.items()
        },
    }


def _plain(estimate: Estimate | None) -> dict[str, Any] | None:
    return asdict(estimate) if estimate else None
