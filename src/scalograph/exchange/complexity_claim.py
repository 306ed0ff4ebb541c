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
from scalograph.protocol.plain import AnswerCase
from scalograph.questions.claims import state
from scalograph.text.answer_form import Quantity
from scalograph.text.cell_numbers import WIDEST, cell_number
from scalograph.text.format import number
from scalograph.text.scale import PLAIN, scale_for

COLUMNS = 6
# Up to this possible growth, as a share, time counts as constant.
_STAYS = 0.1


def complexities(points: Points, weights: str, confidence: float, asked: Sequence[float] = ()) -> dict[str, Any]:
    """Fit the classes of growth to times at sizes, in place of rates; `confidence` is of the classes and intervals.

    `weights` are `relative`: errors are a share of each time. `asked` are sizes to predict; if empty, as far as the
    data reach. Returns `possible` (names of the remaining classes), `classes` (of each `start`, `cost`, `residual`, and
    why it is `refuted`), `power` (`exponent`, `residual`, `refuted`), `most_growth`, `points`: `size`, `time`, `fitted`
    by class; `predictions`.

    Raises StudyError: there are too few sizes or too narrow a range of them, or the weights are others.
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


FORMS = {
    "class": "Time grows as {class}.",
    "constant": "Time does not grow from {x} = {first} to {last}, or by {most:at_most} at most.",
    "falls": "Time does not grow: it falls as {x}^{exponent:measured} from {x} = {first} to {last}.",
    "power": "Time grows as {x}^{exponent:measured} from {x} = {first} to {last}. It fits none of {classes}.",
    "open constant": "Inconclusive: from {x} = {first} to {last} time grows by at most {most:at_most}, or not at all."
    " Add runs or larger sizes.",
    "open class": "Inconclusive: time grows as {some:or}. Add runs or sizes farther apart.",
    "no class": "Inconclusive: time grows as none of {classes} alone."
    " From {x} = {first} to {last} its mean exponent is {exponent:measured}.",
    "cost": "Each {class}[[ ({base})]] takes {cost:measured}.",
    "prediction": "At {x} = {size}, the model predicts {time:measured}.",
    "no prediction": "There is no prediction at {x} = {size}: {reason}.",
}


def complexity_claim(document: dict[str, Any], x: str) -> Claim:
    """State how time grows; the document is that of `complexities`, with the times' `unit` where known."""
    first = AnswerCase(case=_growth(document), values=_growth_values(document, x))
    more = [*_cost(document, x), *_predictions(document, x)] if document["possible"] else []
    return state(FORMS, [first, *more[:2]], _matrix(document, x))


def _growth(document: dict[str, Any]) -> str:
    """Decide the first case."""
    names, exponent = document["possible"], document["power"]["exponent"]
    low, high = exponent["low"] or 0.0, exponent["high"] or 0.0
    if not names:
        is_none = document["power"]["refuted"] or low <= 0 <= high
        return "no class" if is_none else "falls" if high < 0 else "power"
    if names[0] == CONSTANT:
        return "constant" if document["most_growth"] <= _STAYS else "open constant"
    return "class" if len(names) == 1 else "open class"


def _growth_values(document: dict[str, Any], x: str) -> dict[str, Any]:
    possible = [_class_name(name, x) for name in document["possible"]]
    first, last = (number(document["points"][i]["size"]) for i in (0, -1))
    return {
        "x": x, "first": first, "last": last, "class": possible[0] if possible else "", "some": possible,
        "most": document["most_growth"],
        "classes": ", ".join(_class_name(growth["name"], x) for growth in document["classes"]),
        "exponent": Quantity(Estimate(**document["power"]["exponent"]), PLAIN),
    }  # fmt: skip


def _class_name(name: str, x: str) -> str:
    return re.sub(r"\bn\b", lambda _: x, name)


def _time(document: dict[str, Any], e: Estimate) -> Quantity:
    return Quantity(e, scale_for(document.get("unit", ""), [e.value]))


def _cost(document: dict[str, Any], x: str) -> Iterator[AnswerCase]:
    if document["possible"][0] != CONSTANT and len(document["possible"]) == 1:
        (growth,) = (growth for growth in document["classes"] if growth["name"] == document["possible"][0])
        base, cost = "log to base 2" if "log" in growth["name"] else "", Estimate(**growth["cost"])
        values = {"class": _class_name(growth["name"], x), "base": base, "cost": _time(document, cost)}
        yield AnswerCase(case="cost", values=values)


def _predictions(document: dict[str, Any], x: str) -> Iterator[AnswerCase]:
    for prediction in document["predictions"]:
        e, values = predicted_estimate(prediction), {"x": x, "size": number(prediction["size"])}
        if e.low is None or e.high is None:
            yield AnswerCase(case="no prediction", values={**values, "reason": "; ".join(e.warnings)})
        elif e.high <= WIDEST * e.low:
            yield AnswerCase(case="prediction", values={**values, "time": _time(document, e)})


def predicted_estimate(prediction: dict[str, Any]) -> Estimate:
    """Return the estimate of a prediction, which states its size beside it."""
    return Estimate(**{key: value for key, value in prediction.items() if key != "size"})


def _matrix(document: dict[str, Any], x: str) -> Matrix:
    points, last = document["points"], len(document["points"]) - 1
    asked = document["predictions"][: COLUMNS // 2] if document["possible"] else []
    predicted, is_single = [predicted_estimate(prediction) for prediction in asked], len(document["possible"]) == 1
    room = COLUMNS - len(asked)
    shown = [points[i] for i in sorted({round(i * last / (room - 1)) for i in range(room)})]
    measured = [MatrixCell(estimate=Estimate(**point["time"])) for point in shown]
    rows = [MatrixRow(label="measured", cells=[*measured, *(MatrixCell() for _ in asked)])]
    for name in document["possible"]:
        cells = [MatrixCell(estimate=Estimate(point["fitted"][name])) for point in shown]
        cells += [MatrixCell(estimate=e if is_single else None) for e in predicted]
        rows.append(MatrixRow(label=f"as {_class_name(name, x)}", cells=cells))
    if asked and not is_single:
        cells = [*(MatrixCell() for _ in shown), *(MatrixCell(estimate=e) for e in predicted)]
        rows.append(MatrixRow(label="any of these", cells=cells))
    values = [case.values["cost"] for case in _cost(document, x)] if document["possible"] else []
    blank = [MatrixCell() for _ in (*shown[1:], *asked)]
    texts = [("cost of each", f"{cell_number(*value)} {value.scale.unit}") for value in values]
    if not document["possible"]:
        texts = [("exponent", cell_number(Estimate(**document["power"]["exponent"])))]
    rows += [MatrixRow(label=label, cells=[MatrixCell(text=text), *blank]) for label, text in texts]
    columns = [number(point["size"]) for point in (*shown, *asked)]
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
