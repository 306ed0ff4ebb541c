"""Export every observation or every run with all factors: as columns, CSV or Parquet."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalograph.errors import HostError, StudyError
from scalograph.findings.row import Row
from scalograph.findings.sample import samples_by_configuration
from scalograph.findings.table import Table
from scalograph.protocol.explanation import Explanation, StackLoss
from scalograph.protocol.findings import Findings, Point, PointResponse
from scalograph.protocol.plain import is_number
from scalograph.protocol.results import write_bytes, write_text
from scalograph.study.scalars import format_value
from scalograph.text.explained import kind_text
from scalograph.text.short_names import short_setting

if TYPE_CHECKING:
    import polars


# Values by column, all of one length and each of one kind; None where missing.
Columns = dict[str, list[Any]]
Line = dict[str, Any]

# Spreadsheets run text that begins so as a formula.
DANGEROUS = ("=", "+", "-", "@", "\t", "\r")
_HEAD = ("run", "block", "replicate", "warmup", "status", "verdict", "boot")
_TAIL = ("response", "iteration", "value", "unit")


def observations(table: Table) -> Columns:
    """Return a row for each observation; failed runs have no value.

    Returns columns `run block replicate warmup status verdict boot`, one for each factor (prefixed `factor.` if its
    name is taken), then `response iteration value unit`.
    """
    units = {name: response.unit for name, response in table.study.responses.items()}
    names = _factors(table, (*_HEAD, *_TAIL))
    lines = (line for row in table.rows for line in _observation_lines(row, names, units))
    return _columns((*_HEAD, *names.values(), *_TAIL), lines)


def runs(table: Table) -> Columns:
    """Return a row for each run: its configuration, its score of each response, and the gravest cause.

    Returns columns `run block replicate warmup status verdict boot cause`, one for each factor, then one for each
    response in its unit (prefixed `factor.` or `response.` if a name is taken).
    """
    head = (*_HEAD, "cause")
    names = _factors(table, head)
    taken = {*head, *names.values()}
    scores = {name: f"response.{name}" if name in taken else name for name in table.study.responses}
    causes = (row.causes[0].text if row.causes else "" for row in table.rows)
    lines = (
        {**_head(row, names), "cause": cause, **{scores[name]: value for name, value in row.scores.items()}}
        for row, cause in zip(table.rows, causes, strict=True)
    )
    return _columns((*head, *names.values(), *scores.values()), lines)


def write(columns: Columns, file: Path) -> None:
    """Write columns in the format of the file's ending: .csv or .parquet.

    Raises StudyError: the file has another ending; HostError: the disk refuses, or polars, which writes Parquet, is not
    there.
    """
    if file.suffix not in (".csv", ".parquet"):
        raise StudyError.one(str(file), f'no format ends with "{file.suffix}"', "one of .csv, .parquet")
    if file.suffix == ".csv":
        return write_text(file, csv_text(columns))
    buffer = io.BytesIO()
    polars_frame(columns).write_parquet(buffer)
    write_bytes(file, buffer.getvalue())


def csv_text(columns: Columns) -> str:
    """Return columns as CSV; text that a spreadsheet would run as a formula gets a leading quote."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(map(_field, columns))
    writer.writerows(map(_field, row) for row in zip(*columns.values(), strict=True))
    return stream.getvalue()


def _field(value: Any) -> Any:
    if isinstance(value, bool):
        return format_value(value)
    return f"'{value}" if isinstance(value, str) and value.startswith(DANGEROUS) else value


def _factors(table: Table, taken: Iterable[str]) -> dict[str, str]:
    return {name: f"factor.{name}" if name in (*taken,) else name for name in table.study.factors}


def _head(row: Row, names: Mapping[str, str]) -> Line:
    return {
        "run": row.run, "block": row.block, "replicate": row.replicate, "warmup": row.warmup, "status": row.status,
        "verdict": row.verdict, "boot": row.boot, **{names[name]: level for name, level in row.configuration.items()},
    }  # fmt: skip


def _observation_lines(row: Row, names: Mapping[str, str], units: Mapping[str, str]) -> Iterator[Line]:
    head = _head(row, names)
    if not row.observations:
        yield head
    for response, values in row.observations.items():
        for iteration, value in enumerate(values):
            yield {**head, "response": response, "iteration": iteration, "value": value, "unit": units[response]}


def _columns(names: Iterable[str], lines: Iterable[Line]) -> Columns:
    columns: Columns = {name: [] for name in names}
    for line in lines:
        for name, values in columns.items():
            values.append(line.get(name))
    return {name: _one_kind(values) for name, values in columns.items()}


def _one_kind(values: list[Any]) -> list[Any]:
    """Convert mixed values to one kind: numbers to floats, anything else to texts."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2:
        return values
    kind: Callable[[Any], Any] = float if kinds == {int, float} else format_value
    return [None if value is None else kind(value) for value in values]


LIBRARIES = ("polars", "pandas")
# Columns that hold texts or numbers in every study, also where all of their rows are empty.
_TEXTS = ("run", "status", "verdict", "response", "unit", "cause")
_WHOLE, _NUMBERS = ("block", "replicate", "iteration"), ("value",)


def frame(columns: Columns) -> Any:
    """Return columns as a data frame of polars, else of pandas. Raises HostError where neither is installed."""
    library = next((name for name in LIBRARIES if find_spec(name)), None)
    if library is None:
        raise HostError("frame", "neither polars nor pandas", "one of them", 'pip install "scalograph[frames]"')
    return polars_frame(columns) if library == "polars" else import_module(library).DataFrame(columns)


def polars_frame(columns: Columns) -> "polars.DataFrame":
    """Return columns as a data frame of polars. Raises HostError where it is not installed."""
    if not find_spec("polars"):
        raise HostError("Parquet", "no polars", "polars, which writes it", 'pip install "scalograph[frames]", or .csv')
    import polars

    kinds = [(_TEXTS, polars.String), (_WHOLE, polars.Int64), (_NUMBERS, polars.Float64)]
    schema = {name: kind for names, kind in kinds for name in names if name in columns}
    return polars.DataFrame(columns, schema_overrides=schema, infer_schema_length=None)


def extra_p(table: Table) -> str:
    """Return JSON lines for Extra-P 4: one for each counted run and response.

    Factors whose levels are all numbers are its parameters; others name the call path.
    Raises StudyError where no factor is a number in all of its levels, so nothing can be modeled.
    """
    params = [name for name in table.study.factors if all(is_number(t[name]) for t in table.configurations)]
    if not params:
        raise StudyError.one("export", "no factor with numbers as levels", "one, such as threads or size")
    return "".join(f"{json.dumps(line)}\n" for line in _lines(table, params))


def _lines(table: Table, params: list[str]) -> Iterator[dict[str, object]]:
    for sample in samples_by_configuration(table).values():
        params_row = {name: sample.configuration[name] for name in params}
        path = ", ".join(f"{name}={format_value(x)}" for name, x in sample.configuration.items() if name not in params)
        for response in table.study.responses:
            for score in sample.scores(response):
                yield {"params": params_row, "callpath": path or "run", "metric": response, "value": score}


def law_points(findings: Findings) -> Columns:
    """Return a row for each counted run: size `n`, `throughput`, and the levels of its curve.

    Throughput is work per second: of a time, one over it, times n if each worker does the same work.
    Raises StudyError where no curve has numbers along it.
    """
    study = findings.study
    better = next((response.better for response in study.responses if response.name == study.primary), "lower")
    curves = [curve for curve in findings.curves if all(is_number(point.level) for point in curve.points)]
    if not curves:
        raise StudyError.one("export", "no curve along numbers", "a factor such as threads or CPUs")
    groups = list(dict.fromkeys(name for curve in curves for name in curve.group if name not in ("n", "throughput")))
    rows = [
        (point.level, rate, *(curve.group.get(name) for name in groups))
        for curve in curves
        for point in curve.points
        if study.primary in point.responses
        for rate in _rates(point, point.responses[study.primary], better, study.work)
    ]
    return {name: [row[i] for row in rows] for i, name in enumerate(("n", "throughput", *groups))}


def _rates(point: Point, response: PointResponse, better: str, work: str) -> Iterator[float]:
    counted = (score for score, run in zip(response.scores, response.runs, strict=True) if run not in response.left_out)
    per_time = float(point.level) if work == "per-worker" else 1.0
    yield from (score if better == "higher" else per_time / score for score in counted if score > 0)


def speedscope(explanation: Explanation) -> str:
    """Return stacks of both levels, and what grew and shrank between them, in the file format of speedscope.

    Weights are CPU seconds per unit of work. The outermost frame is the kind of lost time, after it its process.
    """
    frames: dict[str, int] = {}
    weighted = [
        ([frames.setdefault(name, len(frames)) for name in _speedscope_frames(stack)], stack.before_s, stack.after_s)
        for stack in explanation.stacks
    ]
    first, second = (short_setting(explanation.factor, level) for level in explanation.levels)
    weights: dict[str, list[tuple[list[int], float]]] = {
        f"more with {second}": [(stack, after - before) for stack, before, after in weighted],
        f"less with {second}": [(stack, before - after) for stack, before, after in weighted],
        first: [(stack, before) for stack, before, _ in weighted],
        second: [(stack, after) for stack, _, after in weighted],
    }
    document = {
        "$schema": "https://www.speedscope.app/file-format-schema.json", "name": explanation.study,
        "shared": {"frames": [{"name": name} for name in frames]},
        "profiles": [_speedscope_profile(name, stacks) for name, stacks in weights.items()],
    }  # fmt: skip
    return json.dumps(document) + "\n"


def _speedscope_frames(stack: StackLoss) -> list[str]:
    return [kind_text(stack.kind), *filter(None, (stack.service, *stack.frames))]


def _speedscope_profile(name: str, stacks: Iterable[tuple[list[int], float]]) -> Line:
    positive = [(stack, weight) for stack, weight in stacks if weight > 0]
    return {
        "type": "sampled", "name": name, "unit": "seconds", "startValue": 0,
        "endValue": sum(weight for _, weight in positive), "samples": [stack for stack, _ in positive],
        "weights": [weight for _, weight in positive],
    }  # fmt: skip
