"""A harness as the program of a study: the figure of a run is that of the benchmark that it printed."""

import os
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark
from scalograph.exchange.benchmark_figures import failures, params_text, scores
from scalograph.exchange.readers.registry import read

_SHOWN = 4


def printed_score(output: str, reader: str, benchmark: str | None, unit: str) -> float:
    """Read the benchmark that a harness printed, and return its figure: the median over its processes.

    Args:
        output: of one run of the harness.
        reader: of its format, by name.
        benchmark: its name there, with its params behind it where several have the name; None where it printed one.
        unit: in which the study reads it: "s", or "1/s" for a rate.

    Raises:
        ValueError: the output has another form, holds several benchmarks or none of that name, or has another unit;
            with what was found and expected.
    """
    one = _chosen(_read(output, reader), benchmark)
    if not one.forks:
        raise ValueError(f"found {failures(one.failed)} failed, expected one that succeeded")
    if one.unit != unit:
        raise ValueError(f"found figures in {one.unit}, expected {unit}, which is the unit of the response")
    return median(scores(one))


def _read(output: str, reader: str) -> list[Benchmark]:
    """Read an output as the file that it stands for: readers take files."""
    held = os.memfd_create("output")
    try:
        with os.fdopen(os.dup(held), "wb") as stream:
            stream.write(output.encode(errors="replace"))
        return read(reader, Path(f"/proc/self/fd/{held}"))
    except StudyError as error:
        first = error.problems[0]
        raise ValueError(f"found {first.found}, expected {first.expected}") from error
    finally:
        os.close(held)


def _chosen(every: Sequence[Benchmark], name: str | None) -> Benchmark:
    chosen = [one for one in every if name in (None, one.name, _full_name(one))]
    if len(chosen) == 1:
        return chosen[0]
    of = f' "{name}"' if name else ""
    shown = "; ".join(_full_name(one) for one in (chosen or every)[:_SHOWN])
    raise ValueError(f"found {len(chosen)} benchmarks{of} (printed: {shown}), expected one; name it")


def _full_name(one: Benchmark) -> str:
    return f"{one.name} {params_text(dict(one.params))}".strip()
