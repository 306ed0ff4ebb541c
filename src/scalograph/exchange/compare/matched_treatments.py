"""Which treatment of one source is which of another: the same levels of all factors that vary."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeGuard

from scalograph.errors import StudyError
from scalograph.exchange.compare.measured_source import MeasuredSource, SourceTreatment
from scalograph.protocol.compared_results import SourceDifference
from scalograph.protocol.plain import Level, is_number
from scalograph.text.format import level_text
from scalograph.text.quantities import gibibytes

# What a reader asks first, and what differs from one look to the next without meaning anything.
_FIRST = (
    "cpu_model", "architecture", "n_cpus", "hypervisor", "memory_bytes", "clock_mhz", "smt", "cpu_quota", "governor",
    "microcode", "distribution", "kernel", "clocksource", "compiler", "disk_rotational", "jvms_used",
)  # fmt: skip
_NAMES = {
    "cpu_model": "CPU", "n_cpus": "CPUs", "memory_bytes": "memory", "clock_mhz": "MHz", "smt": "SMT",
    "jvms_used": "JVM", "cpu_quota": "CPU quota", "disk_rotational": "rotating disk",
}  # fmt: skip
_ENDLESS = 1e300
_CLOSE = 0.02  # clocks and sizes of memory that are nearer are the same


# Levels that both have, the treatment of the reference, that of the other.
MatchedPair = tuple[Mapping[str, Level], SourceTreatment, SourceTreatment]


class MatchedTreatments(NamedTuple):
    """Pairs of treatments, and what is not the same in both sources.

    Attributes:
        pairs: those that both have.
        differences: around the runs.
        unmatched: treatments that only one of them has.
    """

    pairs: list[MatchedPair]
    differences: list[SourceDifference]
    unmatched: int


def matched(reference: MeasuredSource, other: MeasuredSource) -> MatchedTreatments:
    """Match by the levels of all factors; one that each has a single level of, but not the same, is a difference.

    Raises:
        StudyError: they have no treatment in common, or figures of different units.
    """
    _refuse_unlike(reference, other)
    names, changed = _keys(reference, other)
    ours, theirs = _by_key(reference, names), _by_key(other, names)
    pairs: list[MatchedPair] = [
        (dict(zip(names, key, strict=True)), one, theirs[key]) for key, one in ours.items() if key in theirs
    ]
    if not pairs:
        factors = ", ".join(names) or "no factor"
        found = f"no configuration that both have, by {factors}"
        raise StudyError.one(f"{reference.label} and {other.label}", found, "results of the same configurations")
    differences = [*_machine(reference.machine, other.machine), *changed, *_facts(reference, other)]
    return MatchedTreatments(pairs, differences, len(ours) + len(theirs) - 2 * len(pairs))


def _refuse_unlike(reference: MeasuredSource, other: MeasuredSource) -> None:
    one, two = reference.response, other.response
    if (one.unit, one.better) != (two.unit, two.better):
        found = f'{one.name} in "{one.unit}" and {two.name} in "{two.unit}"'
        fix = "choose a response that both have: --response NAME"
        raise StudyError.one(f"{reference.label} and {other.label}", found, "figures of one unit", fix)


def _keys(reference: MeasuredSource, other: MeasuredSource) -> tuple[list[str], list[SourceDifference]]:
    """Factors that tell treatments apart, and those that are fixed to another level in each source."""
    names, changed = [], []
    for name in dict.fromkeys((*reference.factors, *other.factors)):
        ours = reference.levels_of(name) if name in reference.factors else []
        theirs = other.levels_of(name) if name in other.factors else []
        if ours and theirs and (len(ours) > 1 or len(theirs) > 1 or ours == theirs):
            names.append(name)
        elif len(ours) > 1 or len(theirs) > 1:
            has, lacks = (reference, other) if ours else (other, reference)
            found = f"{name} varies in {has.label}, and {lacks.label} does not have it"
            raise StudyError.one("factors", found, "results of the same factors", f"choose one: --where {name}=..")
        elif ours and theirs:
            told = reference.factors[name].title or name
            one, two = (level_text(levels[0]) for levels in (ours, theirs))
            changed.append(SourceDifference(what=told, reference=one, other=two))
    return names, changed


def _by_key(source: MeasuredSource, names: Iterable[str]) -> dict[tuple[Level, ...], SourceTreatment]:
    wanted = list(names)
    return {tuple(one.levels[name] for name in wanted): one for one in source.treatments}


def _facts(reference: MeasuredSource, other: MeasuredSource) -> Iterator[SourceDifference]:
    """What is told beside the machine; other studies are told by their names alone."""
    if reference.name != other.name:
        yield SourceDifference(what="study", reference=reference.name, other=other.name)
    for name in dict.fromkeys((*reference.facts, *other.facts)):
        ours, theirs = reference.facts.get(name), other.facts.get(name)
        if ours and theirs and ours != theirs and (reference.name == other.name or "study" not in name):
            yield SourceDifference(what=name, reference=ours, other=theirs)


def _machine(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[SourceDifference]:
    """Facts that both tell; journals of earlier releases tell fewer, and a published table none."""
    for name in _FIRST:
        one, two = ours.get(name), theirs.get(name)
        is_told = one not in (None, {}) and two not in (None, {})
        if is_told and one != two and not _is_close(one, two):
            said = [_said(name, value) for value in (one, two)]
            yield SourceDifference(what=_NAMES.get(name, name.replace("_", " ")), reference=said[0], other=said[1])


def _is_close(one: Any, two: Any) -> bool:
    if not (_is_measured(one) and _is_measured(two)):
        return False
    return max(one, two) > 64 and abs(one - two) <= _CLOSE * max(one, two)


def _is_measured(value: object) -> TypeGuard[int | float]:
    """Whether a fact is a number of this world: a document may hold one of any size."""
    return is_number(value) and abs(value) < _ENDLESS


def _said(name: str, value: Any) -> str:
    if is_number(value) and not _is_measured(value):
        return "a number without end"
    if name == "memory_bytes" and is_number(value):
        return gibibytes(value)
    if isinstance(value, dict):
        return ", ".join(str(part) for part in value.values())
    return level_text(value) if isinstance(value, bool | int | float) else str(value)
