"""Findings of a parallel build: its phases, its load, and the builds that were discarded."""

from pydantic import Field

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.plain import Level, Model


class BuildPhase(Model):
    """One phase of the builds of one configuration."""

    configuration: dict[str, Level]
    phase: str = Field(description="`image` or `modules`")
    share: Estimate = Field(description="of the wall time of a build")
    cpu_percent: Estimate | None = Field(default=None, description="null where the workload does not tell it")
    tasks: Estimate = Field(description="tasks on a CPU, on average")
    runnable: Estimate | None = Field(default=None, description="tasks on a CPU or waiting for one after a preemption")


class BuildLoad(Model):
    """Runnable tasks of the builds of one configuration, from start to end."""

    configuration: dict[str, Level]
    jobs: float
    n_cpus: int
    phases: list[str] = Field(description="empty where the workload tells none")
    course: list[float] = Field(description="tasks in each tenth of the window, mean of the runs that count")
    most_over_jobs: Estimate = Field(description="the largest tenth of the first half, over the number of jobs")
    last_over_first: Estimate = Field(description="typical tasks in the last third over those in the first")


class FirstBuild(Model):
    """A build that was made first and discarded."""

    run: str
    n_major_faults: int | None = Field(default=None, description="pages that it waited for")
    read_bytes: int | None = Field(default=None, description="what it read from disk")


class LaterBuilds(Model):
    """The pages that the builds waited for which count."""

    n: int
    n_major_faults: int = Field(description="of all together")
    variance: float = Field(default=0.0, description="of the pages of one build")


class Builds(Model):
    """The part of the reading `parallel-build`."""

    phases: list[BuildPhase] = Field(default=[], max_length=512)
    loads: list[BuildLoad] = Field(default=[], max_length=256)
    first: list[FirstBuild] = Field(default=[], max_length=64)
    later: LaterBuilds | None = Field(default=None, description="null where faults are unknown")
