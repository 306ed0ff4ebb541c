"""The design, and the interfaces of planners and run plans."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Protocol

from scalograph.protocol.record import Record
from scalograph.study.levels import Configuration, Run
from scalograph.study.model import Study


@dataclass(frozen=True)
class Design:
    """A study with its levels resolved for one host, and the configurations that will run.

    `dropped`: which configurations of the full grid are not planned, and why. `repeats`: index -> runs in a block, if
    more than one. `n_cpus`: of the host. Levels of `together` take long to change: a block has their runs together.
    """

    study: Study
    configurations: tuple[Configuration, ...]
    dropped: tuple[str, ...] = ()
    repeats: Mapping[int, int] = field(default_factory=dict)
    n_cpus: int = 1
    together: tuple[str, ...] = ()

    def runs_per_block(self, index: int) -> int:
        """Return the runs of a configuration in each block: one, of a baseline more."""
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
    """Strategy of a study: a pure function of study, seed and the records told. It never touches a machine."""

    def ask(self) -> Run | None:
        """Return the next run, or None when the question is answered."""

    def tell(self, run: Run, record: Record, verdict: str) -> str | None:
        """Take a run's record and verdict, also in a replay; return a message for people, if any.

        Raises StudyError if this name belongs to another run in this design.
        """

    @property
    def n_left(self) -> int:
        """The number of runs still to come, as far as known."""

    @property
    def stop_reason(self) -> str:
        """Why the plan ends before its question is answered (`end` of the journal); empty if it does not."""

    def resume(self) -> None:
        """Reset the stop reason: a new session may meet a quiet machine."""


class RunPlan(Protocol):
    """The runs that answer the question of a design."""

    def planner(self) -> Planner:
        """Return the planner of the runs, from the first one on."""

    def planned_runs(self) -> Iterator[Run]:
        """Return every run that is known beforehand; of a search, those that it makes in any case."""

    def runs_per_configuration(self) -> list[int]:
        """Return the number of planned runs of each configuration, warm-up runs excluded."""

    @property
    def most_runs(self) -> int:
        """The number of runs after which the study ends in any case, repeated runs excluded."""

    @property
    def block_size(self) -> int:
        """The number of runs that a block is expected to hold."""

    def outlook(self) -> str:
        """Describe what will be run."""


def key(configuration: Configuration) -> tuple[tuple[str, Any], ...]:
    """Return a hashable form of a configuration."""
    return tuple(sorted(configuration.items()))


def seconds_per_configuration(runs: Iterable[tuple[Configuration, float]]) -> dict[tuple[tuple[str, Any], ...], float]:
    seconds: dict[tuple[tuple[str, Any], ...], list[float]] = {}
    for configuration, duration in runs:
        seconds.setdefault(key(configuration), []).append(duration)
    return {configuration: fmean(durations) for configuration, durations in seconds.items()}


def expected_seconds(design: Design, timed: Mapping[tuple[tuple[str, Any], ...], float]) -> float | None:
    """Return the seconds of the whole design; a configuration that was never timed counts as the mean of the others."""
    if not timed:
        return None
    mean, n_runs = fmean(timed.values()), map(design.runs_per_block, range(len(design.configurations)))
    block = sum(n * timed.get(key(levels), mean) for n, levels in zip(n_runs, design.configurations, strict=True))
    return block * design.study.protocol.runs
