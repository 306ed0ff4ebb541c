"""A paper's figures beside the measured ones, and what does not reproduce."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.physics import Observed, objections
from scalograph.errors import StudyError
from scalograph.findings.names import brief, title
from scalograph.findings.published.published_file import PublishedRow, level, locate, number, read_rows
from scalograph.findings.table import Table
from scalograph.protocol.findings import Column, Curve, TableDoc
from scalograph.protocol.plain import Level
from scalograph.study.model import Published, Study
from scalograph.text.reproduced import HIGHER, IMPOSSIBLE, LOWER, NOT_RESOLVED, OTHER_CPUS, REPRODUCES, UNLIKE, YES

# A published figure has its own error, rarely printed; it counts as reproduced within this factor of the interval.
TOLERANCE = 0.05
WIDEST = 0.25

Span = tuple[float | None, float | None]


def answer(
    table: Table, published: Published, row: PublishedRow, figures: Mapping[str, Estimate], column: str, objection: str
) -> str:
    """Say whether one row is found again.

    Args:
        table: the runs.
        published: what the columns mean.
        row: of the file.
        figures: what was measured of its treatment; empty where it was not run.
        column: that holds the scaling factor.
        objection: what the physics gates have against the published figures of this row, or empty.
    """
    wanted = {name: level(published, key, row[key]) for key, name in published.match.items()}
    if figures and any(wanted.get(name) == value for name, value in table.study.baseline.items()):
        return "baseline"
    found = reproduces(number(row[column]), figures.get("speedup"), span(published, row, column))
    if found == "not measured":
        return found
    if why_unlike(published, row):
        return UNLIKE
    if found not in (LOWER, HIGHER):
        return found
    others = published.machine_cpus not in (None, table.machine.get("n_cpus"))
    return IMPOSSIBLE if objection else OTHER_CPUS if others else found


def why_unlike(published: Published, row: PublishedRow) -> str:
    """Why a row was built otherwise than what is measured here; empty where it was not."""
    fitting = (u.why for u in published.unlike if all(row.get(name) == _cell(value) for name, value in u.where.items()))
    return next(fitting, "")


def _cell(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def span(published: Published, row: PublishedRow, column: str) -> Span:
    """The published range of a figure, where there are columns for it."""
    ends = published.ranges.get(column)
    return (number(row.get(ends[0])), number(row.get(ends[1]))) if ends else (None, None)


def reproduces(published: float | None, here: Estimate | None, within: Span = (None, None)) -> str:
    """Whether a published scaling factor lies in the measured interval, widened by `TOLERANCE`.

    An interval wider than `WIDEST` to each side would hold nearly anything: it decides nothing. Nor does a published
    range that overlaps it.

    >>> reproduces(0.53, Estimate(value=0.98, low=0.97, high=0.99))
    'no: published lower'
    >>> reproduces(0.90, Estimate(value=0.98, low=0.97, high=0.99), (0.8, 1.0))
    'not resolved'
    """
    if published is None or here is None or here.value is None:
        return "not measured"
    if here.low is None or here.high is None or here.high - here.low > 2 * WIDEST * here.value:
        return NOT_RESOLVED
    low, high = here.low * (1 - TOLERANCE), here.high * (1 + TOLERANCE)
    if low <= published <= high:
        return YES
    least, most = (published if end is None else end for end in within)
    if least <= high and most >= low:
        return NOT_RESOLVED
    return LOWER if published < low else HIGHER


HEADING = "physics"


def objected(study: Study, published: Published, others: Sequence[str], rows: Sequence[PublishedRow]) -> list[str]:
    """For each published row what the gates have against it; empty texts where they have nothing.

    Args:
        study: whose baseline and work the rows share.
        published: which column is which factor or response.
        others: columns that hold no figure; rows that differ in the curve's factor alone are one curve.
        rows: of the file.
    """
    texts = [""] * len(rows)
    along = _column(published.match, next(iter(study.baseline), None))
    baseline = next(iter(study.baseline.values()), None)
    if along is None or type(baseline) is not int:
        return texts
    curves: dict[tuple[str | None, ...], dict[int, int]] = {}
    for index, row in enumerate(rows):
        n = level(published, along, row[along])
        if type(n) is int and n >= 1:
            curves.setdefault(tuple(row[name] for name in others if name != along), {})[n] = index
    for curve in curves.values():
        seen = [found for n, index in curve.items() if (found := _observed(study, published, rows[index], n))]
        for objection in objections(seen, baseline, study.work):
            texts[curve[objection.n]] = "; ".join(filter(None, [texts[curve[objection.n]], objection.gate]))
    return texts


def _column(meanings: Mapping[str, str], wanted: str | None) -> str | None:
    return next((column for column, meaning in meanings.items() if meaning == wanted), None)


def _observed(study: Study, published: Published, row: PublishedRow, n: int) -> Observed | None:
    """A row as the gates see it; None where it does not say how many CPUs there were."""
    control = next((name for name, factor in study.factors.items() if factor.control == "cpus"), None)
    column = _column(published.match, control)
    n_cpus = level(published, column, row[column]) if column else None
    if type(n_cpus) is not int or n_cpus < 1:
        return None
    wall, cpu = (_read(study, published, row, source) for source in ("window.wall", "window.cpu"))
    factor = _column(published.values, "speedup")
    return Observed(n, n_cpus, wall, cpu, _physics_printed(row[factor]) if factor else None)


def _read(study: Study, published: Published, row: PublishedRow, source: str) -> Estimate | None:
    named = next((name for name, response in study.responses.items() if response.source == source), None)
    column = _column(published.values, named)
    return _physics_printed(row[column]) if column else None


def _physics_printed(text: str | None) -> Estimate | None:
    """A printed figure, and half of its last digit to either side."""
    value = number(text)
    if value is None or text is None:
        return None
    half = 0.5 * 10.0 ** -len(text.strip().partition(".")[2]) if "e" not in text.lower() else 0.0
    return Estimate(value, value - half, value + half, 1.0, 1, "printed")


# The figures of the treatment that has these levels; none where there is none.
Lookup = Callable[[Mapping[str, Level | None]], Mapping[str, Estimate]]


def published_table(table: Table, lookup: Lookup, folder: Path) -> tuple[TableDoc | None, list[str]]:
    """Each published row, its figures, and the measured ones of the same treatment where there is one.

    A study is measured whatever becomes of the file: one that is missing or broken is a warning.

    Args:
        table: its runs.
        lookup: what was measured of a treatment.
        folder: where the study's own files are.

    Raises:
        StudyError: the file leads outside the study's folder.
    """
    published = table.study.published
    if published is None or not published.file:
        return None, []
    file = locate(published, folder)
    try:
        names, rows = read_rows(published, file)
    except StudyError as error:
        return None, [f"the published figures are left out: {brief(problem, 1000)}" for problem in error.problems]
    return _table(table, published, lookup, names, rows), []


def _table(
    table: Table, published: Published, lookup: Lookup, names: Sequence[str], rows: Sequence[PublishedRow]
) -> TableDoc:
    ends = {name for pair in published.ranges.values() for name in pair}
    others = [name for name in names if name not in published.values and name not in ends]
    columns = [Column(name=name.replace("_", " "), kind="label") for name in others]
    for column, response in published.values.items():
        unit = table.study.responses[response].unit if response in table.study.responses else ""
        kind: Literal["estimate", "number"] = "estimate" if column in published.ranges else "number"
        columns.append(Column(name=f"{_shown(table, response)} published", unit=unit, kind=kind))
        columns.append(Column(name=f"{_shown(table, response)} here", unit=unit, kind="estimate"))
    cells = [_row(published, row, others, _found(published, row, lookup)) for row in rows]
    if any(against := objected(table.study, published, others, rows)):
        columns.append(Column(name=HEADING, kind="text"))
        cells = [[*row, text] for row, text in zip(cells, against, strict=True)]
    note = published.note
    if factor := _factor(published):
        columns.append(Column(name=REPRODUCES, kind="text"))
        answers = [
            answer(table, published, row, _found(published, row, lookup), factor, objection)
            for row, objection in zip(rows, against, strict=True)
        ]
        cells = [[*row, told] for row, told in zip(cells, answers, strict=True)]
        unlike = dict.fromkeys(f"Not comparable: {why}." for row in rows if (why := why_unlike(published, row)))
        note = " ".join(part for part in (note, _lowest(rows, others, factor), *unlike) if part)
    return TableDoc(
        id="published", title="Published figures beside the measured ones", note=note, columns=columns, rows=cells
    )


def _factor(published: Published) -> str | None:
    """The column that holds the published scaling factors."""
    return next((column for column, response in published.values.items() if response == "speedup"), None)


def _lowest(rows: Sequence[PublishedRow], others: Sequence[str], factor: str) -> str:
    """The condition under which the published factors fall deepest, since a reader looks for that first."""
    known = [(value, row) for row in rows if (value := number(row[factor])) is not None]
    if not known:
        return ""
    value, row = min(known, key=lambda item: item[0])
    under = ", ".join(f"{name.replace('_', ' ')} {row[name]}" for name in others if row[name])
    return f"The lowest published scaling factor, {value:g}, is that of {brief(under)}."


def _shown(table: Table, response: str) -> str:
    return "scaling factor" if response == "speedup" else title(table, response)


def of_curves(curves: Sequence[Curve]) -> Lookup:
    """Figures of the first treatment (in declared order of levels) that has the levels."""
    measured: list[tuple[dict[str, Level], dict[str, Estimate]]] = []
    for curve in curves:
        for point in curve.points:
            figures = {name: response.estimate for name, response in point.responses.items()}
            if point.speedup:
                figures["speedup"] = point.speedup
            measured.append(({**curve.group, curve.factor: point.level}, figures))

    def lookup(wanted: Mapping[str, Level | None]) -> Mapping[str, Estimate]:
        for treatment, figures in measured:
            if all(treatment[factor] == wished for factor, wished in wanted.items()):
                return figures
        return {}

    return lookup


def _found(published: Published, row: PublishedRow, lookup: Lookup) -> Mapping[str, Estimate]:
    return lookup({factor: level(published, column, row[column]) for column, factor in published.match.items()})


def _row(published: Published, row: PublishedRow, others: Sequence[str], figures: Mapping[str, Estimate]) -> list[Any]:
    cells: list[Any] = [_label(row[name]) for name in others]
    for column, response in published.values.items():
        missing = Estimate(warnings=("this configuration was not run here",))
        cells += [_printed(published, row, column), figures.get(response, missing)]
    return cells


def _printed(published: Published, row: PublishedRow, column: str) -> float | Estimate | None:
    """The published figure; with its range where there is one."""
    value, (low, high) = number(row[column]), span(published, row, column)
    return Estimate(value, low, high, method="as published") if column in published.ranges else value


def _label(text: str | None) -> Level | None:
    """Counts as numbers, so that they stand under each other and sort as such."""
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 19 else text
