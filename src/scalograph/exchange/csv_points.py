"""Throughputs at sizes, from two columns of a CSV file or from imported benchmarks. Executes nothing."""

import csv
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from scalograph.errors import Problem, StudyError
from scalograph.exchange.benchmark import Benchmark, differ_by_params
from scalograph.exchange.benchmark_values import params_text, scores
from scalograph.protocol.bounded import read_csv
from scalograph.study.scalars import suggest
from scalograph.text.quantities import count_noun

MAX_BYTES = 16 << 20
MAX_ROWS = 100_000
_CALLED = {";": "semicolons", "\t": "tabs"}
# Mistakes to report at most: a file of another kind has one in each line.
_TOLD = 5
# Squares and products of sizes and throughputs must stay finite.
_WORKERS = re.compile(r"(n_|num_)?(node|task|rank|proc|process|thread|core|cpu|gpu|client|connection)(es|s)?", re.I)
MOST, WIDEST = 1e9, 1e100
_ARGUMENT = re.compile(r"(?<![\w.])([0-9]{1,9})(?![\w.])")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")


class Points(NamedTuple):
    """Throughput at each size; a size may occur more than once."""

    sizes: list[float]
    rates: list[float]


def read_points(file: Path, x: str = "n", y: str = "throughput", times: bool = False) -> Points:
    """Read the columns `x` and `y` of a CSV file with a header, divided by commas, semicolons or tabs.

    With `times`, `y` holds times of the same work, each of which is a throughput of one over it; `-` is standard input.

    Raises:
        StudyError: the file is missing or too large, lacks a column, or has a field that is no number; with the lines.
    """
    try:
        source = Path("/dev/stdin") if str(file) == "-" else file
        points = _read(read_csv(source, MAX_BYTES, ",;\t"), file, x, y)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise StudyError.one(str(file), f"cannot be read: {reason}", "a CSV file with a header") from error
    return Points(points.sizes, [1 / took for took in points.rates]) if times else points


def _read(reader: "csv.DictReader[str]", file: Path, x: str, y: str) -> Points:
    names = [name.strip() for name in reader.fieldnames or ()]
    reader.fieldnames = names
    for option, name in (("--x", x), ("--y", y)):
        if name not in names:
            have = ", ".join(names) or "none"
            raise StudyError.one(str(file), f'no column "{name}" (columns: {have})', "", f"name one with {option}")
        if (n := names.count(name)) > 1:
            raise StudyError.one(str(file), f'{n} columns "{name}"', "one", "rename the others")
    points, wrong = Points([], []), list[Problem]()
    divided = reader.reader.dialect.delimiter
    fix = "" if divided == "," else f"fields are divided by {_CALLED[divided]} here; write numbers with a point"
    for n, row in enumerate(reader):
        where = f"{file.name}:{reader.line_num}"
        if n == MAX_ROWS and wrong:
            break
        if n == MAX_ROWS:
            raise StudyError.one(where, f"more than {MAX_ROWS} rows", f"at most {MAX_ROWS}")
        size, rate = _number(row.get(x)), _number(row.get(y))
        expected = f"a number above 0, up to {MOST:g}", f"a number above 0, {1 / WIDEST:g} to {WIDEST:g}"
        for name, value, most, range_ in ((x, size, MOST, expected[0]), (y, rate, WIDEST, expected[1])):
            if value is None or not 1 / most <= value <= most:
                wrong.append(Problem(where, f"{name} = {(row.get(name) or '')[:40]!r}", range_, fix))
        if more_fields := row.get(None):  # a comma that splits a number
            n_fields, comma = len(names) + len(more_fields), "write numbers with a point and nothing between thousands"
            wrong.append(
                Problem(where, f"{n_fields} fields", f"{len(names)}, as the header has", f"{comma}, or in quotes")
            )
        if size is not None and rate is not None:
            points.sizes.append(size)
            points.rates.append(rate)
    if wrong:
        more = [Problem(file.name, count_noun(len(wrong) - _TOLD, "further mistake"))] if len(wrong) > _TOLD else []
        raise StudyError([*wrong[:_TOLD], *more])
    return points


def _number(text: str | None) -> float | None:
    """Parse plain decimal notation: only Python reads `1_0` as a number."""
    if not _NUMBER.fullmatch((text or "").strip()):
        return None
    value = float(text or "")
    return value if math.isfinite(value) else None


def points_over(every: Sequence[Benchmark], param: str, where: Mapping[str, str], of_times: bool = False) -> Points:
    """Return throughput over a param that counts what works concurrently: rates as they are, times inverted.

    With `of_times` these are times over a size of the input. `where` are levels of other params, where these have
    several; `benchmark` is the name, unless a param has it.

    Raises StudyError: no benchmark has the param as a number or the levels, or several benchmarks have both.
    """
    having = [benchmark for benchmark in every if param in benchmark.params] or _name_argument(every, param)
    if not having:
        params = dict.fromkeys(name for benchmark in every for name in benchmark.params)
        one_of = f"one of {', '.join(params)[:200]}" if params else ""
        fix = suggest(param, params) if params else "leave out --over: these benchmarks have no params"
        raise StudyError.one("--over", f'no benchmark with the param "{param}"', one_of, fix)
    chosen = [row for row in having if where.items() <= {"benchmark": row.name, **row.params}.items()]
    if not chosen:
        descriptions = "; ".join(dict.fromkeys(_rest(benchmark, param) for benchmark in having))
        raise StudyError.one("--where", f"no benchmark with {params_text(dict(where))}", f"one of {descriptions[:200]}")
    if len({row.name for row in chosen}) > 1 and differ_by_params(chosen):
        chosen = [replace(row, name="the command") for row in chosen]
    along = [name for name in chosen[0].params if _moves_along(chosen, param, name)]
    names = list(dict.fromkeys(_rest(benchmark, param, along) for benchmark in chosen))
    if len(names) > 1:
        fix = "choose one with --where PARAM=LEVEL or --where benchmark=NAME, or import its file alone"
        raise StudyError.one("--over", f"{len(names)} benchmarks over {param}: {'; '.join(names[:4])}", "one", fix)
    if not any(benchmark.forks for benchmark in chosen):
        raise StudyError.one("--over", "no run that succeeded", "some, at several levels")
    points = Points([], [])
    for benchmark in chosen:
        for score in scores(benchmark):
            points.sizes.append(_size(benchmark, param))
            if not 1 / WIDEST <= score <= WIDEST:
                problem = f"a score of {score:g} of {benchmark.name[:80]}"
                raise StudyError.one("--over", problem, f"above 0, {1 / WIDEST:g} to {WIDEST:g}")
            points.rates.append(score if (benchmark.unit == "s") == of_times else 1 / score)
    return points


def parse_params(texts: Sequence[str]) -> dict[str, str]:
    """Parse `PARAM=LEVEL` of the command line. Raises StudyError where it has another form."""
    pairs = [text.partition("=") for text in texts]
    if wrong := [text for text, (name, equals, _) in zip(texts, pairs, strict=True) if not name or not equals]:
        raise StudyError.one("--where", f'"{wrong[0][:80]}"', "PARAM=LEVEL")
    return {name: level for name, _, level in pairs}


def _name_argument(every: Sequence[Benchmark], param: str) -> list[Benchmark]:
    """Give this name to the one number in which the names of benchmarks differ; none where they differ otherwise.

    Names such as sum/1000 and test_sum[1000] have an argument without a name; a param may repeat it.
    """
    split = [_ARGUMENT.split(benchmark.name) for benchmark in every]
    if len({len(parts) for parts in split}) != 1:
        return []
    apart = [i for i, parts in enumerate(zip(*split, strict=True)) if len({*parts}) > 1]
    if len(apart) != 1 or apart[0] % 2 == 0:
        return []
    i = apart[0]
    numbers = [parts[i] for parts in split]
    if any(numbers == [row.params.get(name) for row in every] for name in every[0].params):
        return []  # it has a name
    named = (("".join([*parts[:i], "N", *parts[i + 1 :]]), parts[i]) for parts in split)
    return [
        replace(benchmark, name=name, params={**benchmark.params, param: number})
        for benchmark, (name, number) in zip(every, named, strict=True)
    ]


def _moves_along(every: Sequence[Benchmark], param: str, other: str) -> bool:
    """Return whether another param is the same, or counts workers too, in proportion, as tasks do nodes.

    In proportion a size would make more work, so that times are no throughput.
    """
    levels = [(row.params.get(other, ""), row.params[param]) for row in every]
    is_count = all(text.isascii() and text.isdecimal() and len(text) < 16 for pair in levels for text in pair)
    if not is_count or not _WORKERS.fullmatch(other):
        return all(text == level for text, level in levels)
    (first, per), *_ = levels
    return all(int(text) * int(per) == int(first) * int(level) for text, level in levels) and int(first) > 0


def _rest(benchmark: Benchmark, param: str, along: Sequence[str] = ()) -> str:
    others = {name: level for name, level in benchmark.params.items() if name not in (param, *along)}
    return f"{benchmark.name} {params_text(others)}".strip()


def _size(benchmark: Benchmark, param: str) -> float:
    text = benchmark.params[param]
    size = float(text) if text.replace(".", "", 1).isdecimal() and text.isascii() else 0.0
    if not 1 / MOST <= size <= MOST:
        problem = f"{param}={text[:40]} of {benchmark.name[:80]}"
        raise StudyError.one("--over", problem, f"a number above 0, up to {MOST:g}")
    return size
