"""Lay out the findings of `measure`: sentences, the table of levels, the JSON document."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

from scalograph.analysis.estimate import NO_LAW, Estimate
from scalograph.analysis.versus import classify_ratio
from scalograph.protocol.findings import (
    Cell,
    Claim,
    Column,
    Curve,
    FactorDoc,
    Findings,
    Matrix,
    MatrixCell,
    MatrixRow,
    Point,
    StudyDoc,
    TableDoc,
)
from scalograph.protocol.plain import AnswerCase, Level
from scalograph.questions.claims import state
from scalograph.text.answer_form import Quantity, fill
from scalograph.text.cell_numbers import cell_number, matrix_scale
from scalograph.text.format import DASH, level_text, trim_zeros
from scalograph.text.scale import SECONDS, Scale
from scalograph.text.short_names import is_counted, short_setting, singular


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


# A program that uses a smaller share of one CPU, for longer than this, waits for something else.
IDLE, LONG_WAIT_S = 0.1, 0.1
# CPUs used do not rise where they rise by less.
NO_RISE = 0.10
# So many of the CPUs that are used most are as many.
ALIKE = 0.95
_ORDINALS = {2: "second", 3: "third", 4: "fourth", 5: "fifth", 6: "sixth", 7: "seventh", 8: "eighth", 9: "ninth"}
FORMS = {
    "time": "{command!s} takes {value:measured}[[, using {cpu} CPU]][[, using {used} of {n} CPUs]].",
    "value": "{command!s}: {response} is {value:measured}[[, using {cpu} CPU]][[, using {used} of {n} CPUs]].",
    "waits": "It waited for {waited}% of the time: for a timer, the network[[, or a terminal (see {option})]].",
    "limits": "[[It uses {used} of {n} CPUs]][[; the serial share is {share:measured}]]"
    "[[; a {nth} {worker} would add about {gain:percent}]].",
    "slower": "[[It uses {used} of {n} CPUs]][[; more {factor} make it slower]].",
    "recommended": "Recommended: {level} ({target:percent} efficiency)[[; {other} cannot be ruled out]].",
    "unused": "All levels of {name} are equivalent, and CPUs used do not rise. Does the command use {{{name}}}?",
}


def alone_claim(findings: Findings, command: str, stdout: str | None = None) -> Claim | None:
    """State how long the only configuration takes, and its CPUs; None where its own claim says otherwise."""
    study, claim = findings.study, findings.claim
    if len(findings.curves) != 1 or len(findings.curves[0].points) != 1 or claim is None or not claim.answered:
        return None
    point, response = findings.curves[0].points[0], next(r for r in study.responses if r.name == primary(study))
    e, counted = point.responses[response.name].estimate, scores(point, response.name)
    if not counted or (claim.cases and claim.cases[0].case not in ("one time", "one value")):
        return None
    usage = _usage(findings.curves[0])
    cpu = usage["cpu"] or (f"{usage['used']} of {usage['n']}" if usage["used"] else "")
    cells = [MatrixCell(estimate=value) for value in (e, *(Estimate(float(f(counted))) for f in (median, min, max)))]
    cells += [MatrixCell(text=cpu or DASH), MatrixCell(text=f"{len(counted)}")]
    shown = Matrix(
        title=response.title, unit=response.unit, better=response.better,
        columns=["geometric mean", "median", "min", "max", "CPUs", "n"], rows=[MatrixRow(label="", cells=cells)],
    )  # fmt: skip
    values = {"command": command, "response": response.title, "value": Quantity(e, matrix_scale(shown)), **usage}
    is_time = response.unit in SECONDS and response.better == "lower"
    cases = [AnswerCase(case="time" if is_time else "value", values=values)]
    used = max(_cpus_used(point), 0.0) if point.cpus_used else 1.0
    if is_time and used < IDLE and (e.value or 0.0) * SECONDS[response.unit] > LONG_WAIT_S:
        option = "" if stdout == "tty" else "--stdout tty"
        cases.append(AnswerCase(case="waits", values={"waited": f"{100 * (1 - used):.0f}", "option": option}))
    return state(FORMS, cases, shown)


def curve_cases(study: StudyDoc, curve: Curve, target: float) -> list[AnswerCase]:
    """State the CPUs that a curve uses, what limits it, and the level to take at a target efficiency."""
    factor = next(factor for factor in study.factors if factor.name == curve.factor)
    worker = singular(factor.title) if is_counted(factor.title) else "worker"
    values = {**_usage(curve, False), **_serial(curve), **_next(curve), "worker": worker, "factor": factor.title}
    case = "slower" if curve.serial and (curve.serial.low or 0.0) > 1 and _holds_a_law(curve) else "limits"
    named = ("used",) if case == "slower" else ("used", "share", "gain")
    cases = [AnswerCase(case=case, values=values)] if case == "slower" or any(values.get(n) for n in named) else []
    return [*cases, *_recommend(study, curve, target)]


def sentence(study: StudyDoc, curve: Curve, target: float) -> str:
    """Return a curve's summary, empty where it supports none; `target` is the efficiency worth having."""
    where = ", ".join(f"{name} {level}" for name, level in curve.group.items())
    text = " ".join(fill(FORMS[case.case], case.values) for case in curve_cases(study, curve, target))
    return f"{where}: {text}" if where and text else text


def usage_rows(findings: Findings, columns: Sequence[str]) -> list[MatrixRow]:
    """Make the rows of a claim's matrix for CPUs used at each level, and for the serial share."""
    (curve,) = findings.curves
    factor = next(factor for factor in findings.study.factors if factor.name == curve.factor)
    by_head = {head: p for p in curve.points for head in (level_text(p.level), short_setting(factor.title, p.level))}
    used = [_used_text(by_head[head]) if head in by_head and by_head[head].cpus_used else DASH for head in columns]
    rows = [MatrixRow(label="CPUs used", cells=[MatrixCell(text=text) for text in used])]
    if share := _serial(curve).get("share"):
        blank = [MatrixCell(text=DASH) for _ in columns[1:]]
        rows.append(MatrixRow(label="serial share", cells=[*blank, MatrixCell(text=cell_number(*share))]))
    return rows if any(text != DASH for text in used) else rows[1:]


def ask_if_unused(study: StudyDoc, curve: Curve) -> str:
    """Ask whether the command uses its factor, where all levels are equivalent; else empty."""
    (factor,) = (factor for factor in study.factors if factor.name == curve.factor)
    compared = [point.speedup for point in sort_points(curve) if point.speedup][1:]
    given = factor.name != "copies" and factor.control is None
    same = all(classify_ratio(speedup) == "equivalent" for speedup in compared)
    used = [_cpus_used(point) for point in curve.points if _cpus_used(point)]
    if not compared or not given or not same or (used and max(used) > (1 + NO_RISE) * used[0]):
        return ""
    return fill(FORMS["unused"], {"name": factor.name})


def _usage(curve: Curve, is_alone: bool = True) -> dict[str, Any]:
    """Return the CPUs used: those of all, or the share of one where a command alone uses less than one."""
    used = [point for point in sort_points(curve) if point.cpus_used and point.cpus_used.value is not None]
    if not used:
        return {"used": "", "n": 0, "cpu": ""}
    most = max(_cpus_used(point) for point in used)
    # One CPU is used up by a program that has a hundred and uses one: the most that it was given tells.
    most_given = max(
        (point for point in used if _cpus_used(point) >= ALIKE * most), key=lambda point: point.n_cpus or 0
    )
    is_share = is_alone and _cpus_used(most_given) < ALIKE
    return {
        "used": "" if is_share else _used_text(most_given), "n": most_given.n_cpus or 0,
        "cpu": f"{100 * _cpus_used(most_given):.0f}%" if is_share else "",
    }  # fmt: skip


def _used_text(point: Point) -> str:
    return trim_zeros(f"{_cpus_used(point):.2f}")


def _cpus_used(point: Point) -> float:
    return (point.cpus_used.value if point.cpus_used else None) or 0.0


def _serial(curve: Curve) -> dict[str, Any]:
    serial = curve.serial
    if serial is None or serial.low is None or serial.high is None or not _holds_a_law(curve) or serial.high <= 0:
        return {}
    value, low, high = (min(1.0, max(0.0, x or 0.0)) for x in (serial.value, serial.low, serial.high))
    return {"share": Quantity(replace(serial, value=value, low=low, high=high), Scale(100.0, "%"))}


def _holds_a_law(curve: Curve) -> bool:
    return curve.law is None or not any(flag.code in NO_LAW for flag in curve.law.flags)


def _next(curve: Curve) -> dict[str, Any]:
    """Return what one more worker would add; nothing where the interval holds none."""
    gained = curve.next if _holds_a_law(curve) else None
    if gained is None or curve.next_size is None or gained.low is None or gained.high is None or gained.low <= 0:
        return {}
    return {"nth": _ORDINALS.get(curve.next_size, f"{curve.next_size}th"), "gain": (gained.low + gained.high) / 2}


def _may_be(share: Estimate | None, target: float) -> bool:
    return share is not None and share.low != share.high and share.contains(target)


def _recommend(study: StudyDoc, curve: Curve, target: float) -> Iterator[AnswerCase]:
    """Recommend the last level before efficiency falls below the target."""
    points = sort_points(curve)
    shares = [efficiency(study, point) for point in points]
    is_worth = [share is not None and share.value is not None and share.value >= target for share in shares]
    n_worth = is_worth.index(False) if False in is_worth else len(points)
    if not n_worth or len(points) < 2:
        return
    factor = next(factor for factor in study.factors if factor.name == curve.factor)
    # Where the interval of the next level, or of this one, holds the target, that one or the one before may be right.
    near = [(n_worth, n_worth), (n_worth - 1, n_worth - 2)]
    unsure = [points[other] for i, other in near if i < len(points) and other >= 0 and _may_be(shares[i], target)]
    yield AnswerCase(case="recommended", values={
        "level": short_setting(factor.title, points[n_worth - 1].level, factor.unit), "target": target,
        "other": level_text(unsure[0].level) if unsure else "",
    })  # fmt: skip


_NOTE = "scaling over the smallest; gain over the row before, in throughput; {:g}% intervals"
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
        "speedup": sort_points(first)[-1].speedup, "sigma": law.sigma if law else None,
        "kappa": law.kappa if law else None, "gamma": law.gamma if law else None, "serial_share": first.serial,
    }  # fmt: skip
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
