"""Resolve a study on a host: levels as numbers, configurations dropped with a reason, baselines repeated."""

import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from scalograph.control.apply import configuration_refusals
from scalograph.control.control import LevelError, find_control
from scalograph.design.ladder import anchors
from scalograph.design.planner import Design
from scalograph.errors import HostError, Problem, StudyError
from scalograph.protocol.facts import LATEST, ClusterFacts, CpuFact, HostFacts, Jvm
from scalograph.questions.registry import is_search, role, roles_present
from scalograph.study.levels import Configuration, LevelsError, parse_levels
from scalograph.study.model import Factor, Study
from scalograph.study.scalars import Level, format_value, list_words, truncate
from scalograph.study.shapes import Shape
from scalograph.text.quantities import excess_memory


class Exclusions:
    """Exclusions of a study as bits: a level has those that it does not contradict."""

    def __init__(self, exclude: Sequence[Mapping[str, Sequence[Level]]]) -> None:
        self._met: dict[str, dict[Level, int]] = {}
        every = [exclusion for exclusion in exclude if exclusion]
        self._silent = dict.fromkeys((name for exclusion in every for name in exclusion), (1 << len(every)) - 1)
        for index, exclusion in enumerate(every):
            for name in exclusion:
                self._silent[name] &= ~(1 << index)
        for index, exclusion in enumerate(every):
            for name, levels in exclusion.items():
                met = self._met.setdefault(name, {})
                for level in levels:
                    met[level] = met.get(level, self._silent[name]) | 1 << index

    def contains(self, configuration: Configuration) -> bool:
        """Tell whether some exclusion holds: all factors that it names have one of its levels."""
        left = -1
        for name, met in self._met.items():
            left &= met.get(configuration[name], self._silent[name])
            if not left:
                return False
        return bool(self._met)


MAX_CONFIGURATIONS = 100_000
MAX_RUNS = 2_000_000
# Returns why a configuration cannot run here, or None: a workload may require something of a JVM. It gets the
# configuration with `java` added: the level of the factor that chooses the JVM, whatever that factor's name.
Refusal = Callable[[Configuration], str | None]


def design(study: Study, facts: HostFacts, refusal: Refusal = lambda configuration: None) -> Design:
    """Return the design of a study on a host.

    Raises StudyError: the host cannot obey a level (every such level is listed), or no configuration is left;
    HostError: it grants no level of a factor, or none but the baseline.
    """
    declared, (study, left_out) = study, _resolve_levels(study, facts)
    _refuse_missing_levels(declared, study, left_out)
    of_workload, of_host = _add_jvm(refusal, study), configuration_refusals(study, facts)
    kept, dropped = _configurations(study, facts.n_cpus, lambda levels: of_workload(levels) or of_host(levels))
    if not kept and study.shape and not dropped:
        expected = "levels whose product meets it"
        raise StudyError.one("shape", f"no configuration has {' and '.join(study.shape)}", expected, "add levels")
    if not kept:
        fix = truncate("; ".join(dropped)) or "lower `exclude`"
        raise StudyError.one("factors", "no configuration is left", "at least one", fix)
    notes = (*left_out, *dropped, *_no_baseline(study, kept))
    booted = [name for name, factor in study.factors.items() if factor.control == "kernel" and facts.is_rebooted]
    result = Design(study, tuple(kept), notes, _repeats(study, kept), facts.n_cpus, tuple(booted))
    if result.n_runs > MAX_RUNS and not is_search(study.question):
        excess = f"{result.n_runs} runs of {len(kept)} configurations"
        raise StudyError.one("protocol.runs", excess, f"at most {MAX_RUNS} runs in all", "use fewer runs or levels")
    return result


def _n_levels(configurations: Iterable[Configuration], name: str) -> int:
    return len({levels[name] for levels in configurations})


def exclude_missing(plan: Design, is_lacking: Callable[[Configuration], bool], missing: str) -> Design | None:
    """Return a design without the configurations that lack something on its host, named by `missing`.

    None where nothing is left, nothing to compare the baseline with, or nothing is excluded.
    """
    kept = [levels for levels in plan.configurations if not is_lacking(levels)]
    gone = [levels for levels in plan.configurations if is_lacking(levels)]
    is_alone = any(_n_levels(kept, name) < 2 <= _n_levels(plan.configurations, name) for name in plan.study.baseline)
    if not kept or not gone or is_alone:
        return None
    reason = ": ".join(filter(None, (_levels_of(gone, kept), missing)))
    notes = dict.fromkeys((*plan.dropped, _not_planned(reason, len(gone)), *_no_baseline(plan.study, kept)))
    return replace(plan, configurations=tuple(kept), dropped=tuple(notes), repeats=_repeats(plan.study, kept))


def _levels_of(gone: Sequence[Configuration], kept: Sequence[Configuration]) -> str:
    """Name the levels that only the missing configurations have; empty without any."""
    own = {name: [*dict.fromkeys(each[name] for each in gone)] for name in gone[0]}
    alone = {name: levels for name, levels in own.items() if not any(each[name] in levels for each in kept)}
    return ", ".join(f"{name} = {' or '.join(map(str, levels))}" for name, levels in alone.items())


def _add_jvm(refusal: Refusal, study: Study) -> Refusal:
    chooses = next((name for name, factor in study.factors.items() if factor.control == "jvm"), None)
    if chooses is None:
        return refusal
    return lambda configuration: refusal({**configuration, "java": configuration[chooses]})


def _refuse_missing_levels(declared: Study, study: Study, left_out: Sequence[str]) -> None:
    """Refuse a study whose host lacks all levels of a factor, the baseline, or a level to compare."""
    for name, factor in study.factors.items():
        if not factor.levels:
            raise _not_granted(name, left_out, f"a level of {name}")
    for name, level in study.baseline.items():
        levels = study.factors[name].levels
        if level not in levels:
            expected = list_words(map(str, levels))
            problem = f"level {level!r} is not among the levels of {name} on this host"
            raise StudyError.one(
                f"baseline.{name}", problem, f"one of {expected}", "choose a baseline that every host has"
            )
        if levels == [level] != declared.factors[name].levels:
            raise _not_granted(name, left_out, f"a level of {name} to compare {level} with")


def _not_granted(factor: str, left_out: Sequence[str], expected: str) -> HostError:
    refused = [reason.removeprefix(f"{factor}: excluded, ") for reason in left_out if reason.startswith(f"{factor}: ")]
    return HostError(f"factors.{factor}", "; ".join(refused) or "none", expected, "use a machine that grants one")


def _no_baseline(study: Study, kept: Sequence[Configuration]) -> list[str]:
    lost = [(name, level) for name, level in study.baseline.items() if all(t[name] != level for t in kept)]
    return [f"no configuration with the baseline {name} = {level} is planned: no speedups" for name, level in lost]


def _resolve_levels(study: Study, facts: HostFacts) -> tuple[Study, list[str]]:
    factors: dict[str, Factor] = {}
    problems: list[Problem] = []
    left_out: list[str] = []
    for name, factor in study.factors.items():
        try:
            levels, reasons = _levels(factor, facts)
            factors[name] = factor.model_copy(update={"levels": levels})
            left_out += [f"{name}: excluded, {reason}" for reason in reasons]
        except LevelError as error:
            given = f'"{_spell_levels(factor.levels)}" ' if error.found.startswith("needs ") else ""
            problems.append(Problem(f"factors.{name}", given + error.found, error.expected, error.fix))
        except LevelsError as error:
            problems.append(Problem(f"factors.{name}", str(error)))
    if problems:
        raise StudyError(problems)
    size = math.prod(len(factor.levels) for factor in factors.values())
    if size > MAX_CONFIGURATIONS and _planned_first(study) is None:
        raise StudyError.one("factors", f"{size} configurations", f"at most {MAX_CONFIGURATIONS}", "use fewer levels")
    return study.model_copy(update={"factors": factors}), left_out


def _spell_levels(levels: str | Sequence[Level]) -> str:
    """Return levels as people write them: a range where they are one."""
    if isinstance(levels, str):
        return levels
    first, n = levels[0], len(levels)
    if n > 2 and type(first) is int and list(levels) == list(range(first, first + n)):
        return f"{levels[0]}:{levels[-1]}"
    return truncate(",".join(map(format_value, levels)), 60)


def _levels(factor: Factor, facts: HostFacts) -> tuple[list[Level], list[str]]:
    """Return the levels that this host can obey, and why optional ones are excluded."""
    levels = parse_levels(factor.levels, facts.n_cpus) if isinstance(factor.levels, str) else list(factor.levels)
    reasons: list[str] = []
    if len(levels) > 1 and (reason := excess_memory(factor.most_gib, facts.memory_bytes)):
        reasons.append(f"{list_words(map(format_value, levels[1:]))}: {reason}")
        levels = levels[:1]
    if not factor.control:
        return levels, reasons
    factor_control = find_control(factor.control)
    granted: list[Level] = []
    optional = set(factor.if_granted)
    for level in levels:
        try:
            if level in optional:
                factor_control.resolve([level], facts)
            granted.append(level)
        except LevelError as error:
            reasons.append(error.found)
    return factor_control.resolve(granted, facts), reasons


def _configurations(study: Study, n_cpus: int, refusal: Refusal) -> tuple[list[Configuration], list[str]]:
    kept: list[Configuration] = []
    reasons: dict[str, int] = {}
    excluded = Exclusions(study.exclude)
    shapes = [shape for text in study.shape if (shape := Shape.parse(text))]
    for configuration in _candidates(study):
        if excluded.contains(configuration) or not all(shape.holds(configuration, n_cpus) for shape in shapes):
            continue
        reason = refusal(configuration)
        if reason is None:
            kept.append(configuration)
        else:
            reasons[reason] = reasons.get(reason, 0) + 1
    return kept, [_not_planned(reason, count) for reason, count in reasons.items()]


def _not_planned(reason: str, count: int) -> str:
    return f"{count} configuration{'s' * (count > 1)} not planned: {reason}"


def _candidates(study: Study) -> Iterator[Configuration]:
    if (first := _planned_first(study)) is not None:
        yield from first(study)
        return
    for levels in itertools.product(*(factor.levels for factor in study.factors.values())):
        yield dict(zip(study.factors, levels, strict=True))


def _planned_first(study: Study) -> Callable[[Study], Iterable[Configuration]] | None:
    """Return the function that yields the configurations of a question, if that is not the full grid."""
    planned = role(study.question, "plan") if study.question in roles_present("plan") else None
    return getattr(planned, "configurations", None)


def _repeats(study: Study, configurations: Sequence[Configuration]) -> dict[int, int]:
    """Return the repeats of each baseline: all speedups share it, so sqrt(columns) times more runs (Dunnett 1955).

    An anchor of jobs has one more.
    """
    if is_search(study.question):
        return {}
    repeats = {configurations.index(levels): 2 for levels in anchors(study, configurations)}
    if not study.baseline:
        return repeats
    ((factor, level),) = study.baseline.items()
    columns = max(1, len({configuration[factor] for configuration in configurations}) - 1)
    repeat = max(1, round(math.sqrt(columns)))
    for index, configuration in enumerate(configurations):
        if configuration[factor] == level:
            repeats[index] = repeats.get(index, 1) - 1 + repeat
    return repeats


# As a kernel tells its own: the three numbers that each has, and what its builder adds.
_RELEASE = re.compile(r"\d{1,3}\.\d{1,3}\.\d{1,3}[\w.+~-]{0,50}", re.ASCII)


_ASSUMED_NODES = 1 << 20


def assumed_host(study: Study, n_cpus: int) -> HostFacts:
    """Return a host of `n_cpus` CPUs that grants everything and has the JVMs of the study.

    A core has two CPUs where a study compares siblings, else one. Kernels that are named by their releases are those of
    another machine, which is booted with them; others are those of guests.
    """
    shared = any("siblings" in study.factors[name].levels for name in study.baseline)
    cpus = tuple(CpuFact(cpu=n, core=n // 2 if shared else n) for n in range(n_cpus))
    boots = any(factor.control in ("kernel", "boot-options") for factor in study.factors.values())
    facts = HostFacts(cpus=cpus, smt=shared, jvms=tuple(_jvms(study, n_cpus)))
    if releases := tuple(_releases(study)):
        return facts.model_copy(update={"reached": "ssh", "offered_kernels": releases})
    if any((factor.control or "").startswith("cluster:") for factor in study.factors.values()):
        names = tuple(str(level) for factor in study.factors.values() if factor.control == "cluster:partition"
                      for level in factor.levels)  # fmt: skip
        cluster = ClusterFacts(engine="slurm", partition="assumed", n_nodes=_ASSUMED_NODES, partitions=names)
        return facts.model_copy(update={"reached": "slurm", "cluster": cluster})
    guests = {"accelerator": "kvm", "offered_kernels": ("6.1-cloud", "6.1-generic")}
    return facts.model_copy(update=guests) if boots else facts


def _releases(study: Study) -> Iterator[str]:
    for factor in study.factors.values():
        if factor.control == "kernel" and not isinstance(factor.levels, str):
            yield from (level for level in map(str, factor.levels) if _RELEASE.fullmatch(level))


def _jvms(study: Study, n_cpus: int) -> Iterator[Jvm]:
    # The first is the default one.
    for name in sorted(dict.fromkeys(map(str, _names(study, n_cpus))), key=lambda name: name != "assumed"):
        release = re.match(r"\d{1,3}", name, re.ASCII)
        version = int(release[0]) if release else LATEST
        yield Jvm(name=name, java=name, release=version, build="assumed")


def _names(study: Study, n_cpus: int) -> Iterator[Level]:
    """Yield the levels of the factors that choose a JVM, "assumed" for "all" and "default"."""
    for factor in study.factors.values():
        if factor.control == "jvm":
            levels = parse_levels(factor.levels, n_cpus) if isinstance(factor.levels, str) else factor.levels
            yield from ("assumed" if level in ("all", "default") else level for level in levels)
