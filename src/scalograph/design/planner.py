"""The parts of a design, and the interface of every planner: asked for the next run, told its record."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Protocol

from scalograph.protocol.record import Record
from scalograph.questions.registry import SWEEP, role, roles_present
from scalograph.study.levels import Configuration, Run
from scalograph.study.model import Study


@dataclass(frozen=True)
class Design:
    """A study with its levels spelled out for one host, and the configurations that will run.

    `dropped` says in words which configurations of the full grid are not planned, and why; `n_cpus` is the number of
    CPUs of the host. Levels of `together` take long to change: a block has all runs of the same ones beside each other.
    """

    study: Study
    configurations: tuple[Configuration, ...]
    dropped: tuple[str, ...] = ()
    repeats: Mapping[int, int] = field(default_factory=dict)
    n_cpus: int = 1
    together: tuple[str, ...] = ()

    def runs_per_block(self, index: int) -> int:
        """Return how often a block holds the configuration of this index: once, a baseline more often."""
        return self.repeats.get(index, 1)

    @property
    def block_size(self) -> int:
        """The number of runs in one block."""
        return sum(self.runs_per_block(index) for index in range(len(self.configurations)))

    @property
    def n_runs(self) -> int:
        """The number of all runs, warm-up runs excluded."""
        return self.block_size * self.study.protocol.runs


class Planner(Protocol):
    """Strategy: pure in (study, seed, records told). It never touches a machine."""

    def ask(self) -> Run | None:
        """Return the next run, or None when the question is answered."""

    def tell(self, run: Run, record: Record, verdict: str) -> str | None:
        """Take a run's record and verdict, also in a replay; return what a person should know, if anything.

        Raises:
            StudyError: this name belongs to another run in this design.
        """

    @property
    def n_left(self) -> int:
        """The number of runs still to come, as far as it is known."""

    @property
    def stop_reason(self) -> str:
        """Why the plan ends before its question is answered, as `end` in the journal says it; empty if it does not."""

    def resume(self) -> None:
        """Reset what made the plan give up: a new start may meet another state of the machine."""


class RunPlan(Protocol):
    """Which runs answer the question of a design: the role `plan` of a question makes one."""

    def planner(self) -> Planner:
        """Return the planner of the runs, from the first one on."""

    def planned_runs(self) -> Iterator[Run]:
        """Return every run that is known before the first is made; for a search, those that it makes in any case."""

    def runs_per_configuration(self) -> list[int]:
        """Return the number of those runs for each configuration, warm-up runs excluded."""

    @property
    def most_runs(self) -> int:
        """Return the number of runs after which the study ends in any case, repeated runs excluded."""

    @property
    def block_size(self) -> int:
        """Return the number of runs that a block is expected to hold."""

    def outlook(self) -> str:
        """Say what will be run."""


def run_plan(design: Design) -> RunPlan:
    """Return the plan of the question that a study asks, as its role `plan` says; without one, that of a sweep.

    Raises:
        StudyError: the question cannot be asked of these configurations.
    """
    asked = design.study.question
    plan: RunPlan = role(asked if asked in roles_present("plan") else SWEEP, "plan").plan(design)
    return plan


def key(configuration: Configuration) -> tuple[tuple[str, Any], ...]:
    """Return a hashable form of a configuration."""
    return tuple(sorted(configuration.items()))


def seconds_per_configuration(runs: Iterable[tuple[Configuration, float]]) -> dict[tuple[tuple[str, Any], ...], float]:
    """Return the mean seconds of the runs of each configuration, from an earlier journal."""
    seconds: dict[tuple[tuple[str, Any], ...], list[float]] = {}
    for configuration, duration in runs:
        seconds.setdefault(key(configuration), []).append(duration)
    return {configuration: fmean(durations) for configuration, durations in seconds.items()}


def expected_seconds(design: Design, timed: Mapping[tuple[tuple[str, Any], ...], float]) -> float | None:
    """Return the seconds of the whole design; a configuration that was never timed counts as the mean of the others."""
    if not timed:
        return None
    mean = fmean(timed.values())
    block = sum(
        design.runs_per_block(index) * timed.get(key(configuration), mean)
        for index, configuration in enumerate(design.configurations)
    )
    return block * design.study.protocol.runs
