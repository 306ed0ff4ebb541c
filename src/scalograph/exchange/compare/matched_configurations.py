"""Match the configurations of two sources by the levels of all factors that vary."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeGuard

from scalograph.errors import StudyError
from scalograph.exchange.compare.measured_source import FailedConfiguration, MeasuredSource, SourceConfiguration
from scalograph.protocol.compared_results import LostConfiguration, SourceDifference
from scalograph.protocol.plain import Level, is_number
from scalograph.study.scalars import format_value
from scalograph.text.format import level_text
from scalograph.text.quantities import gibibytes

# Facts whose difference matters, in the order readers ask for them.
_FIRST = (
    "cpu_model", "architecture", "n_cpus", "hypervisor", "memory_bytes", "clock_mhz", "smt", "cpu_quota", "governor",
    "microcode", "distribution", "kernel", "clocksource", "compiler", "disk_rotational", "jvms_used",
)  # fmt: skip
_NAMES = {
    "cpu_model": "CPU", "n_cpus": "CPUs", "memory_bytes": "memory", "clock_mhz": "MHz", "smt": "SMT",
    "jvms_used": "JVM", "cpu_quota": "CPU quota", "disk_rotational": "rotating disk",
}  # fmt: skip
# The factor that holds the names of another tool's benchmarks; its levels need no prefix.
BENCHMARK = "benchmark"
_ENDLESS = 1e300
_CLOSE = 0.02  # clocks and memory sizes within this share are equal


# Common levels, the configuration of the reference, that of the other.
MatchedPair = tuple[Mapping[str, Level], SourceConfiguration, SourceConfiguration]


class MatchedConfigurations(NamedTuple):
    """Pairs of configurations, and what differs between the sources.

    Attributes:
        differences: of the environments.
        unmatched: how many configurations only one source has.
        lost: configurations of the reference that failed in the other, or are missing there.
        added: names of those that the reference lacks.
    """

    pairs: list[MatchedPair]
    differences: list[SourceDifference]
    unmatched: int
    lost: list[LostConfiguration]
    added: list[str]


def match_sources(reference: MeasuredSource, other: MeasuredSource) -> MatchedConfigurations:
    """Match configurations by the levels of all factors; a factor fixed at different levels is a difference.

    Raises StudyError: they have no configuration in common, or figures of different units.
    """
    _refuse_unlike(reference, other)
    names, changed = _keys(reference, other)
    ours, theirs = ({_key(row, names): row for row in source.configurations} for source in (reference, other))
    both = [key for key in ours if key in theirs]
    pairs: list[MatchedPair] = [(dict(zip(names, key, strict=True)), ours[key], theirs[key]) for key in both]
    lost = list(_lost(reference, other, names))
    if not any(row.why == "failed" for row in lost) and not pairs:
        problem = f"no configuration that both have, by {', '.join(names) or 'no factor'}"
        raise StudyError.one(f"{reference.label} and {other.label}", problem, "results of the same configurations")
    differences = [*_machine(reference.machine, other.machine), *changed, *_facts(reference, other)]
    before = {*ours, *(_key(row, names) for row in reference.failed)}
    is_printed = reference.is_printed or other.is_printed
    new = [] if is_printed else [row.levels for key, row in theirs.items() if key not in before]
    added = configuration_names(other, new)
    return MatchedConfigurations(pairs, differences, len(ours) + len(theirs) - 2 * len(pairs), lost, added)


def _lost(reference: MeasuredSource, other: MeasuredSource, names: Sequence[str]) -> Iterator[LostConfiguration]:
    """Yield configurations of the reference that the other lacks; printed tables have no runs to fail."""
    if reference.is_printed or other.is_printed:
        return
    theirs = {_key(row, names) for row in other.configurations}
    failed = {_key(row, names): row for row in other.failed}
    lost = [row for row in reference.configurations if _key(row, names) not in theirs]
    called = configuration_names(reference, [row.levels for row in lost])
    for row, name in zip(lost, called, strict=True):
        yield lost_configuration(name, row.levels, failed.get(_key(row, names)))


def lost_configuration(name: str, levels: Mapping[str, Level], failed: FailedConfiguration | None) -> LostConfiguration:
    """Return the configuration that one source lacks: it failed there, or is missing."""
    n, of = failed.runs if failed else (0, 0)
    reason: Literal["failed", "missing"] = "failed" if failed else "missing"
    return LostConfiguration(name=name, levels=dict(levels), why=reason, n_failed=n, n_runs=of)


def configuration_names(source: MeasuredSource, every: Iterable[Mapping[str, Level]]) -> list[str]:
    """Name configurations by the levels that vary: "prog n=2", "lock=cas threads=4"."""
    varied = [name for name in source.factors if len(source.levels_of(name)) > 1] or list(source.factors)
    heads = {name: "" if name.startswith(BENCHMARK) else f"{name}=" for name in varied}
    return [" ".join(f"{head}{format_value(levels[name])}" for name, head in heads.items()) for levels in every]


def _refuse_unlike(reference: MeasuredSource, other: MeasuredSource) -> None:
    ours, theirs = reference.response, other.response
    if (ours.unit, ours.better) != (theirs.unit, theirs.better):
        problem = f'{ours.name} in "{ours.unit}" and {theirs.name} in "{theirs.unit}"'
        fix = "choose a response that both have: --response NAME"
        raise StudyError.one(f"{reference.label} and {other.label}", problem, "figures of one unit", fix)


def _keys(reference: MeasuredSource, other: MeasuredSource) -> tuple[list[str], list[SourceDifference]]:
    """Return the factors that identify configurations, and those fixed at another level in each source."""
    names, changed = [], []
    for name in dict.fromkeys((*reference.factors, *other.factors)):
        ours = reference.levels_of(name) if name in reference.factors else []
        theirs = other.levels_of(name) if name in other.factors else []
        if ours and theirs and (len(ours) > 1 or len(theirs) > 1 or ours == theirs):
            names.append(name)
        elif len(ours) > 1 or len(theirs) > 1:
            has, lacks = (reference, other) if ours else (other, reference)
            problem = f"{name} varies in {has.label}, and {lacks.label} does not have it"
            raise StudyError.one("factors", problem, "results of the same factors", f"choose one: --where {name}=..")
        elif ours and theirs:
            title = reference.factors[name].title or name
            before, after = (level_text(levels[0]) for levels in (ours, theirs))
            changed.append(SourceDifference(what=title, reference=before, other=after))
    return names, changed


def _key(row: SourceConfiguration | FailedConfiguration, names: Sequence[str]) -> tuple[Level, ...]:
    return tuple(row.levels[name] for name in names)


def _facts(reference: MeasuredSource, other: MeasuredSource) -> Iterator[SourceDifference]:
    """Yield differing facts beside the machine's; different studies differ by name alone."""
    if reference.name != other.name:
        yield SourceDifference(what="study", reference=reference.name, other=other.name)
    for name in dict.fromkeys((*reference.facts, *other.facts)):
        ours, theirs = reference.facts.get(name), other.facts.get(name)
        if ours and theirs and ours != theirs and (reference.name == other.name or "study" not in name):
            yield SourceDifference(what=name, reference=ours, other=theirs)


def _machine(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[SourceDifference]:
    """Yield differing machine facts that both sources record."""
    for name in _FIRST:
        before, after = ours.get(name), theirs.get(name)
        if before in (None, {}) or after in (None, {}) or before == after:
            continue
        are_numbers = _is_measured(before) and _is_measured(after)
        if not are_numbers or max(before, after) <= 64 or abs(before - after) > _CLOSE * max(before, after):
            texts = [_fact_text(name, value) for value in (before, after)]
            yield SourceDifference(what=_NAMES.get(name, name.replace("_", " ")), reference=texts[0], other=texts[1])


def machine_facts_text(facts: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts of a machine whose difference matters as texts; not measured ones, which differ each time.

    >>> machine_facts_text({"cpu_model": "AMD EPYC", "n_cpus": 2, "clock_mhz": 2450.1, "boot_id": "a"})
    {'CPU': 'AMD EPYC', 'CPUs': '2'}
    """
    stated = {name: facts[name] for name in _FIRST if facts.get(name) not in (None, {})}
    return {
        _NAMES.get(name, name.replace("_", " ")): _fact_text(name, value)
        for name, value in stated.items()
        if name != "clock_mhz" and not (_is_measured(value) and value > 64 and name != "memory_bytes")
    }


def _is_measured(value: object) -> TypeGuard[int | float]:
    """Return whether a fact is a plausible number: a document may hold one of any size."""
    return is_number(value) and abs(value) < _ENDLESS


def _fact_text(name: str, value: Any) -> str:
    if is_number(value) and not _is_measured(value):
        return "a number without end"
    if name == "memory_bytes" and is_number(value):
        return gibibytes(value)
    if isinstance(value, dict):
        return ", ".join(str(part) for part in value.values())
    return level_text(value) if isinstance(value, bool | int | float) else str(value)
