"""The values of imported benchmarks: a typical fork with its interval, and quantiles of all iterations."""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median

import numpy as np
from pydantic import Field

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.interval import summarize
from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark, Fork, LeftOut, SingleForks, values_of
from scalograph.exchange.readers.registry import read
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.protocol.plain import Model
from scalograph.text.quantities import count_noun

MOST_NAMED, MOST_LISTED = 4, 100
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
    estimate = summarize(scores(benchmark), confidence) if benchmark.forks else Estimate(n=0)
    p50, p90, p99 = shot_quantiles(benchmark.forks, (0.5, 0.9, 0.99)) if benchmark.forks else (None, None, None)
    most = max(values_of(benchmark.forks), default=None)
    return BenchmarkValues(
        benchmark=benchmark.name, mode=benchmark.mode, params=dict(benchmark.params), unit=benchmark.unit,
        n_forks=len(benchmark.forks), n_shots=sum(_counts(benchmark.forks)), estimate=estimate,
        p50=p50, p90=p90, p99=p99, max=most, n_failed=benchmark.failed[0], flags=list(_flags(benchmark)),
    )  # fmt: skip


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
    yield from (*benchmark.notes, *benchmark.warnings)


def failures_text(failed: tuple[int, int]) -> str:
    """Format how many runs failed, of how many.

    >>> failures_text((10, 10)), failures_text((1, 1))
    ('10 of 10 runs', '1 of 1 run')
    """
    return f"{failed[0]:,} of {count_noun(failed[1], 'run')}"


def failed_sentence(every: Sequence[Benchmark]) -> str:
    """Name the benchmarks with failed runs, those without forks first; empty where no run failed."""
    lost = sorted((each for each in every if each.failed[0]), key=lambda each: len(each.forks) > 0)
    return _list(
        "Failed, without a value", every, lost, lambda each: "; ".join((failures_text(each.failed), *each.warnings))
    )


def warning_sentence(every: Sequence[Benchmark]) -> str:
    """Name what went wrong beside values, or what these are not; empty where nothing did."""
    return _list(
        "Note",
        every,
        [each for each in every if each.forks and each.warnings and not each.failed[0]],
        lambda each: "; ".join(each.warnings),
    )


def _list(
    heading: str, every: Sequence[Benchmark], chosen: Sequence[Benchmark], describe: Callable[[Benchmark], str]
) -> str:
    names = short_names(each.name for each in every)
    labels = [f"{names[each.name]} {params_text(dict(each.params))}".strip() for each in chosen[:MOST_NAMED]]
    parts = [f"{name} ({describe(each)})" for name, each in zip(labels, chosen, strict=False)]
    more = f" and {len(chosen) - len(parts)} more" if len(chosen) > len(parts) else ""
    return f"{heading}: {', '.join(parts)}{more}." if chosen else ""


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
    rows: list[list[Cell]] = [
        [names[row.benchmark], params_text(row.params), row.n_forks, row.n_shots, row.estimate,
         row.p50, row.p90, row.p99, row.max, row.flags]
        for row in every
    ]  # fmt: skip
    return TableDoc(id="benchmarks", title=title, note=_NOTE, columns=columns, rows=rows)


def left_out_tables(parts: Sequence[LeftOut]) -> list[TableDoc]:
    """Return a table of the parts of files that were left out, where there are any."""
    columns = [Column(name="part", kind="label"), Column(name="reason", kind="text")]
    rows: list[list[Cell]] = [[part.where, [part.reason]] for part in parts[:MOST_LISTED]]
    note = f"{len(parts) - MOST_LISTED} more" if len(parts) > MOST_LISTED else ""
    return [TableDoc(id="left-out", title="Left out", note=note, columns=columns, rows=rows)] if parts else []


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
