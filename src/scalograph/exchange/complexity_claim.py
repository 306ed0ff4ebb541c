"""The growth of times with the size of the input: its class, the cost of a step, predictions."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from scalograph.analysis.complexity import FARTHEST, Complexity, fit_complexity, predict_time
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.growth_classes import CONSTANT
from scalograph.analysis.interval import summarize
from scalograph.errors import StudyError
from scalograph.exchange.csv_points import Points
from scalograph.protocol.findings import Cell, Claim, Column, Matrix, MatrixCell, MatrixRow, TableDoc
from scalograph.text.cell_numbers import WIDEST
from scalograph.text.format import estimate, number, significant
from scalograph.text.quantities import percent_at_most
from scalograph.text.scale import Scale, scale_for

COLUMNS = 6
# Up to this possible growth, as a share, time counts as constant.
_STAYS = 0.1


def complexities(points: Points, weights: str, confidence: float, asked: Sequence[float] = ()) -> dict[str, Any]:
    """Fit the classes of growth to times at sizes.

    Args:
        points: sizes, and times in place of rates.
        weights: `relative`: errors are a share of each time.
        confidence: of the set of classes and of the intervals.
        asked: sizes to predict; if empty, as far as the data reach.

    Returns:
        `possible` (names of the remaining classes), `classes` (of each `start`, `cost`, `residual`, and why it is
        `refuted`), `power` (`exponent`, `residual`, `refuted`), `most_growth`, `points`: `size`, `time`, `fitted` by
        class; `predictions`.

    Raises:
        StudyError: there are too few sizes or too narrow a range of them, or the weights are others.
    """
    if weights != "relative":
        raise StudyError.one("--weights", f'"{weights}"', "relative, with --law complexity")
    try:
        fit = fit_complexity(points.sizes, points.rates, confidence)
    except ValueError as error:
        fix = "measure more sizes, farther apart, or name other columns"
        raise StudyError.one("points", str(error), "", fix) from error
    sizes, n_points = asked or (FARTHEST * max(points.sizes),), fit.sizes.size
    return {
        "law": "complexity", "possible": [growth.name for growth in fit.possible], "most_growth": fit.most_growth,
        "classes": [
            {"name": growth.name, "start": growth.start, "cost": asdict(growth.cost),
             "residual": math.sqrt(growth.fit.rss / n_points), "refuted": growth.refuted}
            for growth in fit.growths
        ],
        "power": {"exponent": asdict(fit.power.exponent), "residual": math.sqrt(fit.power.rss / n_points),
                  "refuted": fit.power.refuted},
        "points": list(_points(fit)),
        "predictions": [{"size": n, **asdict(predict_time(fit, n))} for n in sizes],
    }  # fmt: skip


def _points(fit: Complexity) -> Iterator[dict[str, Any]]:
    for n in np.unique(fit.sizes).tolist():
        time = summarize(fit.times[fit.sizes == n].tolist(), fit.confidence)
        yield {"size": n, "time": asdict(time), "fitted": {growth.name: growth.time(n) for growth in fit.possible}}


def complexity_claim(document: dict[str, Any], x: str) -> Claim:
    """Return how time grows; the document is that of `complexities`, with the times' `unit` where known."""
    first, is_answered = _growth_sentence(document, x)
    more = [*_cost(document, x), *_predictions(document)] if document["possible"] else []
    return Claim(sentences=[first, *more[:2]], answered=is_answered, matrix=_matrix(document, x))


def _growth_sentence(document: dict[str, Any], x: str) -> tuple[str, bool]:
    names, ends = document["possible"], [number(document["points"][i]["size"]) for i in (0, -1)]
    range_ = f"from {x} = {ends[0]} to {ends[1]}"
    if not names:
        return _power_sentence(document, x, range_)
    if names[0] == CONSTANT:
        most = percent_at_most(document["most_growth"])
        if document["most_growth"] <= _STAYS:
            return f"Time does not grow {range_}, or by {most} at most.", True
        return f"Cannot be said: {range_} time grows by {most} at most, or not at all.", False
    if len(names) == 1:
        return f"Time grows as {_class_name(names[0], x)}.", True
    *others, last = [_class_name(name, x) for name in names]
    return f"Time grows as {', '.join(others)} or {last}: the points do not tell which.", False


def _power_sentence(document: dict[str, Any], x: str, range_: str) -> tuple[str, bool]:
    exponent = Estimate(**document["power"]["exponent"])
    every = ", ".join(_class_name(growth["name"], x) for growth in document["classes"])
    low, high = exponent.low or 0.0, exponent.high or 0.0
    if document["power"]["refuted"] or low <= 0 <= high:
        reason = f"time grows as none of {every} alone; {range_} its mean exponent is {estimate(exponent)}"
        return f"Cannot be said: {reason}.", False
    if high < 0:
        return f"Time does not grow: {range_} it falls as {x}^{estimate(exponent)}.", True
    return f"Time grows as {x}^{estimate(exponent)} {range_}, as none of {every}.", True


def _class_name(name: str, x: str) -> str:
    return re.sub(r"\bn\b", lambda _: x, name)


def _unit_scale(document: dict[str, Any], values: Sequence[float | None]) -> tuple[Scale, str]:
    scale = scale_for(document.get("unit", ""), values)
    return scale, f" {scale.unit}" if scale.unit else ""


def _cost(document: dict[str, Any], x: str) -> Iterator[str]:
    if document["possible"][0] != CONSTANT and len(document["possible"]) == 1:
        (growth,) = (growth for growth in document["classes"] if growth["name"] == document["possible"][0])
        base = " (log to base 2)" if "log" in growth["name"] else ""
        scale, unit = _unit_scale(document, [growth["cost"]["value"]])
        shown = estimate(Estimate(**growth["cost"]), scale)
        yield f"Each {_class_name(growth['name'], x)}{base} takes {f'{shown.value}{unit} {shown.interval}'.rstrip()}."


def _predictions(document: dict[str, Any]) -> Iterator[str]:
    for prediction in document["predictions"]:
        if prediction["low"] is None:
            yield f"At {number(prediction['size'])} nothing is predicted: {'; '.join(prediction['warnings'])}."
        elif prediction["high"] <= WIDEST * prediction["low"]:
            scale, unit = _unit_scale(document, [prediction["value"]])
            ends = dict.fromkeys(significant(prediction[end] * scale.factor) for end in ("low", "high"))
            yield f"At {number(prediction['size'])} it would be {' to '.join(ends)}{unit}, if it grows on like this."


def _matrix(document: dict[str, Any], x: str) -> Matrix:
    points, last = document["points"], len(document["points"]) - 1
    spread = sorted({round(i * last / (COLUMNS - 1)) for i in range(COLUMNS)})
    shown = [points[i] for i in spread]
    measured = [MatrixCell(estimate=Estimate(**point["time"])) for point in shown]
    rows = [MatrixRow(label="measured", cells=measured)]
    for name in document["possible"]:
        cells = [MatrixCell(estimate=Estimate(point["fitted"][name])) for point in shown]
        rows.append(MatrixRow(label=f"as {_class_name(name, x)}", cells=cells))
    columns = [number(point["size"]) for point in shown]
    return Matrix(title=f"time, by {x}", unit=document.get("unit", ""), better="lower", columns=columns, rows=rows)


def complexity_tables(document: dict[str, Any]) -> list[TableDoc]:
    """Return the classes with their fits, the exponent of one power, and the time of each size."""
    unit, power = document.get("unit", ""), document["power"]
    columns = [Column(name="class", kind="label"), Column(name="fixed part", unit=unit)]
    columns += [Column(name="each", kind="estimate", unit=unit)]
    ends = [Column(name="typical error", unit="%"), Column(name="refuted", kind="text")]
    rows: list[list[Cell]] = [
        [growth["name"], growth["start"], Estimate(**growth["cost"]), 100 * growth["residual"], growth["refuted"]]
        for growth in document["classes"]
    ]
    classes = TableDoc(id="classes", title="Classes of growth", columns=[*columns, *ends], rows=rows)
    exponent: list[list[Cell]] = [["n^p", Estimate(**power["exponent"]), 100 * power["residual"], power["refuted"]]]
    columns = [Column(name="curve", kind="label"), Column(name="p", kind="estimate"), *ends]
    power_table = TableDoc(id="power", title="One power of the size", columns=columns, rows=exponent)
    of_sizes: list[list[Cell]] = [[number(point["size"]), Estimate(**point["time"])] for point in document["points"]]
    columns = [Column(name="size", kind="label"), Column(name="time", kind="estimate", unit=unit)]
    return [
        classes,
        power_table,
        TableDoc(id="points", title="Sizes that were measured", columns=columns, rows=of_sizes),
    ]
