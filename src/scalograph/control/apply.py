"""All controls of a configuration together: a launch that obeys it, held settings, and what was not in force."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cache, partial

from scalograph.control.control import Control, HeldSetting, Launch, Level, LevelError, find_control
from scalograph.control.isolation import reserve_cpus
from scalograph.control.machine_control import machine_controls
from scalograph.control.placement import choose_cpus, count_available, refuse_count
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.record import Record
from scalograph.study.model import Study
from scalograph.text.format import format_cpu_list

Configuration = Mapping[str, Level]


def apply(study: Study, configuration: Configuration, launch: Launch, facts: HostFacts) -> Launch:
    """Return the launch that obeys every controlled factor; the mask last, when count and placement are both known.

    Raises LevelError if the levels do not fit together: more CPUs than a placement or exclusive use has.
    """
    for control, level in _controls_with_levels(study, configuration):
        launch = control.apply(launch, level, facts)
    launch = _resolve_cpu_count(launch, facts, lambda placement: count_available(placement, facts.cpus))
    if launch.n_cpus is None:
        return launch
    return replace(launch, cpus=choose_cpus(launch.n_cpus, launch.placement, facts.cpus))


def _resolve_cpu_count(launch: Launch, facts: HostFacts, n_placed: Callable[[str], int]) -> Launch:
    """Return the launch with its count of CPUs, which fits the placement, exclusive use and the quota."""
    if launch.n_cpus is None and launch.placement != Launch.placement:
        # A placement alone: all CPUs that it has.
        launch = replace(launch, n_cpus=n_placed(launch.placement))
    if launch.exclusive:
        _refuse_exclusive(launch, facts)
    if launch.max_tasks is not None and (launch.exclusive or launch.quota_cpus is not None):
        beside = "exclusive CPUs" if launch.exclusive else "a quota"
        raise LevelError(f"a limit of tasks beside {beside}", "one of them", "exclude this combination")
    if launch.n_cpus is not None:
        refuse_count(launch.n_cpus, launch.placement, n_placed(launch.placement))
    if launch.online is not None:
        _refuse_offline(launch, len(launch.online))
    return launch


def _refuse_offline(launch: Launch, n_online: int) -> None:
    if launch.placement != Launch.placement or launch.exclusive:
        beside = "exclusive CPUs" if launch.exclusive else f"placement {launch.placement}"
        raise LevelError(f"{beside} beside CPUs offline", "placement compact, shared", "exclude this combination")
    if launch.n_cpus is not None and launch.n_cpus > n_online:
        raise LevelError(f"{launch.n_cpus} CPUs, {n_online} of them online", "as many", "exclude this combination")


def _refuse_exclusive(launch: Launch, facts: HostFacts) -> None:
    if launch.quota_cpus is not None:
        raise LevelError("exclusive CPUs under a quota", "one of them", "exclude this combination")
    if launch.n_cpus is None:
        raise LevelError("exclusive CPUs without a count", "a count", 'add a factor with control = "cpus"')
    if launch.n_cpus >= facts.n_cpus:
        request = f"{launch.n_cpus} exclusive CPUs of {facts.n_cpus}"
        raise LevelError(request, "one left for the rest of the machine", "use fewer, or exclude this combination")


def configuration_refusals(study: Study, facts: HostFacts) -> Callable[[Configuration], str | None]:
    """Return a function that explains why a configuration cannot be set here, before any run; None if it can.

    Only controls that may conflict are applied, once for each combination: a grid has up to 100,000 configurations,
    and putting thousands of CPUs in order for each would take minutes.
    """
    conflicting = {name: control for name, control in _controls(study).items() if control.may_conflict}
    controls = tuple(conflicting.values())
    n_placed = cache(lambda placement: count_available(placement, facts.cpus))

    @cache
    def launch(*levels: Level) -> Launch:
        """Return the launch of these levels; the last varies fastest, so that of the levels before is made once."""
        return controls[len(levels) - 1].apply(launch(*levels[:-1]), levels[-1], facts) if levels else Launch()

    @cache
    def refusal(*levels: Level) -> str | None:
        try:
            _resolve_cpu_count(launch(*levels), facts, n_placed)
        except LevelError as error:
            return str(error)
        return None

    return lambda configuration: refusal(*map(configuration.__getitem__, conflicting))


def hold(
    study: Study, configuration: Configuration, facts: HostFacts
) -> Iterator[AbstractContextManager[HeldSetting | None]]:
    """Yield the contexts that keep machine settings changed while the run lasts."""
    for control, level in _controls_with_levels(study, configuration):
        yield control.apply_settings(level, facts)
    launch = apply(study, configuration, Launch(), facts)
    if launch.exclusive and launch.cpus:
        yield reserve_cpus(launch.cpus)


def attempts(study: Study, facts: HostFacts) -> Iterator[Callable[[], None]]:
    """Yield attempts: each sets one level of a machine setting once and restores it, or raises HostError."""
    for name, control in machine_controls(study).items():
        for level in study.factors[name].levels:
            yield partial(control.attempt, level, facts)


def read_back(study: Study, configuration: Configuration, facts: HostFacts, record: Record) -> list[str]:
    """List what was requested and was not in force; of CPUs, `find_wrong_masks` reports it."""
    pairs = _controls_with_levels(study, configuration)
    return [text for control, level in pairs for text in control.read_back(level, facts, record)]


def find_wrong_masks(launches: Sequence[Launch], record: Record) -> list[str]:
    """List copies, and services that ran before, that did not have the CPUs of their launch."""
    masks = [(copy.command, copy.in_force.cpus) for copy in record.copies if copy.in_force]
    masks += [(process.command, process.cpus) for process in record.processes if process.cpus is not None]
    wrong = dict[str, None]()
    for command, cpus in masks:
        launch = launches[command] if command < len(launches) else None  # else it runs already
        if launch and launch.cpus is not None and set(cpus) != set(launch.cpus):
            asked, mask = format_cpu_list(launch.cpus), format_cpu_list(cpus)
            whose = f" of {launch.name}" if launch.name else ""
            wrong[f"cpus{whose}: asked for {asked} ({launch.placement}), in force were {mask}"] = None
    return sorted(wrong)


def _controls_with_levels(study: Study, configuration: Configuration) -> Iterator[tuple[Control, Level]]:
    return ((control, configuration[name]) for name, control in _controls(study).items())


def _controls(study: Study) -> dict[str, Control]:
    return {name: find_control(factor.control) for name, factor in study.factors.items() if factor.control}
