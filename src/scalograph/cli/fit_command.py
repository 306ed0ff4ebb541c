"""`scalograph fit`."""

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scalograph.cli.console import (
    emit_json,
    out,
    printable,
    tell,
)
from scalograph.cli.options import Json

if TYPE_CHECKING:
    from rich.table import Table

_SAME = 1e-9  # what two numbers differ by that are the same


def command(
    file: Annotated[Path, typer.Argument(help="A CSV file with a header; a size may stand in several rows.")],
    x: Annotated[str, typer.Option("--x", help="Column of the sizes: CPUs, threads, users.")] = "n",
    y: Annotated[str, typer.Option("--y", help="Column of the throughputs, in any unit.")] = "throughput",
    weights: Annotated[
        str, typer.Option("--weights", help="relative: errors are a share of a point; none.")
    ] = "relative",
    predict: Annotated[
        list[float] | None, typer.Option("--predict", help="A size to predict; may be repeated.")
    ] = None,
    json: Json = False,
) -> None:
    """The universal scalability law for numbers measured elsewhere: what limits it, and up to which size more helps.

    \b
    scalograph fit data.csv
    scalograph fit data.csv --x users --y requests_per_s --predict 64 --json
    """
    from scalograph.errors import StudyError
    from scalograph.exchange.csv_points import read_points
    from scalograph.exchange.fit import laws

    if weights not in ("relative", "none"):
        raise StudyError.one("--weights", f'"{weights}"', "relative or none")
    if odd := [size for size in predict or () if not isfinite(size)]:
        raise StudyError.one("--predict", f"{odd[0]}", "a finite number")
    found = laws(read_points(file, x, y), weights, 0.95, predict or ())  # type: ignore[arg-type]
    if json:
        emit_json(found)
        return
    out().print(_coefficients(found))
    tell()
    out().print(_points(found))
    tell()
    for text in sentences(found):
        tell(printable(text))


def _coefficients(found: dict[str, Any]) -> "Table":
    from rich.table import Table

    told = (("sigma", "share that is serial"), ("kappa", "cost of coherency"), ("gamma", "throughput of one"),
            ("optimum", "size with the largest throughput"))  # fmt: skip
    grid = Table.grid(padding=(0, 2))
    for name, words in told:
        grid.add_row(name, _shown(found[name]), words)
    return grid


def _points(found: dict[str, Any]) -> "Table":
    from rich.table import Table

    table = Table(box=None, padding=(0, 2), header_style="bold")
    for name in ("n", "throughput", "fitted", "speedup", "efficiency", "serial fraction"):
        table.add_column(name, justify="right")
    for point in found["points"]:
        gained = (_shown(point[name]) for name in ("speedup", "efficiency", "serial_fraction"))
        table.add_row(f"{point['size']:g}", f"{point['throughput']:.6g}", f"{point['fitted']:.6g}", *gained)
    return table


def _shown(estimate: dict[str, Any] | None) -> str:
    from scalograph.analysis.estimate import Estimate
    from scalograph.text.format import estimate as shown

    return "" if estimate is None else str(shown(Estimate(**estimate)))


def sentences(found: dict[str, Any]) -> list[str]:
    """What the figures say, in words; of a law that does not hold, only that."""
    if not found["holds"]:
        return ["The law does not hold here: its figures say nothing of these points.", *found["flags"]]
    return [*_limit(found), *_optimum(found["optimum"]), *_predictions(found), *found["flags"]]


def _limit(found: dict[str, Any]) -> list[str]:
    low, high = found["sigma"]["low"], found["sigma"]["high"]
    if low is None:
        return ["Too few points for intervals: one more size or run makes them."]
    if low > 1 + _SAME:
        return ["More make it slower than one alone."]
    if low > 1 - _SAME:
        return ["All of the work is serial: more do not help."]
    if high is None:
        return [f"Of the work at least {100 * low:.2g} % is serial.", *_whole(found["sigma"]["warnings"])]
    high = min(1.0, high)
    if high == 1:
        return [f"Of the work {100 * low:.2g} % or more is serial."]
    share = f"{100 * low:.2g} to {100 * high:.2g} %" if low else f"at most {100 * high:.2g} %"
    return [f"Of the work {share} is serial."]


def _optimum(optimum: dict[str, Any]) -> list[str]:
    low, high = optimum["low"], optimum["high"]
    if low is not None and high is not None:
        return [f"Throughput is largest between {low:.3g} and {high:.3g}."]
    return _whole(optimum["warnings"])


def _whole(texts: list[str]) -> list[str]:
    return [f"{text[0].upper()}{text[1:]}." for text in texts]


def _predictions(found: dict[str, Any]) -> list[str]:
    told = []
    for made in found["predictions"]:
        if made["low"] is None:
            told += [f"At {made['size']:g}: {text}." for text in made["warnings"]]
        elif made["high"] is None:
            told.append(f"At {made['size']:g}: at least {made['low']:.4g} ({'; '.join(made['warnings'])}).")
        else:
            told.append(f"At {made['size']:g}: {made['low']:.4g} to {made['high']:.4g}.")
    return told
