"""All controls of a treatment together: a launch that obeys it, what is held meanwhile, what was not in force."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from scalograph.control.base import Control, Launch, Level
from scalograph.control.placement import place
from scalograph.control.registry import control
from scalograph.facts import HostFacts
from scalograph.study import Study

Treatment = Mapping[str, Level]


def apply(study: Study, treatment: Treatment, launch: Launch, facts: HostFacts) -> Launch:
    """The launch that obeys every controlled factor; the mask last, when count and placement are both known."""
    for found, level in _controlled(study, treatment):
        launch = found.apply(launch, level, facts)
    if launch.n_cpus is None and launch.placement != "compact":
        launch = replace(launch, n_cpus=facts.n_cpus if launch.placement == "scatter" else None)
    if launch.n_cpus is None:
        return launch
    return replace(launch, cpus=place(launch.n_cpus, launch.placement, facts.cpus))


def hold(study: Study, treatment: Treatment, facts: HostFacts) -> Iterator[AbstractContextManager[None]]:
    """Machine settings that stay changed while the run lasts."""
    for found, level in _controlled(study, treatment):
        yield found.hold(level, facts)


def read_back(study: Study, treatment: Treatment, facts: HostFacts, record: Mapping[str, Any]) -> list[str]:
    """What was asked for and was not in force, in words."""
    return [text for found, level in _controlled(study, treatment) for text in found.read_back(level, facts, record)]


def _controlled(study: Study, treatment: Treatment) -> Iterator[tuple[Control, Level]]:
    for name, factor in study.factors.items():
        if factor.control:
            yield control(factor.control), treatment[name]
