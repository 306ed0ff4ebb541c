"""The values of imported benchmarks: a typical fork with its interval, and quantiles of all iterations."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path
from statistics import median

import numpy as np
from pydantic import Field

from scalograph.analysis.center import has_logs
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.interval import summarize
from scalograph.analysis.modes import bound_by_step, common_step
from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark, Fork, LeftOut, SingleForks, values_of
from scalograph.exchange.readers.registry import read
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.protocol.plain import Model
from scalograph.text.quantities import count_noun, two_digits
from scalograph.text.short_names import join_first

MOST_NAMED, MOST_LISTED = 4, 100
# A run that took so many times the typical one is an outlier, of so many runs or more.
SLOW, FEWEST_TYPICAL = 3.0, 4
_QUALIFIED = re.compile(r"[\w$]+(\.[\w$]+)+")
_NOTE = (
    "typical fork: the geometric mean of the forks' medians, with the interval over forks; p50 to max: over the shots "
    "of all forks, each a shot that was seen, without an interval"
)


class BenchmarkValues(Model):
    """One benchmark with one level of each param; times in seconds, rates per second."""

    benchmark: str
    mode: str
    params: dict[str, str]
    unit: str
    n_forks: int
    n_shots: int
    estimate: Estimate = Field(description="without a value where every run failed, and so are those below")
    p50: float | None
    p90: float | None
    p99: float | None
    max: float | None
    n_failed: int = 0
    flags: list[str] = Field(default=[])


def summarize_benchmark(benchmark: Benchmark, confidence: float) -> BenchmarkValues:
    """Summarize one benchmark over its forks."""
    estimate = summarize(scores(benchmark), confidence, spread=benchmark.spread) if benchmark.forks else Estimate(n=0)
    p50, p90, p99 = shot_quantiles(benchmark.forks, (0.5, 0.9, 0.99)) if benchmark.forks else (None, None, None)
    most = max(values_of(benchmark.forks), default=None)
    return BenchmarkValues(
        benchmark=benchmark.name, mode=benchmark.mode, params=dict(benchmark.params), unit=benchmark.unit,
        n_forks=len(benchmark.forks), n_shots=sum(_counts(benchmark.forks)), estimate=estimate,
        p50=p50, p90=p90, p99=p99, max=most, n_failed=benchmark.failed[0], flags=list(_flags(benchmark)),
    )  # fmt: skip


def summarize_benchmarks(every: Sequence[Benchmark], confidence: float) -> list[BenchmarkValues]:
    """Summarize benchmarks; where values do not vary, their resolution bounds the interval."""
    steps = value_steps(every)
    summaries = zip(every, (summarize_benchmark(benchmark, confidence) for benchmark in every), strict=True)
    return [
        row.model_copy(update={"estimate": bound_by_step(row.estimate, steps[row.unit], scores(benchmark))})
        if not benchmark.spread
        else row
        for benchmark, row in summaries
    ]


def value_steps(every: Sequence[Benchmark]) -> dict[str, float | None]:
    """Return the resolution of the scores of each unit: their common step; None where all are the same."""
    units = dict.fromkeys(benchmark.unit for benchmark in every)
    return {unit: common_step(*(scores(each) for each in every if each.unit == unit)) for unit in units}


def scores(benchmark: Benchmark) -> list[float]:
    """Return the score of each fork: the median of its iterations."""
    if isinstance(benchmark.forks, SingleForks):
        return benchmark.forks.values.tolist()
    return [
        float(median(fork.values)) if max(fork.counts) == 1 else shot_quantiles([fork], (0.5,))[0]
        for fork in benchmark.forks
    ]


def shot_quantiles(forks: Sequence[Fork], shares: Sequence[float]) -> list[float]:
    """Return the weighted quantiles of all iterations (inverted CDF).

    >>> shot_quantiles([Fork([3.0, 1.0], [1, 1]), Fork([2.0], [8])], (0.5, 0.9, 0.99))
    [2.0, 2.0, 3.0]
    """
    values, counts = (np.asarray(each, dtype=np.float64) for each in (values_of(forks), _counts(forks)))
    quantiles = np.quantile(values, shares, weights=counts, method="inverted_cdf")
    return [float(value) for value in quantiles]


def _counts(forks: Sequence[Fork]) -> list[int]:
    return [1] * len(forks) if isinstance(forks, SingleForks) else [n for fork in forks for n in fork.counts]


def _flags(benchmark: Benchmark) -> Iterable[str]:
    if benchmark.failed[0]:
        yield f"failed: {failures_text(benchmark.failed)}"
    if benchmark.batch > 1:
        yield f"a shot is {benchmark.batch} calls"
    if benchmark.threads > 1:
        yield f"{benchmark.threads} threads called it at once"
    yield from filter(None, [_outlier_text(benchmark)])
    yield from (*benchmark.notes, *benchmark.warnings)


def _outlier_text(benchmark: Benchmark) -> str:
    """Tell how many runs, at most a quarter, were many times slower than the typical one; empty where none was."""
    own = np.asarray(scores(benchmark))
    if own.size < FEWEST_TYPICAL or not has_logs(own):
        return ""
    slower = own / np.median(own) if benchmark.unit == "s" else np.median(own) / own
    if not 0 < (n := int((slower >= SLOW).sum())) <= own.size / 4:
        return ""
    return f"{n} of {count_noun(own.size, 'run')} took {two_digits(float(slower.max()))} times as long"


def outlier_sentence(every: Sequence[Benchmark]) -> str:
    """Name the benchmarks of which few runs were many times slower than the others; empty where none is."""
    slowed = zip(benchmark_labels(every), map(_outlier_text, every), strict=True)
    parts = [f"{name} ({text})" for name, text in slowed if text]
    return f"Outliers: {join_first(parts, MOST_NAMED)}." if parts else ""


def number_repeats(keys: Sequence[object]) -> list[str]:
    """Return what tells equal names apart, in order of appearance; empty for a single one.

    >>> number_repeats(["x", "y", "x"])
    [' (1)', '', ' (2)']
    """
    often, left = Counter(keys), {key: count(1) for key in keys}
    return [f" ({next(left[key])})" if often[key] > 1 else "" for key in keys]


def failures_text(failed: tuple[int, int]) -> str:
    """Format how many runs failed, of how many.

    >>> failures_text((10, 10)), failures_text((1, 1))
    ('10 of 10 runs', '1 of 1 run')
    """
    return f"{failed[0]:,} of {count_noun(failed[1], 'run')}"


def failed_sentence(every: Sequence[Benchmark]) -> str:
    """Name the benchmarks with failed runs, those without forks first; empty where no run failed."""
    named = zip(every, benchmark_labels(every), strict=True)
    lost = sorted(((each, name) for each, name in named if each.failed[0]), key=lambda pair: len(pair[0].forks) > 0)
    parts = [f"{name} ({'; '.join((failures_text(each.failed), *each.warnings))})" for each, name in lost]
    return f"Failed, without a value: {_first(parts)}." if parts else ""


def warning_sentence(every: Sequence[Benchmark]) -> str:
    """Name what went wrong beside values, or what these are not; empty where nothing did."""
    named = zip(every, benchmark_labels(every), strict=True)
    noted = [(each, name) for each, name in named if each.forks and each.warnings and not each.failed[0]]
    parts = [f"{name} ({'; '.join(each.warnings)})" for each, name in noted]
    return f"Note: {_first(parts)}." if parts else ""


def _first(parts: Sequence[str]) -> str:
    return ", ".join(parts[:MOST_NAMED]) + (f" and {len(parts) - MOST_NAMED} more" if parts[MOST_NAMED:] else "")


def benchmark_labels(every: Sequence[Benchmark]) -> list[str]:
    """Return the short name of each benchmark with its params, numbered where several are called the same."""
    names = short_names(each.name for each in every)
    labels = [f"{names[each.name]} {params_text(dict(each.params))}".strip() for each in every]
    return [f"{text}{suffix}" for text, suffix in zip(labels, number_repeats(labels), strict=True)]


def tables(every: Sequence[BenchmarkValues], instrument: str) -> list[TableDoc]:
    """Return one table of times and one of rates, where there are any."""
    names = short_names(row.benchmark for row in every)
    kinds = (("s", f"Times by {instrument}"), ("1/s", f"Rates by {instrument}"))
    parts = ((unit, title, [row for row in every if row.unit == unit]) for unit, title in kinds)
    return [_table(unit, title, members, names) for unit, title, members in parts if members]


def _table(unit: str, title: str, every: Sequence[BenchmarkValues], names: dict[str, str]) -> TableDoc:
    columns = [Column(name="benchmark", kind="label"), Column(name="params", kind="label")]
    columns += [Column(name="forks"), Column(name="shots"), Column(name="typical fork", unit=unit, kind="estimate")]
    columns += [*(Column(name=name, unit=unit) for name in ("p50", "p90", "p99", "max")), Column(name="", kind="text")]
    suffixes = number_repeats([(row.benchmark, params_text(row.params)) for row in every])
    rows: list[list[Cell]] = [
        [names[row.benchmark] + suffix, params_text(row.params), row.n_forks, row.n_shots, row.estimate,
         row.p50, row.p90, row.p99, row.max, row.flags]
        for row, suffix in zip(every, suffixes, strict=True)
    ]  # fmt: skip
    return TableDoc(id="benchmarks", title=title, note=_NOTE, columns=columns, rows=rows)


def left_out_tables(parts: Sequence[LeftOut]) -> list[TableDoc]:
    """Return a table of the parts of files that were left out, where there are any."""
    columns = [Column(name="part", kind="label"), Column(name="reason", kind="text")]
    rows: list[list[Cell]] = [[part.where, [part.reason]] for part in parts[:MOST_LISTED]]
    note = f"{len(parts) - MOST_LISTED} more" if len(parts) > MOST_LISTED else ""
    return [TableDoc(id="left-out", title="Excluded", note=note, columns=columns, rows=rows)] if parts else []


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Shorten qualified names to class and method where these stay unique; command lines stay as they are.

    >>> short_names(["a.b.Sum.run", "a.Queue.take", "c.Queue.take", "./prog-1.2.3 a.b.txt"])
    {'a.b.Sum.run': 'Sum.run', 'a.Queue.take': 'a.Queue.take', 'c.Queue.take': 'c.Queue.take', \
'./prog-1.2.3 a.b.txt': './prog-1.2.3 a.b.txt'}
    """
    last = {name: ".".join(name.split(".")[-2:]) if _QUALIFIED.fullmatch(name) else name for name in names}
    often = Counter(last.values())
    return {name: short if often[short] == 1 else name for name, short in last.items()}


def params_text(params: dict[str, str]) -> str:
    """Format params as `name=value`.

    >>> params_text({"n": "3000", "p": "2"})
    'n=3000 p=2'
    """
    return " ".join(f"{name}={value}" for name, value in params.items())


def printed_score(output: str, reader: str, benchmark: str | None, unit: str) -> float:
    """Return the score of the benchmark that a harness printed in a run: the median over its forks.

    `benchmark` is its name, followed by its params where several share the name; None where one was printed. `unit` is
    that of the response: "s", or "1/s" for a rate.

    Raises ValueError: the output has another form or unit, or holds no such benchmark or several; and what is expected.
    """
    chosen = _select_benchmark(_read(output, reader), benchmark)
    if not chosen.forks:
        raise ValueError(f"found {failures_text(chosen.failed)} failed, expected one that succeeded")
    if chosen.unit != unit:
        raise ValueError(f"found figures in {chosen.unit}, expected {unit}, which is the unit of the response")
    return median(scores(chosen))


def _read(output: str, reader: str) -> list[Benchmark]:
    """Read an output through a file in memory: readers take files."""
    held = os.memfd_create("output")
    try:
        with os.fdopen(os.dup(held), "wb") as stream:
            stream.write(output.encode(errors="replace"))
        return read(reader, Path(f"/proc/self/fd/{held}")).benchmarks
    except StudyError as error:
        first = error.problems[0]
        raise ValueError(f"found {first.found}, expected {first.expected}") from error
    finally:
        os.close(held)


def _select_benchmark(every: Sequence[Benchmark], name: str | None) -> Benchmark:
    chosen = [candidate for candidate in every if name in (None, candidate.name, _full_name(candidate))]
    if len(chosen) == 1:
        return chosen[0]
    of = f' "{name}"' if name else ""
    shown = "; ".join(_full_name(candidate) for candidate in (chosen or every)[:MOST_NAMED])
    raise ValueError(f"found {len(chosen)} benchmarks{of} (printed: {shown}), expected one; name it")


def _full_name(benchmark: Benchmark) -> str:
    return f"{benchmark.name} {params_text(dict(benchmark.params))}".strip()
