"""The published table of a study: read it, compare it with the measured values, judge reproduction."""

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.physics import ObservedLevel, physics_flags
from scalograph.errors import StudyError
from scalograph.findings.study_view import StudyView
from scalograph.findings.table import Table
from scalograph.protocol.bounded import read_csv
from scalograph.protocol.findings import Column, Curve, TableDoc
from scalograph.protocol.plain import Level
from scalograph.study.check_published import MAX_BYTES
from scalograph.study.model import Published, Study
from scalograph.study.shipped import inside
from scalograph.text.reproduced import HIGHER, IMPOSSIBLE, INCONCLUSIVE, LOWER, OTHER_CPUS, REPRODUCES, UNLIKE, YES
from scalograph.text.short_names import shorten

MAX_ROWS = 10_000
PublishedRow = Mapping[str, str | None]


def locate(published: Published, folder: Path) -> Path:
    """Return the path that the study names, else the copy beside the journal.

    Raises StudyError: it leads outside the study's folder.
    """
    file = inside(folder, published.file, "published.file")
    beside = inside(folder, Path(published.file).name, "published.file")
    return file if file.is_file() or not beside.is_file() else beside


def read_rows(published: Published, file: Path) -> tuple[list[str], list[PublishedRow]]:
    """Read the column names and the rows; a cell that a short row lacks is None.

    Raises StudyError: the file is missing or unreadable, or lacks a named column.
    """
    try:
        reader = read_csv(file, MAX_BYTES)
        rows = [row for row, _ in zip(reader, range(MAX_ROWS), strict=False)]
        names = list(reader.fieldnames or ())
    except (OSError, ValueError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise StudyError.one("published.file", f"{published.file} cannot be read: {reason}", "a CSV file") from error
    named = [*published.match, *published.values, *(end for ends in published.ranges.values() for end in ends)]
    if missing := [column for column in named if column not in names]:
        problem = f"no column {', '.join(missing)} in {published.file}"
        raise StudyError.one("published", problem, f"one of {', '.join(names)}")
    return names, [{name: row.get(name) for name in names} for row in rows]


def parse_level(published: Published, column: str, text: str | None) -> Level | None:
    """Return the level that a published cell stands for; None if the cell is missing."""
    if text is None or text in published.levels.get(column, {}):
        return None if text is None else published.levels[column][text]
    try:
        return int(text)
    except ValueError:
        value = parse_number(text)
        return text if value is None else value


def parse_number(text: str | None) -> float | None:
    """Return the finite number in a cell, or None."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None


# A published value has its own error, rarely printed: it is reproduced within this share of the interval.
TOLERANCE, WIDEST = 0.05, 0.25
Span = tuple[float | None, float | None]


def answer_row(
    table: Table, published: Published, row: PublishedRow, measured: Mapping[str, Estimate], column: str, objection: str
) -> str:
    wanted = {name: parse_level(published, key, row[key]) for key, name in published.match.items()}
    if measured and any(wanted.get(name) == value for name, value in table.study.baseline.items()):
        return "baseline"
    ends = read_range(published, row, column)
    outcome = judge_reproduction(parse_number(row[column]), measured.get("speedup"), ends)
    if outcome == "not measured":
        return outcome
    if why_unlike(published, row):
        return UNLIKE
    if outcome not in (LOWER, HIGHER):
        return outcome
    others = published.machine_cpus not in (None, table.machine.get("n_cpus"))
    return IMPOSSIBLE if objection else OTHER_CPUS if others else outcome


def why_unlike(published: Published, row: PublishedRow) -> str:
    """Return why a published row is not comparable with what is measured here; else empty."""
    for unlike in published.unlike:
        cells = {name: str(v).lower() if isinstance(v, bool) else str(v) for name, v in unlike.where.items()}
        if all(row.get(name) == cell for name, cell in cells.items()):
            return unlike.why
    return ""


def read_range(published: Published, row: PublishedRow, column: str) -> Span:
    """Return the published range of a value; open where there are no columns for it."""
    ends = published.ranges.get(column)
    return (parse_number(row.get(ends[0])), parse_number(row.get(ends[1]))) if ends else (None, None)


def judge_reproduction(published: float | None, here: Estimate | None, within: Span = (None, None)) -> str:
    """Judge whether a published scaling factor lies in the measured interval, widened by `TOLERANCE`.

    An interval wider than `WIDEST` to each side decides nothing, nor does a published range that overlaps it.

    >>> judge_reproduction(0.53, Estimate(value=0.98, low=0.97, high=0.99))
    'no: published lower'
    >>> judge_reproduction(0.90, Estimate(value=0.98, low=0.97, high=0.99), (0.8, 1.0))
    'inconclusive'
    """
    if published is None or here is None or here.value is None:
        return "not measured"
    if here.low is None or here.high is None or here.high - here.low > 2 * WIDEST * here.value:
        return INCONCLUSIVE
    low, high = here.low * (1 - TOLERANCE), here.high * (1 + TOLERANCE)
    if low <= published <= high:
        return YES
    least, most = (published if end is None else end for end in within)
    if least <= high and most >= low:
        return INCONCLUSIVE
    return LOWER if published < low else HIGHER


def list_objections(
    study: Study, published: Published, others: Sequence[str], rows: Sequence[PublishedRow]
) -> list[str]:
    """Return the violated physics checks of each published row, as text; empty where there are none.

    `others` are columns without values: rows that differ in the curve's factor alone are one curve.
    """
    view, texts = StudyView(study, ()), [""] * len(rows)
    along = _column_of(published.match, next(iter(study.baseline), None))
    baseline = next(iter(study.baseline.values()), None)
    if along is None or type(baseline) is not int:
        return texts
    curves: dict[tuple[str | None, ...], dict[int, int]] = {}
    for index, row in enumerate(rows):
        n = parse_level(published, along, row[along])
        if type(n) is int and n >= 1:
            curves.setdefault(tuple(row[name] for name in others if name != along), {})[n] = index
    for curve in curves.values():
        seen = [observed for n, index in curve.items() if (observed := _observe(view, published, rows[index], n))]
        for objection in physics_flags(seen, baseline, study.work):
            texts[curve[objection.n]] = "; ".join(filter(None, [texts[curve[objection.n]], objection.gate]))
    return texts


def _column_of(meanings: Mapping[str, str], wanted: str | None) -> str | None:
    return next((column for column, meaning in meanings.items() if meaning == wanted), None)


def _observe(view: StudyView, published: Published, row: PublishedRow, n: int) -> ObservedLevel | None:
    """Return None for a row without a CPU count."""
    column = _column_of(published.match, view.cpu_factor)
    n_cpus = parse_level(published, column, row[column]) if column else None
    if type(n_cpus) is not int or n_cpus < 1:
        return None
    wall, cpu = (_read_printed(view, published, row, source) for source in ("window.wall", "window.cpu"))
    factor = _column_of(published.values, "speedup")
    return ObservedLevel(n, n_cpus, wall, cpu, _rounding_interval(row[factor]) if factor else None)


def _read_printed(view: StudyView, published: Published, row: PublishedRow, source: str) -> Estimate | None:
    column = _column_of(published.values, view.find_response(source) or None)
    return _rounding_interval(row[column]) if column else None


def _rounding_interval(text: str | None) -> Estimate | None:
    """Give a printed number half of its last digit to either side."""
    value = parse_number(text)
    if value is None or text is None:
        return None
    half = 0.5 * 10.0 ** -len(text.strip().partition(".")[2]) if "e" not in text.lower() else 0.0
    return Estimate(value, value - half, value + half, 1.0, 1, "printed")


# From levels to the estimates of the configuration that has them; empty where there is none.
Lookup = Callable[[Mapping[str, Level | None]], Mapping[str, Estimate]]


def make_published_table(table: Table, lookup: Lookup, folder: Path) -> tuple[TableDoc | None, list[str]]:
    """Make a table of published rows beside the measured values of the same configurations.

    A missing or broken file is a warning.
    Raises StudyError: the file leads outside the study's folder.
    """
    published = table.study.published
    if published is None or not published.file:
        return None, []
    file = locate(published, folder)
    try:
        names, rows = read_rows(published, file)
    except StudyError as error:
        return None, [f"the published values are excluded: {shorten(problem, 1000)}" for problem in error.problems]
    return _table(table, published, lookup, names, rows), []


def _table(
    table: Table, published: Published, lookup: Lookup, names: Sequence[str], rows: Sequence[PublishedRow]
) -> TableDoc:
    ends = {name for pair in published.ranges.values() for name in pair}
    others = [name for name in names if name not in published.values and name not in ends]
    columns = [Column(name=name.replace("_", " "), kind="label") for name in others]
    shown = {column: table.view.current_response(response) for column, response in published.values.items()}
    for column, response in shown.items():
        unit = table.study.responses[response].unit if response in table.study.responses else ""
        kind: Literal["estimate", "number"] = "estimate" if column in published.ranges else "number"
        name = "scaling factor" if response == "speedup" else table.view.title(response)
        columns.append(Column(name=f"{name} published", unit=unit, kind=kind))
        columns.append(Column(name=f"{name} here", unit=unit, kind="estimate"))
    values = [lookup({f: parse_level(published, c, row[c]) for c, f in published.match.items()}) for row in rows]
    cells = [_cells(published, shown, row, others, measured) for row, measured in zip(rows, values, strict=True)]
    if any(against := list_objections(table.study, published, others, rows)):
        columns.append(Column(name="physics", kind="text"))
        cells = [[*row, text] for row, text in zip(cells, against, strict=True)]
    note = published.note
    if factor := _column_of(published.values, "speedup"):
        columns.append(Column(name=REPRODUCES, kind="text"))
        for row, measured, objection, line in zip(rows, values, against, cells, strict=True):
            line.append(answer_row(table, published, row, measured, factor, objection))
        unlike = dict.fromkeys(f"Not comparable: {reason}." for row in rows if (reason := why_unlike(published, row)))
        note = " ".join(part for part in (note, _lowest_sentence(rows, others, factor), *unlike) if part)
    heading = "Published and measured values"
    return TableDoc(id="published", title=heading, note=note, columns=columns, rows=cells)


def _cells(
    published: Published, shown: Mapping[str, str], row: PublishedRow, others: Sequence[str],
    measured: Mapping[str, Estimate],
) -> list[Any]:  # fmt: skip
    texts = [row[name] for name in others]
    # Counts as numbers, so that they align and sort.
    cells: list[Any] = [int(t) if t and t.isascii() and t.isdigit() and len(t) < 19 else t for t in texts]
    for column, response in shown.items():
        value, (low, high) = parse_number(row[column]), read_range(published, row, column)
        printed = Estimate(value, low, high, method="as published") if column in published.ranges else value
        cells += [printed, measured.get(response, Estimate(warnings=("this configuration was not run here",)))]
    return cells


def _lowest_sentence(rows: Sequence[PublishedRow], others: Sequence[str], factor: str) -> str:
    """Name the condition of the lowest published factor: readers look for that first."""
    factors = [(value, row) for row in rows if (value := parse_number(row[factor])) is not None]
    if not factors:
        return ""
    value, row = min(factors, key=lambda item: item[0])
    under = ", ".join(f"{name.replace('_', ' ')} {row[name]}" for name in others if row[name])
    return f"The lowest published scaling factor, {value:g}, is that of {shorten(under)}."


def curve_lookup(curves: Sequence[Curve]) -> Lookup:
    """Return a lookup of the values of the first configuration, in declared order, that has given levels."""
    measured: list[tuple[dict[str, Level], dict[str, Estimate]]] = []
    for curve in curves:
        for point in curve.points:
            estimates = {name: response.estimate for name, response in point.responses.items()}
            if point.speedup:
                estimates["speedup"] = point.speedup
            measured.append(({**curve.group, curve.factor: point.level}, estimates))

    def lookup(wanted: Mapping[str, Level | None]) -> Mapping[str, Estimate]:
        for configuration, estimates in measured:
            if all(configuration[factor] == wished for factor, wished in wanted.items()):
                return estimates
        return {}

    return lookup
