"""Which treatment of one source is which of another: the same levels of all factors that vary."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeGuard

from scalograph.errors import StudyError
from scalograph.exchange.compare.measured_source import FailedTreatment, MeasuredSource, SourceTreatment
from scalograph.protocol.compared_results import LostTreatment, SourceDifference
from scalograph.protocol.plain import Level, is_number
from scalograph.study.scalars import as_text
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
# The factor of another instrument's file that holds the names of its benchmarks; one level of it needs no name of it.
BENCHMARK = "benchmark"
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
        lost: those of the reference that failed in the other, or are missing there.
    """

    pairs: list[MatchedPair]
    differences: list[SourceDifference]
    unmatched: int
    lost: list[LostTreatment]


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
    lost = list(_lost(reference, other, names))
    if not any(one.why == "failed" for one in lost) and not pairs:
        factors = ", ".join(names) or "no factor"
        found = f"no configuration that both have, by {factors}"
        raise StudyError.one(f"{reference.label} and {other.label}", found, "results of the same configurations")
    differences = [*_machine(reference.machine, other.machine), *changed, *_facts(reference, other)]
    return MatchedTreatments(pairs, differences, len(ours) + len(theirs) - 2 * len(pairs), lost)


def _lost(reference: MeasuredSource, other: MeasuredSource, names: Sequence[str]) -> Iterator[LostTreatment]:
    """Treatments that the reference has and the other does not; a printed table has no runs that could fail."""
    if reference.is_printed or other.is_printed:
        return
    theirs = {_key(one, names) for one in other.treatments}
    failed = {_key(one, names): one for one in other.failed}
    lost = [one for one in reference.treatments if _key(one, names) not in theirs]
    called = treatment_names(reference, [one.levels for one in lost])
    for one, name in zip(lost, called, strict=True):
        key = _key(one, names)
        n, of = failed[key].runs if key in failed else (0, 0)
        why: Literal["failed", "missing"] = "failed" if key in failed else "missing"
        yield LostTreatment(name=name, levels=dict(one.levels), why=why, n_failed=n, n_runs=of)


def treatment_names(source: MeasuredSource, every: Iterable[Mapping[str, Level]]) -> list[str]:
    """Name treatments by the levels that tell them from others of the source: "prog n=2", "lock=cas threads=4"."""
    varied = [name for name in source.factors if len(source.levels_of(name)) > 1] or list(source.factors)
    heads = {name: "" if name.startswith(BENCHMARK) else f"{name}=" for name in varied}
    return [" ".join(f"{head}{as_text(levels[name])}" for name, head in heads.items()) for levels in every]


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


def _by_key(source: MeasuredSource, names: Sequence[str]) -> dict[tuple[Level, ...], SourceTreatment]:
    return {_key(one, names): one for one in source.treatments}


def _key(one: SourceTreatment | FailedTreatment, names: Sequence[str]) -> tuple[Level, ...]:
    return tuple(one.levels[name] for name in names)


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
