"""Fit scaling laws to throughputs at sizes: one document for people and machines, and the answer of `fit` from it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from itertools import groupby
from typing import Any

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.analysis.estimate import NO_LAW, Estimate, unknown_estimate
from scalograph.analysis.interval import summarize
from scalograph.analysis.ratios import ratio
from scalograph.analysis.speedup_points import karp_flatt
from scalograph.analysis.usl import MISSED, N_PARAMETERS, Usl, Weights, fit_usl, group_by_size
from scalograph.analysis.usl_predict import REACH, find_outlier, predict
from scalograph.errors import StudyError
from scalograph.exchange.complexity_claim import COLUMNS, predicted_estimate
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
    the law does), `shows` (what the points show without a law), `predictions`, and `points`: `size`, `throughput`,
    `fitted`, and over the smallest size `speedup`, `efficiency`, `serial_fraction`. A law that the points contradict,
    or that has no maximum because throughput falls from the first size on, has no values.
    Raises StudyError: there are too few sizes.
    """
    try:
        fit = fit_usl(points.sizes, points.rates, weights, confidence)
    except ValueError as error:
        raise _outlier_error(points, weights) or _no_curve(str(error)) from error
    if fit.misfit and (wrong := _outlier_error(points, weights, in_doubt=False)):
        raise wrong
    shows = _shown_directly(points, confidence)
    reason = fit.misfit or (FALLS if shows and shows["falls"] else "")
    fit = fit.drop_values(reason) if reason else fit
    flags = [flag for flag in fit.flags if flag.code in NO_LAW or not reason]
    predictions = {n: predict(fit, n, confidence=confidence) for n in asked or (REACH * max(points.sizes),)}
    return {
        **{name: asdict(getattr(fit, name)) for name in _MEANINGS},
        "residual": fit.residual, "weights": weights,
        "flags": [flag.text for flag in flags], "codes": [flag.code for flag in flags],
        "holds": not reason, "reason": reason, "shows": shows,
        "points": list(_points(points, fit if not reason else None, confidence)),
        "predictions": [
            {"size": n, **asdict(unknown_estimate(e.method, confidence, e.n, reason or "; ".join(e.warnings))
                                 if reason or e.low is None else e)}
            for n, e in predictions.items()
        ],
    }  # fmt: skip


def _no_curve(reason: str) -> StudyError:
    fix = "measure more sizes, or name other columns; of the size of an input: --law complexity"
    return StudyError.one("points", reason.removeprefix("found "), "", fix)


def _outlier_error(points: Points, weights: Weights, in_doubt: bool = True) -> StudyError | None:
    """Return the error of the one point that contradicts all others, with what those give; None if there is none.

    Unless `in_doubt`, only of one that no program explains: higher than its neighbors, or than others of its size.
    """
    outlier = find_outlier(points.sizes, points.rates, weights) if len({*points.sizes}) > N_PARAMETERS else None
    if outlier is None:
        return None
    size, rate = points.sizes[outlier.index], points.rates[outlier.index]
    is_between = min(points.sizes) < size < max(points.sizes) and outlier.ratio > 1
    if not (in_doubt or is_between or points.sizes.count(size) > 1):
        return None
    times = cell_number(Estimate(max(outlier.ratio, 1 / outlier.ratio)))
    far = f"{times} times" if outlier.ratio > 1 else f"1/{times} of"
    parameters = {"sigma": outlier.sigma, "kappa": outlier.kappa, "gamma": outlier.gamma}
    others = ", ".join(f"{name} {cell_number(Estimate(value))}" for name, value in parameters.items())
    where = f"throughput {number(rate)} at size {number(size)}"
    fix = f"correct or remove this point; the others give {others}"
    return StudyError.one(where, f"{far} what all other points predict", "", fix)


def _shown_directly(points: Points, confidence: float) -> dict[str, Any] | None:
    """Return the sizes that may be the best, and how much lower throughput is at the largest; None if it is not."""
    sizes, rates = np.asarray(points.sizes), np.asarray(points.rates)
    groups = dict(group_by_size(sizes, rates))
    best = max(groups, key=lambda n: float(groups[n].mean()))
    first, *_, last = groups
    near = [n for n in groups if n == best or not _is_lower(groups[n], groups[best], confidence)]
    base = first if _is_lower(groups[last], groups[first], confidence) else best
    lower = float(groups[base].mean() / groups[last].mean())
    if last in near or (min(groups[base].size, groups[last].size) < 2 and lower < MISSED):
        return None
    return {"best": near, "falls": near == [first], "last": last, "base": base, "lower": lower}


def _is_lower(sample: FloatArray, base: FloatArray, confidence: float) -> bool:
    high = ratio(sample, base, confidence).high if max(sample.size, base.size) > 1 else None
    return high < 1 if high is not None else bool(sample.mean() < (1 - _APART) * base.mean())


def _points(points: Points, fit: Usl | None, confidence: float) -> list[dict[str, Any]]:
    sizes, rates = np.asarray(points.sizes), np.asarray(points.rates)
    (first, base), *_ = groups = group_by_size(sizes, rates)
    return [
        {
            "size": n,
            "throughput": _fields(summarize(sample.tolist(), confidence)),
            "fitted": fit.throughput(n) if fit else None,
            **_speedup_fields(ratio(sample, base, confidence), n / first),
        }
        for n, sample in groups
    ]


def _fields(estimate: Estimate) -> dict[str, Any]:
    """Return the fields of an estimate, none of which can change: a copy of each takes seconds of a large table."""
    return {field.name: getattr(estimate, field.name) for field in fields(estimate)}


def _speedup_fields(speedup: Estimate, growth: float) -> dict[str, Any]:
    if growth == 1:
        return {"speedup": None, "efficiency": None, "serial_fraction": None}
    efficiency = speedup.rescale(1 / growth)
    return {
        "speedup": _fields(speedup),
        "efficiency": _fields(efficiency),
        "serial_fraction": _fields(karp_flatt(speedup, growth)) if (speedup.value or 0.0) >= 1 else None,
    }


FORMS = {
    "peak": "Throughput is highest at {x} = {optimum:measured}.",
    "end": "Throughput is highest at {x} = {best}, the largest size measured. Larger sizes may gain more.",
    "grows": "Throughput still grows at {x} = {best}, the largest size measured.",
    "falls": "Throughput does not grow: it falls with more {x}.",
    "shown": "Throughput is highest at {x} = {near:or}. At {x} = {last} it is [[{times:digits} times]]"
    "[[{share:percent}]] lower[[ than at {x} = {base}]].",
    "contradicted": "No scaling law fits: {reason}.",
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
_APART = 0.1  # single runs that differ by a smaller share are not told apart
_MOST_BEST = 3
FALLS = "throughput falls from the smallest size on"
_PERCENT = Scale(100.0, "%")
# Flags that belong to the answer; the others stand beside the tables.
_TOLD = ("perhaps superlinear", "few sizes", "not checked", "gamma open")
_MEANINGS = {
    "sigma": "serial share",
    "kappa": "cost of coherency",
    "gamma": "throughput of one",
    "optimum": "size with the highest throughput",
}


def fit_claim(document: dict[str, Any], x: str) -> Claim:
    """State up to which size throughput grows; the document is that of `exchange.fit.laws`, `x` names the sizes."""
    first = AnswerCase(case=_growth(document), values=_growth_values(document, x))
    more = [*_serial(document), *_predictions(document, x)] if document["holds"] else []
    if first.case == "shown" and document["reason"] not in ("", FALLS):
        more = [AnswerCase(case="contradicted", values={"reason": document["reason"]})]
    flags = zip(document["codes"], document["flags"], strict=True)
    remarks = [AnswerCase(case="remark", values={"remark": text}) for code, text in flags if code in _TOLD]
    remarks = remarks[: 1 if more else 2]
    return state(FORMS, [first, *more[: 2 - len(remarks)], *remarks], _matrix(document, x))


def _growth(document: dict[str, Any]) -> str:
    """Decide the first case: a maximum only where the largest measurement agrees and its interval ends in the data."""
    low, high = document["optimum"]["low"], document["optimum"]["high"]
    last, sigma = document["points"][-1]["size"], document["sigma"]["low"]
    if not document["holds"]:
        return "shown" if document["shows"] else "no law"
    if sigma is None:
        return "shown" if document["shows"] else "few"
    if sigma > 1 - _SAME:
        return "falls" if sigma > 1 + _SAME else "serial"
    if document["kappa"]["high"] == 0 or (low is not None and low >= last):
        return "grows"
    if low is not None:
        if high is not None and high <= min(last, WIDEST * low):
            return "peak"
        if _best(document)["size"] == last:
            return "end"
    return "shown" if document["shows"] else "open"


def _growth_values(document: dict[str, Any], x: str) -> Mapping[str, Any]:
    best, shows = _best(document), document["shows"] or {}
    near, lower = [number(n) for n in shows.get("best", ())], shows.get("lower", 0.0)
    sizes = [number(point["size"]) for point in document["points"]]
    is_last = _growth(document) == "grows"
    return {
        "x": x, "optimum": Quantity(Estimate(**document["optimum"]), PLAIN),
        "best": number(document["points"][-1]["size"] if is_last else best["size"]),
        "most": Quantity(Estimate(**best["throughput"]), PLAIN),
        "reason": document["reason"], "last": number(shows.get("last")),
        "near": near if len(near) <= _MOST_BEST else _ranges(near, sizes),
        "base": number(shows["base"]) if shows and (len(near) > 1 or near[0] != number(shows["base"])) else "",
        "times": lower if lower >= 2 else None, "share": 1 - 1 / lower if 0 < lower < 2 else None,
    }  # fmt: skip


def _ranges(chosen: Sequence[str], sizes: Sequence[str]) -> list[str]:
    """Join neighbors among the sizes: a size between two that was not chosen is in no range.

    >>> _ranges(["1", "2", "4", "16"], ["1", "2", "4", "8", "16"])
    ['1 to 4', '16']
    """
    every = {*chosen}
    parts = (list(part) for is_chosen, part in groupby(sizes, key=lambda n: n in every) if is_chosen)
    return [part[0] if len(part) == 1 else f"{part[0]} to {part[-1]}" for part in parts]


def _best(document: dict[str, Any]) -> dict[str, Any]:
    best: dict[str, Any] = max(document["points"], key=lambda point: point["throughput"]["value"])
    return best


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
        e, values = predicted_estimate(prediction), {"x": x, "size": number(prediction["size"])}
        if e.low is None:
            yield AnswerCase(case="no prediction", values={**values, "reason": "; ".join(e.warnings)})
        elif e.high is None or e.high > WIDEST * e.low:
            yield AnswerCase(case="open prediction", values=values)
        else:
            yield AnswerCase(case="prediction", values={**values, "throughput": Quantity(e, PLAIN)})


def _matrix(document: dict[str, Any], x: str) -> Matrix:
    points, asked = document["points"], document["predictions"][: COLUMNS // 2] if document["holds"] else []
    room, last = COLUMNS - 1 - len(asked), len(points) - 1
    spread = {round(i * last / (room - 1)) for i in range(room)}
    best = {_best(document)["size"], *(document["shows"] or {"best": []})["best"][:_MOST_BEST]}
    shown = [p for i, p in enumerate(points) if i in spread or p["size"] in best]
    measured = [MatrixCell(estimate=Estimate(**point["throughput"])) for point in shown]
    fitted = [MatrixCell(estimate=Estimate(point["fitted"])) for point in shown]
    predicted = [predicted_estimate(prediction) for prediction in asked]
    fitted += [MatrixCell(estimate=e, text=cell_number(e)) for e in predicted]
    blank = [MatrixCell() for _ in fitted[1:]]
    rows = [MatrixRow(label="measured", cells=[*measured, *(MatrixCell() for _ in asked)])]
    rows += [MatrixRow(label="model", cells=fitted)] if document["holds"] else []
    named = [case.case for case in _serial(document)]
    own = [("serial share, %", "sigma", _PERCENT)] if "share" in named else []
    own += [(f"maximum at {x}", "optimum", PLAIN)] if _growth(document) == "peak" else []
    for label, name, scale in own:
        e = Estimate(**document[name])
        cells = [MatrixCell(estimate=e, text=cell_number(e, scale)), *blank]
        rows.append(MatrixRow(label=label, cells=cells))
    columns = [number(point["size"]) for point in (*shown, *asked)]
    return Matrix(title=f"throughput, by {x}", better="higher", columns=columns, rows=rows)


def fit_tables(document: dict[str, Any]) -> list[TableDoc]:
    """Return the coefficients of a law that holds, and the speedup of every size."""
    parts: list[list[Cell]] = [[name, Estimate(**document[name]), text] for name, text in _MEANINGS.items()]
    columns = [Column(name="coefficient", kind="label"), Column(name="value", kind="estimate")]
    law = TableDoc(id="law", title="Scaling law", columns=[*columns, Column(name="meaning", kind="text")], rows=parts)
    names = ("throughput", "speedup", "efficiency", "serial_fraction")
    model = [Column(name="model")] if document["holds"] else []
    rows: list[list[Cell]] = [
        [
            number(point["size"]), *(point["fitted"] for _ in model),
            *(Estimate(**point[name]) if point[name] else None for name in names),
        ]
        for point in document["points"]
    ]  # fmt: skip
    columns = [Column(name="size", kind="label"), *model]
    columns += [Column(name=name.replace("_", " "), kind="estimate") for name in names]
    measured = TableDoc(id="points", title="Sizes that were measured", columns=columns, rows=rows)
    return [law, measured] if document["holds"] else [measured]
