"""A published table as a source: `published:15`, or `published:parallel-build:smp=smp,tree=full`."""

from collections.abc import Sequence

from scalograph.analysis.interval import summarize
from scalograph.errors import StudyError
from scalograph.exchange.compare.measured_source import MeasuredSource, SourceConfiguration
from scalograph.findings.published.published_quantities import (
    PublishedRow,
    locate,
    parse_level,
    parse_number,
    read_rows,
)
from scalograph.protocol.findings import FactorDoc, ResponseDoc
from scalograph.protocol.plain import Level
from scalograph.study.declare import Declared, declare
from scalograph.study.model import Published, Study
from scalograph.study.responses import primary_response
from scalograph.study.scalars import unknown_name_error
from scalograph.study.shipped import shipped_studies, shipped_study

PREFIX, TABLE = "published:", "table"
_FORM = "published:TABLE, or published:STUDY:COLUMN=TEXT,.."


def is_published(text: str) -> bool:
    """Return whether a source names a published table."""
    return text.startswith(PREFIX)


def published_source(text: str, name: str | None = None, spread: float = 0.0) -> MeasuredSource:
    """Return a source of the rows of a published table.

    `text` is `published:` and the number of a table, or a study with columns to filter by; `name` the response, None
    for the primary one; `spread` the given standard deviation of single runs, as a share, 0 where unknown.

    Raises StudyError: there is no such table, or its rows name a configuration twice.
    """
    study_name, _, rest = text.removeprefix(PREFIX).partition(":")
    parts = [part.partition("=") for part in rest.split(",") if part]
    if any(not equals or not column for column, equals, _ in parts):
        raise StudyError.one(text, f'"{rest}" is not COLUMN=TEXT', _FORM)
    where = {column: wanted for column, _, wanted in parts}
    if study_name.isdecimal() and not rest:
        study_name, where = _find_study(text, study_name), {TABLE: study_name}
    declared, published = _load_published(text, study_name)
    columns, rows = read_rows(published, locate(published, declared.folder))
    if unknown := [column for column in where if column not in columns]:
        raise unknown_name_error(text, f"no column {', '.join(unknown)}", unknown[0], columns)
    kept = [row for row in rows if all(row[column] == wanted for column, wanted in where.items())]
    column, response = _response(declared.study, published, text, name)
    single = summarize((1.0,), spread=spread) if spread else None
    configurations = tuple(
        row._replace(spread=spread, estimate=single and single.rescale(*row.scores))
        for row in _configurations(text, published, kept, column)
    )
    known_factors = declared.study.factors
    factors = {
        name: FactorDoc(name=name, title=known_factors[name].title or name, unit=known_factors[name].unit, levels=[])
        for name in published.match.values() if name in known_factors
    }  # fmt: skip
    names = list(dict.fromkeys(published.match.values()))
    baseline = [name for name in declared.study.baseline if name in names]
    widest = max(names, key=lambda name: len({row.levels[name] for row in configurations}))
    ends = {end for pair in published.ranges.values() for end in pair}
    others = [c for c in columns if c not in published.match and c not in published.values and c not in ends]
    common = {column: {row[column] for row in kept} for column in others if column != TABLE}
    return MeasuredSource(
        label=text, name=declared.study.name, title=declared.study.title, factors=factors,
        along=baseline[0] if baseline else widest, response=response,
        configurations=configurations,
        facts={name: values.pop() or "" for name, values in common.items() if len(values) == 1},
        has_settings=bool(common),
    )  # fmt: skip


def _find_study(text: str, wanted: str) -> str:
    """Find the shipped study that has most rows of this table of a paper."""
    files = {name: shipped_study(name) / "published.csv" for name in shipped_studies()}
    rows: dict[str, int] = {}
    for name, file in files.items():
        columns, every = read_rows(Published(file=file.name), file) if file.is_file() else ((), ())
        rows[name] = sum(row[TABLE] == wanted for row in every) if TABLE in columns else 0
    if not any(rows.values()):
        raise StudyError.one(text, f"no study that ships has a published table {wanted}", _FORM)
    return max(rows, key=lambda name: rows[name])


def _load_published(text: str, name: str) -> tuple[Declared, Published]:
    with_tables = [s for s in shipped_studies() if (shipped_study(s) / "published.csv").is_file()]
    if name not in with_tables:
        fix = f"studies that have one: {', '.join(with_tables)}"
        raise StudyError.one(text, f'no published table of "{name}"', _FORM, fix)
    declared = declare(shipped_study(name))
    published = declared.study.published
    if published is None or not published.file:
        raise StudyError.one(text, f'"{name}" names no published file', _FORM)
    return declared, published


def _response(study: Study, published: Published, text: str, name: str | None) -> tuple[str, ResponseDoc]:
    columns = {response: column for column, response in published.values.items() if response in study.responses}
    wanted = name or (primary_response(study) if primary_response(study) in columns else next(iter(columns), ""))
    if wanted not in columns:
        raise unknown_name_error("--response", f'{text} has no "{wanted}"', wanted, columns)
    declared = study.responses[wanted]
    if declared.better == "none":
        raise StudyError.one("--response", f'"{wanted}" is neither better higher nor lower', "another one")
    return columns[wanted], ResponseDoc(name=wanted, title=declared.title, unit=declared.unit, better=declared.better)


def _configurations(
    text: str, published: Published, rows: Sequence[PublishedRow], column: str
) -> tuple[SourceConfiguration, ...]:
    by_levels: dict[tuple[tuple[str, Level], ...], SourceConfiguration] = {}
    for row in rows:
        levels = {factor: parse_level(published, name, row[name]) for name, factor in published.match.items()}
        value = parse_number(row[column])
        if value is None or value <= 0 or None in levels.values():
            continue
        complete = {factor: at for factor, at in levels.items() if at is not None}
        key = tuple(complete.items())
        if key in by_levels:
            repeated = ", ".join(f"{factor} {at}" for factor, at in key)
            raise StudyError.one(text, f"several rows with {repeated}", "one", f"narrow it: {_FORM}")
        cpus = complete.get("cpus")
        by_levels[key] = SourceConfiguration(complete, (value,), (0,), n_cpus=cpus if type(cpus) is int else None)
    if not by_levels:
        raise StudyError.one(text, "no row has a value", _FORM)
    return tuple(by_levels.values())
