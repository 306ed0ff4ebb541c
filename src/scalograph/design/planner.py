"""The words of a design, and what every planner is: something that is asked for the next run and told its record."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from scalograph.protocol.record import Record
from scalograph.questions.registry import role
from scalograph.study.model import Study
from scalograph.study.scalars import Level

Treatment = Mapping[str, Level]


@dataclass(frozen=True)
class Run:
    """One launch under one treatment: the experimental unit."""

    run: str
    block: int
    treatment: Treatment
    replicate: int
    warmup: bool = False


@dataclass(frozen=True)
class Design:
    """A study with its levels spelled out for one host, and the treatments that it will run.

    `dropped` says in words which treatments of the full grid are not planned, and why; `n_cpus` are the CPUs of the
    host.
    """

    study: Study
    treatments: tuple[Treatment, ...]
    dropped: tuple[str, ...] = ()
    repeats: Mapping[int, int] = field(default_factory=dict)
    n_cpus: int = 1

    def runs_per_block(self, index: int) -> int:
        """How often a block holds the treatment of this index: once, a baseline more often."""
        return self.repeats.get(index, 1)

    @property
    def block_size(self) -> int:
        """Runs in one block."""
        return sum(self.runs_per_block(index) for index in range(len(self.treatments)))

    @property
    def n_runs(self) -> int:
        """All runs that are asked, warm-up runs left out."""
        return self.block_size * self.study.protocol.runs


class Planner(Protocol):
    """Strategy: pure in (study, seed, records told). It never touches a machine."""

    def ask(self) -> Run | None:
        """The next run, or None when the question is answered."""

    def tell(self, run: Run, record: Record, verdict: str) -> str | None:
        """What became of a run; resume replays the journal through here. Says what a person should know, if anything.

        Raises:
            StudyError: a run of this name is another one in this design.
        """

    @property
    def n_left(self) -> int:
        """Runs that are still to come, as far as is known by now."""

    @property
    def gave_up(self) -> bool:
        """Whether it ends before its question is answered, because the machine is too busy."""

    def resume(self) -> None:
        """Another start goes on: the machine may be another one now, so what made this one give up is over."""


class RunPlan(Protocol):
    """Which runs answer the question of a design: the role `plan` of a question makes one."""

    def planner(self) -> Planner:
        """Return what asks for the runs, from the first one on."""

    def planned_runs(self) -> Iterator[Run]:
        """Return every run that is known before the first is made; of a search, those that it makes in any case."""

    def asked_for(self) -> list[int]:
        """Return how many those are of each treatment, warm-up runs left out."""

    @property
    def most_runs(self) -> int:
        """Runs after which the study ends in any case, runs that are made again left out."""

    @property
    def block_size(self) -> int:
        """Runs that a block is expected to hold."""

    def outlook(self) -> str:
        """Say what will be run."""


def run_plan(design: Design) -> RunPlan:
    """Make the plan of the question that a study asks, as its role `plan` says.

    Raises:
        StudyError: the question cannot be asked of these treatments.
    """
    made: RunPlan = role(design.study.question, "plan").plan(design)
    return made
