"""What another instrument measured as a source: a benchmark is a treatment, and each of its forks a run."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from scalograph.analysis.interval import summarize
from scalograph.errors import StudyError
from scalograph.exchange.benchmark import MAX_PARAMS, Benchmark
from scalograph.exchange.benchmark_figures import failed_sentence, params_text, scores
from scalograph.exchange.compare.from_findings import HALF
from scalograph.exchange.compare.matched_treatments import BENCHMARK
from scalograph.exchange.compare.measured_source import FailedTreatment, MeasuredSource, SourceTreatment, mostly_failed
from scalograph.protocol.findings import FactorDoc, ResponseDoc, Trust
from scalograph.protocol.plain import Level, is_number
from scalograph.study.scalars import no_such
from scalograph.text.quantities import counted

# Of benchmarks that are command lines.
_COMMANDS = "run"
_UNJUDGED = "No verdict of the machine is known: runs that others disturbed count like all."
_JUDGED = "Of the verdict of the machine only which runs were disturbed is known."
_ONE_PROCESS = "one process has no interval, however often it repeats; name files of several, with commas between"
_WHOLE, _DECIMAL = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII), re.compile(r"[+-]?[0-9]{1,18}\.[0-9]{1,18}", re.ASCII)


def from_benchmarks(every: Sequence[Benchmark], instrument: str, label: str, name: str | None = None) -> MeasuredSource:
    """Read what can be compared.

    Args:
        every: what one instrument wrote, one or more.
        instrument: as people call it.
        label: what the source is called.
        name: of the mode (of JMH), or the response (of a table); None for that of the first benchmark.

    Raises:
        StudyError: no benchmark has that mode, two of them are the same, or they have more params than a table holds.
    """
    chosen = _chosen(every, label, name)
    levels, facts = _levels(chosen, label), _facts(chosen)
    if twice := _second(chosen, levels):
        found = f"several benchmarks are {twice.name[:80]} {params_text(dict(twice.params))}".rstrip()
        raise StudyError.one(label, found, "one of each", "name them apart, or put them into files of their own")
    is_time = chosen[0].unit == "s"
    response = ResponseDoc(
        name=chosen[0].mode, title="time" if is_time else "throughput", unit=chosen[0].unit,
        better="lower" if is_time else "higher",
    )  # fmt: skip
    every_one = list(zip(chosen, levels, strict=True))
    measured = [(one, at) for one, at in every_one if one.forks and not mostly_failed(*one.failed)]
    doubt = _JUDGED if all(one.disturbed for one in chosen) else _UNJUDGED
    notes = list(dict.fromkeys(f"{one.name}: {note}" for one in chosen for note in one.notes))
    return MeasuredSource(
        label=label, name=instrument, factors={n: FactorDoc(name=n, title=n, levels=[]) for n in levels[0]},
        along=_along(levels), response=response,
        treatments=tuple(_treatment(one, at) for one, at in measured), facts=facts,
        failed=tuple(FailedTreatment(at, one.failed) for one, at in every_one if mostly_failed(*one.failed)),
        refused=_refused([one for one, _ in measured]),
        trust=Trust(level="doubt", sentence=f"{failed_sentence(chosen)} {doubt}".lstrip(), causes=notes),
    )  # fmt: skip


def _refused(every: Sequence[Benchmark]) -> str:
    """Why nothing is said, whatever the figures are: as of a study, where that is known."""
    if every and all(len(one.forks) == 1 for one in every):
        return _ONE_PROCESS
    n, of = (sum(one.disturbed[i] for one in every if one.disturbed) for i in (0, 1))
    return f"{n:,} of {counted(of, 'run')} were disturbed" if n > HALF * of else ""


def _chosen(every: Sequence[Benchmark], label: str, name: str | None) -> list[Benchmark]:
    """Those of one mode and one unit."""
    first = next((one for one in every if name in (None, one.mode)), None)
    if first is None:
        raise no_such("--response", f'{label} has no "{name}"', name, dict.fromkeys(one.mode for one in every))
    return [one for one in every if (one.mode, one.unit) == (first.mode, first.unit)]


def _second(every: Sequence[Benchmark], levels: Sequence[Mapping[str, Level]]) -> Benchmark | None:
    """The first that has the levels of one before it."""
    seen = set[tuple[Level, ...]]()
    for one, at in zip(every, levels, strict=True):
        if (same := tuple(at.values())) in seen:
            return one
        seen.add(same)
    return None


def _levels(every: Sequence[Benchmark], label: str) -> list[dict[str, Level]]:
    """Name and params of each, and what else varies; one that lacks a param has an empty text for it."""
    names = list(dict.fromkeys(name for one in every for name in one.params))
    if len(names) > MAX_PARAMS:
        fix = "put its benchmarks into several files"
        raise StudyError.one(label, f"{len(names)} params", f"at most {MAX_PARAMS}", fix)
    told = [{name: _level(one.params.get(name, "")) for name in names} for one in every]
    if not _are_told_by_params(every):
        called = BENCHMARK
        while called in names:  # a param may be called so
            called += " name"
        told = [{called: one.name, **levels} for one, levels in zip(every, told, strict=True)]
    for name, values in _attributes(every).items():
        if len({*values}) > 1:
            told = [{**levels, name: value} for levels, value in zip(told, values, strict=True)]
    return told


def _facts(every: Sequence[Benchmark]) -> dict[str, str]:
    """What is the same for all, and would be a difference beside another source."""
    found = {name: str(values[0]) for name, values in _attributes(every).items() if len({*values}) == 1}
    if _are_told_by_params(every):
        found["command"] = f"{every[0].name} and {len(every) - 1} more"
    return found | {"mode": every[0].mode}


def _attributes(every: Sequence[Benchmark]) -> Mapping[str, list[int]]:
    """What is no param of a benchmark and changes its figures: threads that call it, calls of a shot."""
    known = {"threads": [one.threads for one in every], "calls of a shot": [one.batch for one in every]}
    return {name: values for name, values in known.items() if not any(name in one.params for one in every)}


def _are_told_by_params(every: Sequence[Benchmark]) -> bool:
    """Whether params alone tell command lines apart: these repeat them, and another program has the same levels."""
    params = {tuple(sorted(one.params.items())) for one in every}
    return every[0].mode == _COMMANDS and len(every) > 1 and len(params) == len(every)


def _level(text: str) -> Level:
    """A number where it is one as people write it: a study's own levels are numbers too."""
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) else text


def _along(levels: Sequence[Mapping[str, Level]]) -> str:
    """The factor with the most levels, of numbers if there is one."""
    return max(levels[0], key=lambda name: _rank([one[name] for one in levels]))


def _rank(values: Sequence[Any]) -> tuple[bool, int]:
    n = len({*values})
    return n > 1 and all(map(is_number, values)), n


def _treatment(one: Benchmark, levels: Mapping[str, Level]) -> SourceTreatment:
    own, (n, of) = scores(one), one.disturbed or (0, 0)
    doubt = "rests on disturbed runs" if n and len(own) == of else ""
    return SourceTreatment(levels, tuple(own), tuple(range(len(own))), summarize(own), doubt=doubt)
