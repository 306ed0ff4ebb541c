"""Fit scaling laws to throughputs at sizes: one document for people and machines, and the answer of `fit` from it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from scalograph.analysis.estimate import NO_LAW, Estimate
from scalograph.analysis.interval import summarize
from scalograph.analysis.ratios import ratio
from scalograph.analysis.speedup_points import karp_flatt
from scalograph.analysis.usl import Usl, Weights, fit_usl
from scalograph.analysis.usl_predict import REACH, predict
from scalograph.errors import StudyError
from scalograph.exchange.csv_points import Points
from scalograph.protocol.findings import Cell, Claim, Column, Matrix, MatrixCell, MatrixRow, TableDoc
from scalograph.protocol.plain import AnswerCase
from scalograph.questions.claims import state
from scalograph.text.answer_form import Quantity
from scalograph.text.cell_numbers import WIDEST, cell_number
from scalograph.text.format import number
from scalograph.text.scale import PLAIN, Scale


def laws(points: Points, weights: Weights, confidence: float, asked: Sequence[float] = ()) -> dict[str, Any]:
    """Fit the scaling laws to throughputs at sizes; `asked` are sizes to predict, if empty as far as the data reach.

    Returns `sigma`, `kappa`, `gamma`, `optimum` (estimates), `residual`, `flags` and their `codes`, `holds` (whether
    the law does), `predictions`, and `points`: `size`, `throughput`, `fitted`, and over the smallest size `speedup`,
    `efficiency`, `serial_fraction`. Raises StudyError: there are too few sizes.
    """
    try:
        fit = fit_usl(points.sizes, points.rates, weights, confidence)
    except ValueError as error:
        raise StudyError.one("points", str(error), "", "measure more sizes, or name other columns") from error
    sizes = asked or (REACH * max(points.sizes),)
    return {
        "sigma": asdict(fit.sigma), "kappa": asdict(fit.kappa), "gamma": asdict(fit.gamma),
        "optimum": asdict(fit.optimum), "residual": fit.residual, "weights": weights,
        "flags": [flag.text for flag in fit.flags], "codes": [flag.code for flag in fit.flags],
        "holds": not any(flag.code in NO_LAW for flag in fit.flags),
        "points": list(_points(points, fit, confidence)),
        "predictions": [{"size": n, **asdict(predict(fit, n, confidence=confidence))} for n in sizes],
    }  # fmt: skip


def _points(points: Points, fit: Usl, confidence: float) -> list[dict[str, Any]]:
    sizes, rates = np.asarray(points.sizes), np.asarray(points.rates)
    first, *_ = every = [float(n) for n in np.unique(sizes)]
    return [
        {
            "size": n,
            "throughput": asdict(summarize(rates[sizes == n].tolist(), confidence)),
            "fitted": fit.throughput(n),
            **_speedup_fields(ratio(rates[sizes == n], rates[sizes == first], confidence), n / first),
        }
        for n in every
    ]


def _speedup_fields(speedup: Estimate, growth: float) -> dict[str, Any]:
    if growth == 1:
        return {"speedup": None, "efficiency": None, "serial_fraction": None}
    efficiency = speedup.rescale(1 / growth)
    return {
        "speedup": asdict(speedup),
        "efficiency": asdict(efficiency),
        "serial_fraction": asdict(karp_flatt(speedup, growth)),
    }


FORMS = {
    "peak": "Throughput is highest at {x} = {optimum:measured}.",
    "end": "Throughput is highest at {x} = {best}, the largest size measured. Larger sizes may gain more.",
    "grows": "Throughput still grows at {x} = {best}, the largest size measured.",
    "falls": "Throughput does not grow: it falls with more {x}.",
    "serial": "Throughput does not grow: all of the work is serial.",
    "open": "Inconclusive: the maximum may lie anywhere."
    " The highest throughput measured is {most:value} at {x} = {best}.",
    "no law": "Inconclusive: no scaling law holds ({reason})."
    " The highest throughput measured is {most:value} at {x} = {best}.",
    "few": "Inconclusive: too few points for an interval. Add a size or a run.",
    "share": "[[The serial share is {share:measured}]][[the serial share is at least {least:percent}]]"
    "[[the serial share is at most {most:percent}]].",
    "prediction": "The model predicts {throughput:measured} at {x} = {size}.",
    "open prediction": "The prediction at {x} = {size} is inconclusive.",
    "no prediction": "There is no prediction at {x} = {size}: {reason}.",
    "remark": "{remark}.",
}
_SAME = 1e-9  # rounding: closer numbers are equal
COLUMNS = 6
_PERCENT = Scale(100.0, "%")
# Flags that belong to the answer; the others stand beside the tables.
_TOLD = ("perhaps superlinear", "few sizes", "not checked", "gamma")
_MEANINGS = {
    "sigma": "serial share",
    "kappa": "cost of coherency",
    "gamma": "throughput of one",
    "optimum": "size with the highest throughput",
}


def fit_claim(document: dict[str, Any], x: str) -> Claim:
    """State up to which size throughput grows; the document is that of `exchange.fit.laws`, `x` names the sizes."""
    first = AnswerCase(case=_growth(document), values=_growth_values(document, x))
    # Where the points contradict the law, or its maximum, none of its values is reported.
    is_law = document["holds"] and not _is_contradicted(document)
    more = [*_serial(document), *_predictions(document, x)] if is_law else []
    flags = zip(document["codes"], document["flags"], strict=True)
    remarks = [AnswerCase(case="remark", values={"remark": text}) for code, text in flags if code in _TOLD]
    remarks = remarks[: 1 if more else 2]
    return state(FORMS, [first, *more[: 2 - len(remarks)], *remarks], _matrix(document, x))


def _growth(document: dict[str, Any]) -> str:
    """Decide the first case: a maximum only where the largest measurement agrees and its interval ends in the data."""
    low, high = document["optimum"]["low"], document["optimum"]["high"]
    last, sigma = document["points"][-1]["size"], document["sigma"]["low"]
    if not document["holds"]:
        return "no law"
    if sigma is None:
        return "few"
    if sigma > 1 - _SAME:
        return "falls" if sigma > 1 + _SAME else "serial"
    if document["kappa"]["high"] == 0 or (low is not None and low >= last and not _is_contradicted(document)):
        return "grows"
    if low is not None and not _is_contradicted(document):
        if high is not None and high <= min(last, WIDEST * low):
            return "peak"
        if _best(document)["size"] == last:
            return "end"
    return "open"


def _growth_values(document: dict[str, Any], x: str) -> Mapping[str, Any]:
    best, every = _best(document), zip(document["codes"], document["flags"], strict=True)
    is_last = _growth(document) == "grows"
    return {
        "x": x, "optimum": Quantity(Estimate(**document["optimum"]), PLAIN),
        "best": number(document["points"][-1]["size"] if is_last else best["size"]),
        "most": Quantity(Estimate(**best["throughput"]), PLAIN),
        "reason": next((text for code, text in every if code in NO_LAW), ""),
    }  # fmt: skip


def _best(document: dict[str, Any]) -> dict[str, Any]:
    best: dict[str, Any] = max(document["points"], key=lambda point: point["throughput"]["value"])
    return best


def _is_contradicted(document: dict[str, Any]) -> bool:
    return not {"gamma", "peak elsewhere"}.isdisjoint(document["codes"])


def _serial(document: dict[str, Any]) -> Iterator[AnswerCase]:
    """State the serial share, or its bound where the interval reaches one end."""
    low, high = document["sigma"]["low"], document["sigma"]["high"]
    if low is None or low > 1 - _SAME or (high is not None and high < _SAME):
        return
    if high is None or high >= 1:
        values = {"least": low or None}
    else:
        values = {"share": Quantity(Estimate(**document["sigma"]), _PERCENT)} if low else {"most": high}
    if any(values.values()):
        yield AnswerCase(case="share", values=values)


def _predictions(document: dict[str, Any], x: str) -> Iterator[AnswerCase]:
    for prediction in document["predictions"]:
        e, values = _estimate(prediction), {"x": x, "size": number(prediction["size"])}
        if e.low is None:
            yield AnswerCase(case="no prediction", values={**values, "reason": "; ".join(e.warnings)})
        elif e.high is None or e.high > WIDEST * e.low:
            yield AnswerCase(case="open prediction", values=values)
        else:
            yield AnswerCase(case="prediction", values={**values, "throughput": Quantity(e, PLAIN)})


def _estimate(prediction: Mapping[str, Any]) -> Estimate:
    return Estimate(**{key: value for key, value in prediction.items() if key != "size"})


def _matrix(document: dict[str, Any], x: str) -> Matrix:
    points, asked = document["points"], document["predictions"][: COLUMNS // 2] if document["holds"] else []
    room, last = COLUMNS - 1 - len(asked), len(points) - 1
    spread = {round(i * last / (room - 1)) for i in range(room)}
    shown = [point for i, point in enumerate(points) if i in spread or point is _best(document)]
    measured = [MatrixCell(estimate=Estimate(**point["throughput"])) for point in shown]
    fitted = [MatrixCell(estimate=Estimate(point["fitted"])) for point in shown]
    predicted = [_estimate(prediction) for prediction in asked]
    fitted += [MatrixCell(estimate=e, text=cell_number(e)) for e in predicted]
    blank = [MatrixCell() for _ in fitted[1:]]
    rows = [MatrixRow(label="measured", cells=[*measured, *(MatrixCell() for _ in asked)])]
    rows += [MatrixRow(label="model", cells=fitted)] if document["holds"] else []
    is_law = document["holds"] and not _is_contradicted(document)
    named = [case.case for case in _serial(document)] if is_law else []
    own = [("serial share, %", "sigma", _PERCENT)] if "share" in named else []
    own += [(f"maximum at {x}", "optimum", PLAIN)] if _growth(document) == "peak" else []
    for label, name, scale in own:
        e = Estimate(**document[name])
        cells = [MatrixCell(estimate=e, text=cell_number(e, scale)), *blank]
        rows.append(MatrixRow(label=label, cells=cells))
    columns = [number(point["size"]) for point in (*shown, *asked)]
    return Matrix(title=f"throughput, by {x}", better="higher", columns=columns, rows=rows)


def fit_tables(document: dict[str, Any]) -> list[TableDoc]:
    """Return the coefficients, and the speedup of every size."""
    parts: list[list[Cell]] = [[name, Estimate(**document[name]), text] for name, text in _MEANINGS.items()]
    columns = [Column(name="coefficient", kind="label"), Column(name="value", kind="estimate")]
    law = TableDoc(id="law", title="Scaling law", columns=[*columns, Column(name="meaning", kind="text")], rows=parts)
    names = ("throughput", "speedup", "efficiency", "serial_fraction")
    rows: list[list[Cell]] = [
        [number(point["size"]), point["fitted"], *(Estimate(**point[name]) if point[name] else None for name in names)]
        for point in document["points"]
    ]
    columns = [Column(name="size", kind="label"), Column(name="model")]
    columns += [Column(name=name.replace("_", " "), kind="estimate") for name in names]
    return [law, TableDoc(id="points", title="Sizes that were measured", columns=columns, rows=rows)]
