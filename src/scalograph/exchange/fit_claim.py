"""What throughputs at sizes say: how far more helps, what is serial, what a larger size would give."""

from collections.abc import Iterator
from typing import Any

from scalograph.analysis.estimate import NO_LAW, Estimate
from scalograph.protocol.findings import Cell, Claim, Column, Matrix, MatrixCell, MatrixRow, TableDoc
from scalograph.text.cell_numbers import NOT_RESOLVED, WIDEST, compact
from scalograph.text.format import estimate, number, significant
from scalograph.text.quantities import percents, two_digits

_SAME = 1e-9  # what two numbers differ by that are the same
COLUMNS = 6
# Flags that a reader of the claim must know; the others stand beside the tables.
_TOLD = ("perhaps superlinear", "few sizes", "not checked", "gamma")
_MEANINGS = {
    "sigma": "share that is serial",
    "kappa": "cost of coherency",
    "gamma": "throughput of one",
    "optimum": "size with the largest throughput",
}

_CONTRADICTED = {"gamma", "peak elsewhere"}


def fit_claim(found: dict[str, Any], x: str) -> Claim:
    """Say up to which size throughput grows, as far as the points carry it.

    Args:
        found: what `exchange.fit.laws` gives.
        x: what the sizes count.
    """
    first, is_answered = _grows(found, "" if x == "n" else f" {x}")
    # Where the points contradict the law, or its maximum, none of its figures is said.
    more = [*_serial(found), *_predictions(found)] if found["holds"] and not _contradicted(found) else []
    remarks = _remarks(found)[: 1 if more else 2]
    return Claim(sentences=[first, *more[: 2 - len(remarks)], *remarks], answered=is_answered, matrix=_matrix(found, x))


def _grows(found: dict[str, Any], of: str) -> tuple[str, bool]:
    """The size of the maximum only where the largest measured agrees, and its interval ends within the data."""
    low, high = found["optimum"]["low"], found["optimum"]["high"]
    sizes, best = [point["size"] for point in found["points"]], _best(found)
    measured = f"of the sizes measured, {number(best)} has the largest throughput"
    if not found["holds"]:
        why = next(text for code, text in zip(found["codes"], found["flags"], strict=True) if code in NO_LAW)
        return f"Cannot be said from a scaling law ({why}); {measured}.", False
    if found["sigma"]["low"] is None:
        return "Cannot be said: too few points for an interval; one more size or run makes it.", False
    if found["sigma"]["low"] > 1 + _SAME:
        return "Throughput does not grow: more make it slower than one alone.", True
    if found["sigma"]["low"] > 1 - _SAME:
        return "Throughput does not grow: all of the work is serial, more do not help.", True
    if found["kappa"]["high"] == 0 or (low is not None and low >= sizes[-1] and not _contradicted(found)):
        return f"Throughput still grows at {number(sizes[-1])}{of}, the most that were measured.", True
    if low is None or _contradicted(found):
        return f"Cannot be said: the points do not carry where throughput is largest; {measured}.", False
    if high is not None and high <= min(sizes[-1], WIDEST * low):
        return f"Throughput is largest near {estimate(Estimate(**found['optimum']))}{of}.", True
    if best == sizes[-1]:
        most = f"Throughput is largest at {number(best)}{of}, the most that were measured"
        return f"{most}; whether more would help is {NOT_RESOLVED}.", True
    return f"Cannot be said: the place of the maximum is {NOT_RESOLVED}; {measured}.", False


def _best(found: dict[str, Any]) -> float:
    """The size with the largest throughput that was measured."""
    best: float = max(found["points"], key=lambda point: point["throughput"]["value"])["size"]
    return best


def _contradicted(found: dict[str, Any]) -> bool:
    """Whether the curve starts, or is largest, elsewhere than the points."""
    return not _CONTRADICTED.isdisjoint(found["codes"])


def _serial(found: dict[str, Any]) -> Iterator[str]:
    low, high = found["sigma"]["low"], found["sigma"]["high"]
    if low is None or low > 1 - _SAME or (high is not None and high < _SAME):
        return
    if high is None or high >= 1:
        if low:
            yield f"Of the work {two_digits(100 * low)} % or more is serial."
    elif low:
        yield f"Of the work {percents(low, high)} is serial."
    else:
        yield f"Of the work at most {two_digits(100 * high)} % is serial."


def _predictions(found: dict[str, Any]) -> Iterator[str]:
    for made in found["predictions"]:
        if made["low"] is None:
            yield f"At {number(made['size'])} nothing is predicted: {'; '.join(made['warnings'])}."
        elif made["high"] is None or made["high"] > WIDEST * made["low"]:
            yield f"At {number(made['size'])} the throughput is {NOT_RESOLVED}."
        else:
            ends = dict.fromkeys(significant(made[end]) for end in ("low", "high"))
            yield f"At {number(made['size'])} it would be {' to '.join(ends)}, if nothing else fills up."


def _remarks(found: dict[str, Any]) -> list[str]:
    flags = zip(found["codes"], found["flags"], strict=True)
    return [f"{text[0].upper()}{text[1:]}." for code, text in flags if code in _TOLD]


def _matrix(found: dict[str, Any], x: str) -> Matrix:
    """Measured and fitted throughputs at sizes spread over the range, and the predictions."""
    points, asked = found["points"], found["predictions"][: COLUMNS // 2] if found["holds"] else []
    room, last = COLUMNS - 1 - len(asked), len(points) - 1
    spread = {round(i * last / (room - 1)) for i in range(room)}
    shown = [point for i, point in enumerate(points) if i in spread or point["size"] == _best(found)]
    measured = [MatrixCell(estimate=Estimate(**point["throughput"])) for point in shown]
    fitted = [MatrixCell(estimate=Estimate(point["fitted"])) for point in shown]
    fitted += [MatrixCell(text=compact(Estimate(**{k: v for k, v in p.items() if k != "size"}))) for p in asked]
    rows = [MatrixRow(label="measured", cells=[*measured, *(MatrixCell() for _ in asked)])]
    return Matrix(
        title=f"throughput, by {x}",
        better="higher",
        columns=[number(point["size"]) for point in (*shown, *asked)],
        rows=[*rows, MatrixRow(label="by the law", cells=fitted)] if found["holds"] else rows,
    )


def fit_tables(found: dict[str, Any]) -> list[TableDoc]:
    """Return the coefficients, and every size with what it gained."""
    parts: list[list[Cell]] = [[name, Estimate(**found[name]), text] for name, text in _MEANINGS.items()]
    columns = [Column(name="coefficient", kind="label"), Column(name="value", kind="estimate")]
    law = TableDoc(id="law", title="Scaling law", columns=[*columns, Column(name="meaning", kind="text")], rows=parts)
    names = ("throughput", "speedup", "efficiency", "serial_fraction")
    rows: list[list[Cell]] = [
        [number(point["size"]), point["fitted"], *(Estimate(**point[name]) if point[name] else None for name in names)]
        for point in found["points"]
    ]
    columns = [Column(name="size", kind="label"), Column(name="by the law")]
    columns += [Column(name=name.replace("_", " "), kind="estimate") for name in names]
    return [law, TableDoc(id="points", title="Sizes that were measured", columns=columns, rows=rows)]
