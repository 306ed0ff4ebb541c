"""Lay out the findings of `measure`: sentences, the table of levels, the JSON document."""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Any, NamedTuple

from scalograph.analysis.estimate import NO_LAW, Estimate
from scalograph.analysis.versus import classify_ratio
from scalograph.protocol.findings import Cell, Column, Curve, FactorDoc, Findings, Point, StudyDoc, TableDoc
from scalograph.protocol.plain import Level
from scalograph.text.quantities import percents


def sort_points(curve: Curve) -> list[Point]:
    """Sort points by level where levels count something, else keep the declared order."""
    counted = all(point.speedup for point in curve.points)
    return sorted(curve.points, key=lambda point: int(point.level)) if counted else list(curve.points)


def primary(study: StudyDoc) -> str:
    """Return the primary response: the first with a direction."""
    return next(response.name for response in study.responses if response.better != "none")


def scores(point: Point, response: str) -> list[float]:
    """Return the scores that count, in order."""
    sample = point.responses[response]
    return [score for score, run in zip(sample.scores, sample.runs, strict=True) if run not in sample.left_out]


def efficiency(study: StudyDoc, point: Point) -> Estimate | None:
    """Return speedup over the growth of the workers, also beyond the last CPU."""
    if point.speedup is None or study.baseline is None:
        return None
    return point.speedup.rescale(int(study.baseline.level) / int(point.level))


def gains_per_cost(study: StudyDoc, curve: Curve, cost: float | None) -> dict[Level, Estimate]:
    """Return the throughput gain (%) of each level per unit of money an hour; none where it costs no more.

    `cost` is of a CPU for an hour, in any currency.
    """
    (factor,) = (factor for factor in study.factors if factor.name == curve.factor)
    gains = {}
    for before, now in pairwise(sort_points(curve)):
        if cost and now.gain and (more := _count_cpus(factor, now) - _count_cpus(factor, before)) > 0:
            gains[now.level] = now.gain.rescale(100 / (cost * more))
    return gains


def _count_cpus(factor: FactorDoc, point: Point) -> int:
    """Count the CPUs a level needs: those it is given, or has workers for."""
    n_cpus = point.n_cpus or 1
    return n_cpus if factor.control == "cpus" else min(int(point.level), n_cpus)


# CPUs used do not rise where they rise by less.
NO_RISE = 0.10
# So many of the CPUs that are used most are as many.
ALIKE = 0.95
_ORDINALS = {2: "second", 3: "third", 4: "fourth", 5: "fifth", 6: "sixth", 7: "seventh", 8: "eighth", 9: "ninth"}


def sentence(study: StudyDoc, curve: Curve, target: float) -> str:
    """Return a curve's summary, empty where it supports none; `target` is the efficiency worth having."""
    where = ", ".join(f"{name} {level}" for name, level in curve.group.items())
    parts = [part for part in (_cpu_usage(curve), _serial(curve), _next(curve), _take(study, curve, target)) if part]
    text = "; ".join(parts)
    return f"{where}: {text}." if where and text else f"{text[:1].upper()}{text[1:]}{'.' * bool(text)}"


def ask_if_unused(study: StudyDoc, curve: Curve) -> str:
    """Ask whether the command uses its factor, where all levels are equivalent; else empty."""
    (factor,) = (factor for factor in study.factors if factor.name == curve.factor)
    compared = [point.speedup for point in sort_points(curve) if point.speedup][1:]
    given = factor.name != "copies" and factor.control is None
    same = all(classify_ratio(speedup) == "equivalent" for speedup in compared)
    used = [_cpus_used(point) for point in curve.points if _cpus_used(point)]
    if not compared or not given or not same or (used and max(used) > (1 + NO_RISE) * used[0]):
        return ""
    name = factor.name
    return f"All levels of {name} take the same time, and CPUs used do not rise: does the command use {{{name}}}?"


def _cpu_usage(curve: Curve) -> str:
    used = [point for point in sort_points(curve) if point.cpus_used and point.cpus_used.value is not None]
    if not used:
        return ""
    most = max(_cpus_used(point) for point in used)
    # One CPU is used up by a program that has a hundred and uses one: the most that it was given tells.
    most_given = max(
        (point for point in used if _cpus_used(point) >= ALIKE * most), key=lambda point: point.n_cpus or 0
    )
    n_cpus = most_given.n_cpus or 0
    shown = f"{_cpus_used(most_given):.2f}".rstrip("0").rstrip(".")
    return f"uses {shown} of {n_cpus} CPU{'s' * (n_cpus != 1)}"


def _cpus_used(point: Point) -> float:
    return (point.cpus_used.value if point.cpus_used else None) or 0.0


def _serial(curve: Curve) -> str:
    serial = curve.serial
    if serial is None or serial.low is None or serial.high is None or not _holds_a_law(curve):
        return ""
    if serial.low > 1:
        return "more make it slower than one"
    low, high = (min(1.0, max(0.0, x)) for x in (serial.low, serial.high))
    return f"serial share {percents(low, high)}" if high else "no serial share to be seen"


def _holds_a_law(curve: Curve) -> bool:
    return curve.law is None or not any(flag.code in NO_LAW for flag in curve.law.flags)


def _next(curve: Curve) -> str:
    gained = curve.next if _holds_a_law(curve) else None
    if gained is None or curve.next_size is None or gained.low is None or gained.high is None:
        return ""
    which = _ORDINALS.get(curve.next_size, f"number {curve.next_size}")
    return f"a {which} would gain {percents(gained.low, gained.high)} if nothing else fills up"


def _take(study: StudyDoc, curve: Curve, target: float) -> str:
    """Recommend the last level before efficiency falls below the target."""
    points = sort_points(curve)
    shares = [efficiency(study, point) for point in points]
    is_worth = [share is not None and share.value is not None and share.value >= target for share in shares]
    n_worth = is_worth.index(False) if False in is_worth else len(points)
    if not n_worth:
        return ""
    # The interval of this level, or of the next, may hold the target.
    near = [share for share in shares[n_worth - 1 : n_worth + 1] if share]
    unsure = any(share.low != share.high and share.contains(target) for share in near)
    doubt = " (not certain: an interval holds the target)" if unsure else ""
    return f"with a target of {100 * target:g} % efficiency take {points[n_worth - 1].level}{doubt}"


_NOTE = "scaling over the smallest; gain over the row before, in throughput; intervals of {:g} %"
_FIGURES = (("speedup", ""), ("CPUs used", ""), ("gain", "%"), ("gain per cost", "%"))


class StepRow(NamedTuple):
    """A row of the table: labels, the point, and its values in column order."""

    labels: list[Cell]
    point: Point
    figures: tuple[Estimate | None, ...]


def steps_table(findings: Findings, cost: float | None) -> TableDoc:
    """Lay out a row for each level; `cost` is of a CPU for an hour, in any currency."""
    study, names = findings.study, table_responses(findings.study)
    labels = _labels(findings)
    rows = [row for curve in findings.curves for row in _rows(study, curve, labels, cost)]
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
            f"{n}, {row.point.n_failed} failed" if row.point.n_failed else str(n),
        ]
        for row in rows
        for n in [max(len(response.runs) for response in row.point.responses.values())]
    ]
    confidence = findings.curves[0].points[0].responses[primary(study)].estimate.confidence
    note = _NOTE.format(100 * confidence) if study.baseline else ""
    return TableDoc(id="steps", title=study.title, note=note, columns=columns, rows=cells)


def table_responses(study: StudyDoc) -> list[str]:
    """Return the responses of the table, the primary one first; CPUs used have their own column."""
    first = primary(study)
    others = (response.name for response in study.responses)
    return [first, *(name for name in others if name not in (first, "cpu", "cpu_percent", "wall"))]


def _labels(findings: Findings) -> list[FactorDoc]:
    """Return factors with several levels, that of the curves last."""
    along = findings.curves[0].factor
    groups = [name for name in findings.curves[0].group if len({curve.group[name] for curve in findings.curves}) > 1]
    factors = {factor.name: factor for factor in findings.study.factors}
    return [factors[name] for name in (*groups, along)]


def _rows(study: StudyDoc, curve: Curve, labels: Sequence[FactorDoc], cost: float | None) -> list[StepRow]:
    dear = gains_per_cost(study, curve, cost)
    group: list[Cell] = [curve.group[factor.name] for factor in labels[:-1]]
    return [
        StepRow(
            [*group, point.level],
            point,
            (point.speedup, point.cpus_used, point.gain and point.gain.rescale(100), dear.get(point.level)),
        )
        for point in sort_points(curve)
    ]


def document(findings: Findings, answer: Sequence[str], cost: float | None) -> dict[str, Any]:
    """Return the JSON document: the first curve's largest level and law, and every level of all curves."""
    first = findings.curves[0]
    law = first.law
    estimates = {
        "speedup": sort_points(first)[-1].speedup,
        "sigma": law.sigma if law else None,
        "kappa": law.kappa if law else None,
        "gamma": law.gamma if law else None,
        "serial_share": first.serial,
    }
    return {
        "verdict": findings.trust.level,
        "sentence": findings.trust.sentence,
        "answer": list(answer),
        **{name: _plain(estimate) for name, estimate in estimates.items()},
        "runs": findings.runs.model_dump(mode="json"),
        "curves": [_curve(findings.study, curve, cost) for curve in findings.curves],
    }


def _curve(study: StudyDoc, curve: Curve, cost: float | None) -> dict[str, Any]:
    law, dear = curve.law, gains_per_cost(study, curve, cost)
    return {
        "group": dict(curve.group),
        "factor": curve.factor,
        "law": {name: _plain(getattr(law, name)) for name in ("sigma", "kappa", "gamma", "optimum")} if law else None,
        "flags": [*(flag.text for flag in (law.flags if law else ())), *filter(None, [ask_if_unused(study, curve)])],
        "next": {"size": curve.next_size, **asdict(curve.next)} if curve.next else None,
        "steps": [_step(study, point, dear.get(point.level)) for point in sort_points(curve)],
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
