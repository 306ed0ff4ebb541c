"""The answer of `fit`: the size of the maximum, the serial share, predictions."""

from collections.abc import Iterator
from typing import Any

from scalograph.analysis.estimate import NO_LAW, Estimate
from scalograph.protocol.findings import Cell, Claim, Column, Matrix, MatrixCell, MatrixRow, TableDoc
from scalograph.text.cell_numbers import NOT_RESOLVED, WIDEST, cell_number
from scalograph.text.format import estimate, number, significant
from scalograph.text.quantities import percents, two_digits

_SAME = 1e-9  # rounding: closer numbers are equal
COLUMNS = 6
# Flags that belong to the answer; the others stand beside the tables.
_TOLD = ("perhaps superlinear", "few sizes", "not checked", "gamma")
_MEANINGS = {
    "sigma": "share that is serial",
    "kappa": "cost of coherency",
    "gamma": "throughput of one",
    "optimum": "size with the largest throughput",
}


def fit_claim(document: dict[str, Any], x: str) -> Claim:
    """Return up to which size throughput grows; the document is that of `exchange.fit.laws`, `x` names the sizes."""
    first, is_answered = _growth_sentence(document, "" if x == "n" else f" {x}")
    # Where the points contradict the law, or its maximum, none of its values is reported.
    more = [*_serial(document), *_predictions(document)] if document["holds"] and not _is_contradicted(document) else []
    flags = zip(document["codes"], document["flags"], strict=True)
    remarks = [f"{text[0].upper()}{text[1:]}." for code, text in flags if code in _TOLD][: 1 if more else 2]
    sentences = [first, *more[: 2 - len(remarks)], *remarks]
    return Claim(sentences=sentences, answered=is_answered, matrix=_matrix(document, x))


def _growth_sentence(document: dict[str, Any], of: str) -> tuple[str, bool]:
    """Name the maximum only where the largest measurement agrees and its interval ends within the data."""
    low, high = document["optimum"]["low"], document["optimum"]["high"]
    sizes, best = [point["size"] for point in document["points"]], _best(document)
    measured = f"of the sizes measured, {number(best)} has the largest throughput"
    if not document["holds"]:
        reason = next(text for code, text in zip(document["codes"], document["flags"], strict=True) if code in NO_LAW)
        return f"Cannot be said from a scaling law ({reason}); {measured}.", False
    if document["sigma"]["low"] is None:
        return "Cannot be said: too few points for an interval; one more size or run makes it.", False
    if document["sigma"]["low"] > 1 + _SAME:
        return "Throughput does not grow: more make it slower than one alone.", True
    if document["sigma"]["low"] > 1 - _SAME:
        return "Throughput does not grow: all of the work is serial, more do not help.", True
    if document["kappa"]["high"] == 0 or (low is not None and low >= sizes[-1] and not _is_contradicted(document)):
        return f"Throughput still grows at {number(sizes[-1])}{of}, the most that were measured.", True
    if low is None or _is_contradicted(document):
        return f"Cannot be said: the points do not carry where throughput is largest; {measured}.", False
    if high is not None and high <= min(sizes[-1], WIDEST * low):
        return f"Throughput is largest near {estimate(Estimate(**document['optimum']))}{of}.", True
    if best == sizes[-1]:
        most = f"Throughput is largest at {number(best)}{of}, the most that were measured"
        return f"{most}; whether more would help is {NOT_RESOLVED}.", True
    return f"Cannot be said: the place of the maximum is {NOT_RESOLVED}; {measured}.", False


def _best(document: dict[str, Any]) -> float:
    best: float = max(document["points"], key=lambda point: point["throughput"]["value"])["size"]
    return best


def _is_contradicted(document: dict[str, Any]) -> bool:
    return not {"gamma", "peak elsewhere"}.isdisjoint(document["codes"])


def _serial(document: dict[str, Any]) -> Iterator[str]:
    low, high = document["sigma"]["low"], document["sigma"]["high"]
    if low is None or low > 1 - _SAME or (high is not None and high < _SAME):
        return
    if high is None or high >= 1:
        if low:
            yield f"Of the work {two_digits(100 * low)} % or more is serial."
    elif low:
        yield f"Of the work {percents(low, high)} is serial."
    else:
        yield f"Of the work at most {two_digits(100 * high)} % is serial."


def _predictions(document: dict[str, Any]) -> Iterator[str]:
    for prediction in document["predictions"]:
        if prediction["low"] is None:
            yield f"At {number(prediction['size'])} nothing is predicted: {'; '.join(prediction['warnings'])}."
        elif prediction["high"] is None or prediction["high"] > WIDEST * prediction["low"]:
            yield f"At {number(prediction['size'])} the throughput is {NOT_RESOLVED}."
        else:
            ends = dict.fromkeys(significant(prediction[end]) for end in ("low", "high"))
            yield f"At {number(prediction['size'])} it would be {' to '.join(ends)}, if nothing else fills up."


def _matrix(document: dict[str, Any], x: str) -> Matrix:
    points, asked = document["points"], document["predictions"][: COLUMNS // 2] if document["holds"] else []
    room, last = COLUMNS - 1 - len(asked), len(points) - 1
    spread = {round(i * last / (room - 1)) for i in range(room)}
    shown = [point for i, point in enumerate(points) if i in spread or point["size"] == _best(document)]
    measured = [MatrixCell(estimate=Estimate(**point["throughput"])) for point in shown]
    fitted = [MatrixCell(estimate=Estimate(point["fitted"])) for point in shown]
    fitted += [MatrixCell(text=cell_number(Estimate(**{k: v for k, v in p.items() if k != "size"}))) for p in asked]
    rows = [MatrixRow(label="measured", cells=[*measured, *(MatrixCell() for _ in asked)])]
    rows += [MatrixRow(label="by the law", cells=fitted)] if document["holds"] else []
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
    columns = [Column(name="size", kind="label"), Column(name="by the law")]
    columns += [Column(name=name.replace("_", " "), kind="estimate") for name in names]
    return [law, TableDoc(id="points", title="Sizes that were measured", columns=columns, rows=rows)]
