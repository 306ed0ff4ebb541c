"""Benchmarks of another tool as a source: a benchmark is a configuration, each of its forks a run."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from scalograph.analysis.interval import summarize
from scalograph.errors import StudyError
from scalograph.exchange.benchmark import MAX_PARAMS, Benchmark, differ_by_params
from scalograph.exchange.benchmark_values import failed_sentence, outlier_sentence, params_text, scores
from scalograph.exchange.compare.matched_configurations import BENCHMARK
from scalograph.exchange.compare.measured_source import (
    HALF,
    FailedConfiguration,
    MeasuredSource,
    SourceConfiguration,
    mostly_failed,
)
from scalograph.exchange.readers.registry import ImportedFiles, left_out_text
from scalograph.protocol.findings import FactorDoc, ResponseDoc, Trust
from scalograph.protocol.plain import Level, is_number
from scalograph.study.scalars import unknown_name_error
from scalograph.text.quantities import count_noun

_UNJUDGED = "No verdict of the machine is known: runs that others disturbed count like all."
_JUDGED = "Of the verdict of the machine only which runs were disturbed is known."
_ONE_PROCESS = "one process has no interval, however often it repeats; name files of several, with commas between"
_MOST_TEXTS = 4
_WHOLE, _DECIMAL = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII), re.compile(r"[+-]?[0-9]{1,18}\.[0-9]{1,18}", re.ASCII)


def benchmark_source(reading: ImportedFiles, label: str, name: str | None = None) -> MeasuredSource:
    """Return a source of imported benchmarks, one or more.

    `name` is the mode (of JMH) or response (of a table); None for that of the first benchmark.

    Raises StudyError: no benchmark has that mode, two are the same, or they have more params than a table holds.
    """
    chosen = _select_benchmarks(reading.benchmarks, label, name)
    levels = _levels(chosen, label)
    # What all share becomes a difference from another source.
    facts = {name: str(values[0]) for name, values in _attributes(chosen).items() if len({*values}) == 1}
    facts |= _facts(chosen)
    if differ_by_params(chosen):
        facts["command"] = f"{chosen[0].name} and {len(chosen) - 1} more"
    if twice := _find_repeat(chosen, levels):
        repeated = f"several benchmarks are {twice.name[:80]} {params_text(dict(twice.params))}".rstrip()
        raise StudyError.one(label, repeated, "one of each", "name them apart, or put them into files of their own")
    is_time = chosen[0].unit == "s"
    response = ResponseDoc(
        name=chosen[0].mode, title="time" if is_time else "throughput", unit=chosen[0].unit,
        better="lower" if is_time else "higher",
    )  # fmt: skip
    pairs = list(zip(chosen, levels, strict=True))
    measured = [(benchmark, at) for benchmark, at in pairs if benchmark.forks and not mostly_failed(*benchmark.failed)]
    failed = [FailedConfiguration(at, benchmark.failed) for benchmark, at in pairs if mostly_failed(*benchmark.failed)]
    doubt = _JUDGED if all(benchmark.disturbed for benchmark in chosen) else _UNJUDGED
    notes = [f"{each.name}: {note}" for each in chosen for note in (*each.notes, *each.warnings * bool(each.forks))]
    sentences = (failed_sentence(chosen), outlier_sentence(chosen), left_out_text(reading.left_out), doubt)
    return MeasuredSource(
        label=label, name=reading.tool, factors={n: FactorDoc(name=n, title=n, levels=[]) for n in levels[0]},
        along=max(levels[0], key=lambda name: _rank([row[name] for row in levels])), response=response,
        configurations=tuple(_configuration(benchmark, at) for benchmark, at in measured),
        unread=reading.unread, facts=facts | {"mode": chosen[0].mode},
        has_settings=any(benchmark.facts for benchmark in chosen),
        failed=tuple(failed), refused=_refusal([benchmark for benchmark, _ in measured]),
        trust=Trust(level="caution", sentence=" ".join(filter(None, sentences)), causes=list(dict.fromkeys(notes))),
    )  # fmt: skip


def _facts(every: Sequence[Benchmark]) -> dict[str, str]:
    """Return what the tool tells of settings, machine and build; several texts of one fact are listed."""
    texts: dict[str, dict[str, None]] = {}
    for name, text in (pair for benchmark in every for pair in benchmark.facts.items()):
        texts.setdefault(name, {})[text] = None
    return {name: ", ".join(list(each)[:_MOST_TEXTS]) for name, each in texts.items()}


def _refusal(every: Sequence[Benchmark]) -> str:
    """Return why no verdict is possible, whatever the values are; empty where one is."""
    if every and all(len(benchmark.forks) == 1 and not benchmark.spread for benchmark in every):
        return _ONE_PROCESS
    n, of = (sum(benchmark.disturbed[i] for benchmark in every if benchmark.disturbed) for i in (0, 1))
    return f"{n:,} of {count_noun(of, 'run')} were disturbed" if n > HALF * of else ""


def _select_benchmarks(every: Sequence[Benchmark], label: str, name: str | None) -> list[Benchmark]:
    """Return the benchmarks of one mode and one unit."""
    first = next((benchmark for benchmark in every if name in (None, benchmark.mode)), None)
    if first is None:
        modes = dict.fromkeys(benchmark.mode for benchmark in every)
        raise unknown_name_error("--response", f'{label} has no "{name}"', name, modes)
    return [benchmark for benchmark in every if (benchmark.mode, benchmark.unit) == (first.mode, first.unit)]


def _find_repeat(every: Sequence[Benchmark], levels: Sequence[Mapping[str, Level]]) -> Benchmark | None:
    """Return the first benchmark that has the levels of an earlier one."""
    seen = set[tuple[Level, ...]]()
    for benchmark, at in zip(every, levels, strict=True):
        if (same := tuple(at.values())) in seen:
            return benchmark
        seen.add(same)
    return None


def _levels(every: Sequence[Benchmark], label: str) -> list[dict[str, Level]]:
    """Return name, params and varying attributes of each benchmark; a missing param is an empty text."""
    names = list(dict.fromkeys(name for benchmark in every for name in benchmark.params))
    if len(names) > MAX_PARAMS:
        fix = "put its benchmarks into several files"
        raise StudyError.one(label, f"{len(names)} params", f"at most {MAX_PARAMS}", fix)
    rows = [{name: _level(benchmark.params.get(name, "")) for name in names} for benchmark in every]
    if not differ_by_params(every):
        called = BENCHMARK
        while called in names:  # a param may be called so
            called += " name"
        rows = [{called: benchmark.name, **levels} for benchmark, levels in zip(every, rows, strict=True)]
    for name, values in _attributes(every).items():
        if len({*values}) > 1:
            rows = [{**levels, name: value} for levels, value in zip(rows, values, strict=True)]
    return rows


def _attributes(every: Sequence[Benchmark]) -> Mapping[str, list[int]]:
    """Return what is no param but changes the values: threads, and calls per iteration."""
    threads, batches = [benchmark.threads for benchmark in every], [benchmark.batch for benchmark in every]
    params = {name for benchmark in every for name in benchmark.params}
    attributes = {"threads": threads, "calls of a shot": batches}
    return {name: values for name, values in attributes.items() if name not in params}


def _level(text: str) -> Level:
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) else text


def _rank(values: Sequence[Any]) -> tuple[bool, int]:
    n = len({*values})
    return n > 1 and all(map(is_number, values)), n


def _configuration(benchmark: Benchmark, levels: Mapping[str, Level]) -> SourceConfiguration:
    own, (n, of) = scores(benchmark), benchmark.disturbed or (0, 0)
    doubt = "includes disturbed runs" if n and len(own) == of else ""
    return SourceConfiguration(
        levels, tuple(own), tuple(range(len(own))), summarize(own, spread=benchmark.spread), doubt=doubt,
        spread=benchmark.spread,
    )  # fmt: skip
