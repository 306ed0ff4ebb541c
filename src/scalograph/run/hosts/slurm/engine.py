"""Define all that is asked of a cluster's queue: submit, state, cancel, end. Another engine is one more such class."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from scalograph.errors import HostError
from scalograph.protocol.facts import HostFacts


class EngineAwayError(HostError):
    """The queue does not answer now; jobs may go on all the same."""


class RefusedJobError(HostError):
    """The queue does not take a job."""


@dataclass(frozen=True, kw_only=True)
class JobRequest:
    """A job to submit: it gets `nodes` whole nodes for `limit_s` seconds, and runs a script.

    `name` is unique: by it a job is found again whose submission was not answered. An empty `partition` or `constraint`
    is the default one, or none.
    """

    name: str
    script: Path
    arguments: Sequence[str]
    folder: Path
    nodes: int
    limit_s: float
    partition: str = ""
    constraint: str = ""


class JobState(NamedTuple):
    """What the queue says of a job: whether it waits, runs, or has ended, and its own words for people."""

    kind: Literal["pending", "running", "ended"]
    text: str


class JobEnd(NamedTuple):
    """How a job ended. `by_others`: somebody cancelled it; nobody should submit it again unasked."""

    text: str
    by_others: bool = False


class Engine(Protocol):
    """A queue of jobs. Each call ends within a bounded time.

    Every method raises EngineAwayError if the queue does not answer.
    """

    def facts(self) -> HostFacts:
        """Return what a node of the partition is, and how many there are. Raises HostError: there is no such one."""

    def submit(self, request: JobRequest) -> str:
        """Submit a job, and return its id. Raises RefusedJobError: it is not taken, with the reason."""

    def find(self, name: str) -> str | None:
        """Return the id of a job by its name; None if the queue has none."""

    def state(self, job: str) -> JobState | None:
        """Return the state of a job; None if the queue does not know it, or no more."""

    def cancel(self, job: str) -> None:
        """Cancel a job; one that has ended is left alone."""

    def end(self, job: str) -> JobEnd | None:
        """Return how a job ended; None if nothing knows it."""
