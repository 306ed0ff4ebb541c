"""Data files of ReBench: each invocation is a fork of its iterations, without warm-up where the file tells of it."""

import re
from collections.abc import Iterator, Mapping

from pydantic_core import from_json

from scalograph.exchange.benchmark import Benchmark, fork
from scalograph.exchange.readers.foreign_file import MAX_BENCHMARKS, ForeignFile, PartError, first_group, pick_facts
from scalograph.text.units import rate_or_time

_RUN = ("invocation", "iteration", "value", "unit", "criterion", "benchmark", "executor", "suite", "extraArgs")
_VARIED = ("cores", "inputSize", "varValue")
# By the number of cells, without a header: of 1.1 and 1.0; until 0.9 a time stood in place of the iteration.
_COLUMNS = {13: (*_RUN, *_VARIED, "machine"), 12: (*_RUN, *_VARIED)}
_OLD = ("time", *_RUN[2:], "warmup", *_VARIED)
_PARAMS = ("executor", "extraArgs", *_VARIED, "tag")
_FACTS = {"suite": "suite", "machine": "machine"}
_SESSION = {"hostName": "host", "cpu": "CPU", "osType": "OS", "commitId": "commit"}
_HEADER = re.compile("^(" + "\t".join(_RUN) + ".*)$", re.MULTILINE)
# Not without the blanks at its end: they are empty cells.
_LINE = re.compile(r"^[^#\n].{0,4000}$", re.MULTILINE)
_COMMENT = re.compile(r"^# (Environment|Source|benchmark|run_id): (?:([0-9]{1,9})=)?(\{.*\})$", re.MULTILINE)
_NUMBER = re.compile(r"[0-9]{1,300}(\.[0-9]{1,300})?")
_COUNT = re.compile(r"[0-9]{1,9}")

Key = tuple[tuple[str, str], ...]


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the measurements by benchmark, settings, and criterion, in order of appearance."""
    if not (file.head.startswith(("#!", "invocation\t")) or "\ttotal\t" in file.head):
        raise file.refusal("", "neither a first line #! nor a total")
    facts, warmups = _session(file.text)
    header = first_group(_HEADER, file.text).split("\t")
    forks: dict[Key, dict[str, list[float]]] = {}
    lines = ((f"row {n}", line[0]) for n, line in enumerate(_LINE.finditer(file.text), 1))
    for row in file.each(lines, lambda _, line: _row(line.split("\t"), header)):
        if int(row.get("iteration", "1")) > warmups.get(row.get("runId", ""), 0):
            key = tuple((name, row[name]) for name in row if name not in ("invocation", "iteration", "value", "time"))
            forks.setdefault(key, {}).setdefault(row.get("invocation", "1"), []).append(float(row["value"]))
        if len(forks) > MAX_BENCHMARKS:
            raise file.refusal("", f"more than {MAX_BENCHMARKS} benchmarks")
    yield from (_benchmark(dict(key), runs, facts) for key, runs in forks.items())


def _session(text: str) -> tuple[dict[str, str], dict[str, int]]:
    """Return the facts of the session, and the number of warm-up iterations of each run id."""
    facts, warmups, runs = dict[str, str](), dict[str, int](), dict[str, int]()
    for kind, number, document in _COMMENT.findall(text):
        try:
            part = from_json(document)
        except ValueError:
            continue
        if kind in ("Environment", "Source"):
            facts |= pick_facts(part, _SESSION)
        elif kind == "benchmark":
            n = part["runDetails"].get("warmup") if isinstance(part.get("runDetails"), dict) else None
            warmups[number] = n if isinstance(n, int) else 0
        else:
            runs[number] = warmups.get(str(part.get("benchmark_id")), 0)
    return facts, runs


def _row(cells: list[str], header: list[str]) -> dict[str, str] | None:
    """Return the cells of a measurement by column; None for the header."""
    if cells == header:
        return None
    columns = _OLD if cells[0].startswith("[") else header if header[1:] else _COLUMNS.get(len(cells), ())
    row = dict(zip(columns, cells, strict=False))
    if len(cells) != len(columns) or not _NUMBER.fullmatch(row["value"]):
        raise PartError("no measurement: torn, or of a profile")
    if not all(_COUNT.fullmatch(row[name]) for name in ("invocation", "iteration") if name in row):
        raise PartError("an invocation without its number")
    if rate_or_time(row["unit"]) is None:
        raise PartError(f'{row["criterion"][:40]} in unit "{row["unit"][:40]}" is neither a time nor a rate')
    return row


def _benchmark(row: Mapping[str, str], runs: Mapping[str, list[float]], facts: Mapping[str, str]) -> Benchmark:
    kind, factor = rate_or_time(row["unit"]) or ("s", 1.0)
    name = row["benchmark"] if row["criterion"] == "total" else f"{row['benchmark']}: {row['criterion']}"
    params = {column: row[column] for column in _PARAMS if row.get(column)}
    forks = tuple(fork(values, factor) for values in runs.values())
    return Benchmark(name, row["criterion"], params, kind, forks, facts={**facts, **pick_facts(dict(row), _FACTS)})
