"""What times at sizes of the input say: how they grow, what each step costs, what a larger size would take."""

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
from scalograph.protocol.claim import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.text.compact import WIDEST
from scalograph.text.format import estimate, significant
from scalograph.text.quantities import percent_at_most

COLUMNS = 6
# Time that rises by more than this may do so is not said to stay.
_STAYS = 0.1


def complexities(points: Points, weights: str, confidence: float, asked: Sequence[float] = ()) -> dict[str, Any]:
    """Fit the classes of growth to times at sizes.

    Args:
        points: sizes, and times in place of rates.
        weights: `relative`; errors are a share of each time.
        confidence: of the set of classes and of the intervals.
        asked: sizes to predict; if empty, as far as the data reach.

    Returns:
        `possible` (names of the classes that are left), `classes` (of each `start`, `cost`, `residual`, and why it is
        `refuted`), `most_growth`, `points`: `size`, `time`, `fitted` by class; `predictions`.

    Raises:
        StudyError: there are too few sizes, or the weights are others.
    """
    if weights != "relative":
        raise StudyError.one("--weights", f'"{weights}"', "relative, with --law complexity")
    try:
        fit = fit_complexity(points.sizes, points.rates, confidence)
    except ValueError as error:
        raise StudyError.one("points", str(error), "", "measure more sizes, or name other columns") from error
    sizes = asked or (FARTHEST * max(points.sizes),)
    return {
        "law": "complexity", "possible": [growth.name for growth in fit.possible], "most_growth": fit.most_growth,
        "classes": [
            {"name": growth.name, "start": growth.start, "cost": asdict(growth.cost),
             "residual": math.sqrt(growth.rss / fit.sizes.size), "refuted": growth.refuted}
            for growth in fit.growths
        ],
        "points": list(_points(fit)),
        "predictions": [{"size": n, **asdict(predict_time(fit, n))} for n in sizes],
    }  # fmt: skip


def _points(fit: Complexity) -> Iterator[dict[str, Any]]:
    for n in np.unique(fit.sizes).tolist():
        time = summarize(fit.times[fit.sizes == n].tolist(), fit.confidence)
        yield {"size": n, "time": asdict(time), "fitted": {growth.name: growth.time(n) for growth in fit.possible}}


def complexity_claim(found: dict[str, Any], x: str) -> Claim:
    """Say how time grows, as far as the points carry it.

    Args:
        found: what `complexities` gives.
        x: what the sizes count.
    """
    first, is_answered = _grows(found, x)
    more = [*_cost(found, x), *_predictions(found)] if found["possible"] else []
    return Claim(sentences=[first, *more[:2]], answered=is_answered, matrix=_matrix(found, x))


def _grows(found: dict[str, Any], x: str) -> tuple[str, bool]:
    first, last = (f"{found['points'][i]['size']:g}" for i in (0, -1))
    names = found["possible"]
    if not names:
        every = ", ".join(_of(one["name"], x) for one in found["classes"])
        return f"Cannot be said: by none of {every} alone do the points grow.", False
    if names[0] == CONSTANT:
        most = percent_at_most(found["most_growth"])
        if found["most_growth"] <= _STAYS:
            return f"Time does not grow from {x} = {first} to {last}: by {most} at most.", True
        return f"Cannot be said: from {x} = {first} to {last} time grows by {most} at most, or not at all.", False
    if len(names) == 1:
        return f"Time grows as {_of(names[0], x)}.", True
    *others, last_name = [_of(name, x) for name in names]
    return f"Time grows as {', '.join(others)} or {last_name}: the points do not tell which.", False


def _of(name: str, x: str) -> str:
    """Name a class by what the sizes count: "users log users"."""
    return re.sub(r"\bn\b", lambda _: x, name)


def _cost(found: dict[str, Any], x: str) -> Iterator[str]:
    if found["possible"][0] != CONSTANT and len(found["possible"]) == 1:
        (one,) = (one for one in found["classes"] if one["name"] == found["possible"][0])
        base = " (to base 2)" if "log" in one["name"] else ""
        yield f"Each {_of(one['name'], x)}{base} takes {estimate(Estimate(**one['cost']))}."


def _predictions(found: dict[str, Any]) -> Iterator[str]:
    for made in found["predictions"]:
        if made["low"] is None:
            yield f"At {made['size']:g} nothing is predicted: {'; '.join(made['warnings'])}."
        elif made["high"] <= WIDEST * made["low"]:
            ends = dict.fromkeys(significant(made[end]) for end in ("low", "high"))
            yield f"At {made['size']:g} it would be {' to '.join(ends)}, if it grows on like this."


def _matrix(found: dict[str, Any], x: str) -> Matrix:
    """Measured times at sizes spread over the range, and those of each class that is left."""
    points, last = found["points"], len(found["points"]) - 1
    spread = sorted({round(i * last / (COLUMNS - 1)) for i in range(COLUMNS)})
    shown = [points[i] for i in spread]
    measured = [MatrixCell(estimate=Estimate(**point["time"])) for point in shown]
    rows = [MatrixRow(label="measured", cells=measured)]
    for name in found["possible"]:
        cells = [MatrixCell(estimate=Estimate(point["fitted"][name])) for point in shown]
        rows.append(MatrixRow(label=f"as {_of(name, x)}", cells=cells))
    columns = [f"{point['size']:g}" for point in shown]
    return Matrix(title=f"time, by {x}", better="lower", columns=columns, rows=rows)


def complexity_tables(found: dict[str, Any]) -> list[TableDoc]:
    """Every class with its fit, and why it is refuted; every size with its time."""
    columns = [Column(name="class", kind="label"), Column(name="fixed part"), Column(name="each", kind="estimate")]
    columns += [Column(name="typical error", unit="%"), Column(name="refuted", kind="text")]
    rows: list[list[Cell]] = [
        [one["name"], one["start"], Estimate(**one["cost"]), 100 * one["residual"], one["refuted"]]
        for one in found["classes"]
    ]
    classes = TableDoc(id="classes", title="Classes of growth", columns=columns, rows=rows)
    of_sizes: list[list[Cell]] = [[point["size"], Estimate(**point["time"])] for point in found["points"]]
    columns = [Column(name="size", kind="label"), Column(name="time", kind="estimate")]
    return [classes, TableDoc(id="points", title="Sizes that were measured", columns=columns, rows=of_sizes)]
