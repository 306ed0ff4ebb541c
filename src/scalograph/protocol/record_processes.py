"""Parts of a record: what each command of several processes used, what a driver saw; a guest, a job, a setting."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

MAX_COPIES = 4096
MAX_NAMES = 256
MAX_CPUS = 8192
MAX_TEXT = 4096
LAST = 2**63 - 1  # the largest number for which a reader of records has a place

Count = Annotated[int, Meta(ge=0, le=LAST)]
Nanoseconds = Annotated[int, Meta(ge=-LAST, le=LAST)]  # a point in time may lie before the gate
Work = Annotated[int, Meta(ge=0)]
Number = Annotated[int, Meta(ge=-LAST, le=LAST)] | float
Text = Annotated[str, Meta(max_length=MAX_TEXT)]
Name = Annotated[str, Meta(min_length=1, max_length=128)]
ValueName = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
CopyIndex = Annotated[int, Meta(ge=0, lt=MAX_COPIES)]
PerCpu = Annotated[list[Count], Meta(max_length=MAX_CPUS)]
PerBin = Annotated[list[Count], Meta(max_length=512)]


class RecordPart(Struct, frozen=True, gc=False, rename={"copy_index": "copy"}):
    """A frozen part of a record; fields of a later version are ignored."""


class Awaits(RecordPart, frozen=True):
    """What a run waits for whose gate is opened from outside; `clock_ns` is CLOCK_REALTIME there."""

    what: Literal["gate", "window", "release", "end"]
    clock_ns: Count


LAST_BUCKET = 7295
Bucket = Annotated[int, Meta(ge=0, le=LAST_BUCKET)]


class Phase(RecordPart, frozen=True):
    """What a workload said that it was doing, from when to when."""

    name: ValueName
    start_ns: Nanoseconds
    end_ns: Nanoseconds


class Phases(RecordPart, frozen=True):
    """All phases of one copy, in order of writing."""

    copy_index: CopyIndex
    phases: Annotated[list[Phase], Meta(max_length=64)]


class HistogramEvent(RecordPart, frozen=True):
    """How long an operation took in a phase, as counts by bucket (protocol/workload.md)."""

    copy_index: CopyIndex
    phase: ValueName
    operation: ValueName
    index: Annotated[list[Bucket], Meta(max_length=LAST_BUCKET + 1)]
    count: Annotated[list[Count], Meta(max_length=LAST_BUCKET + 1)]

    def __post_init__(self) -> None:
        if len(self.index) != len(self.count):
            raise ValueError("arrays of equal length")


class Partner(RecordPart, frozen=True, kw_only=True):
    """A user process outside the run that woke a task of it, or was woken by one."""

    pid: int
    name: Annotated[str, Meta(max_length=64)]
    n_wakes: Count
    taken_ns: Count


class Replay(RecordPart, frozen=True, kw_only=True):
    """The time of the run had nobody else used its CPUs, between `low_ns` and `high_ns`.

    `low_ns` also excludes waits for CPUs that tasks of the run had.
    """

    low_ns: Count
    high_ns: Count
    overlap_ns: Count
    sleep_ns: Count
    n_wakes: Count
    partners: Annotated[list[Partner], Meta(max_length=8)] = []

    def __post_init__(self) -> None:
        if self.low_ns > self.high_ns:
            raise ValueError("low_ns of at most high_ns")


class ProcessEvent(RecordPart, frozen=True, kw_only=True):
    """What the whole subtree of one command used in the window; None where that cannot be known."""

    command: Annotated[int, Meta(ge=0, lt=64)]
    name: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9-]{0,63}$")]
    role: Literal["service", "driver"]
    start_ns: Nanoseconds | None = None
    ready_ns: Count | None = None
    stop_ns: Count | None = None
    stopped_by: Annotated[str, Meta(max_length=16)] | None = None
    cpu_ns: Count | None = None
    user_ns: Count | None = None
    system_ns: Count | None = None
    cpu_source: Literal["cgroup", "records", "rusage"] | None = None
    wait_ns: Count | None = None
    wait_scope: Literal["preemption", "preemption and wakeup"] | None = None
    n_switches: Count | None = None
    max_rss_bytes: Count | None = None
    n_tasks: Count | None = None
    per_cpu_ns: PerCpu | None = None
    busy_ns: PerBin | None = None
    cpu_stall_ns: Count | None = None
    memory_stall_ns: Count | None = None
    io_stall_ns: Count | None = None
    throttled_ns: Count | None = None
    quota_cpus: Annotated[float, Meta(gt=0)] | None = None
    cpus: PerCpu | None = None


# A signal, as `stop.signal` of a study has it.
SignalName = Annotated[str, Meta(max_length=16)]


class EndedService(RecordPart, frozen=True, kw_only=True):
    """One of them: the signal that it was to end by, the one that ended it, and how long that took.

    `stopped_by` and `stop_ns` are None if it ended by itself.
    """

    name: Name
    stop_signal: SignalName
    stopped_by: SignalName | None = None
    stop_ns: Count | None = None
    exit_code: int | None = None
    signal: int | None = None

    @property
    def was_killed(self) -> bool:
        """Whether it had not ended in time."""
        return self.stopped_by == "KILL" != self.stop_signal


class ServicesEnded(RecordPart, frozen=True, kw_only=True):
    """Those that were up together, in the order in which they were started, after runs of `block`.

    `n_survivors` are processes that they left, which were killed; `reason` is what was wrong; None: nothing.
    """

    block: int
    services: Annotated[list[EndedService], Meta(max_length=64)]
    n_survivors: Count | None = None
    reason: Text | None = None


class InterferingProcess(RecordPart, frozen=True, kw_only=True):
    """A process that had a CPU for which a task of the run waited."""

    pid: int | None = None
    name: Annotated[str, Meta(max_length=64)] | None = None
    kernel: bool = False
    observer: bool = False
    taken_ns: Count
    family: int | None = None
    partner: bool = False


class OtherProcess(RecordPart, frozen=True, kw_only=True):
    """CPU time of a process outside the run, with all that descend from it; `before_ns` it had used at `age_ns`.

    `between_ns` is what it used in `n_pauses` pauses between earlier runs, which took `pause_ns`.
    """

    pid: int
    name: Annotated[str, Meta(max_length=64)]
    cpu_ns: Count
    before_ns: Count = 0
    age_ns: Count = 0
    n_wakes: Count = 0
    between_ns: Count = 0
    pause_ns: Count = 0
    n_pauses: Count = 0


class Others(RecordPart, frozen=True, kw_only=True):
    """The processes outside the run that used most CPU time between two moments."""

    from_ns: Count
    to_ns: Count
    processes: Annotated[list[OtherProcess], Meta(max_length=16)]


OptionalPerCpu = Annotated[list[Count | None], Meta(max_length=MAX_CPUS)]


class Speed(RecordPart, frozen=True, kw_only=True):
    """Time of a loop of fixed length during the run: one value for each online CPU, None without a sample."""

    mean_ns: OptionalPerCpu
    p10_ns: OptionalPerCpu
    p90_ns: OptionalPerCpu
    n: PerCpu
    cost_ns: Count

    def __post_init__(self) -> None:
        if not len(self.mean_ns) == len(self.p10_ns) == len(self.p90_ns) == len(self.n):
            raise ValueError("arrays of equal length")


class Guest(RecordPart, frozen=True, kw_only=True):
    """What was booted for a run. `has_times` says whether its times are those of a machine."""

    kernel: Text
    command_line: Text
    cpus: Text
    accelerator: Literal["kvm", "tcg"]
    boot_ns: Count
    has_times: bool = True


# What is degraded of a run some of whose tasks were not watched.
TASKS = "CPU time of tasks"


class JobTask(RecordPart, frozen=True, kw_only=True):
    """What one task (rank) of a job step used on its node; its time is by the clock there."""

    rank: Annotated[int, Meta(ge=0, lt=MAX_COPIES)]
    node: Name
    wall_ns: Count | None = None
    cpu_ns: Count | None = None


class JobStep(RecordPart, frozen=True, kw_only=True):
    """Where in a cluster a run was made: the job, its nodes, and what a reference run on each of them took.

    `n_machines` counts the machines of all nodes of the job, by their boots: fewer than nodes if some share one. `lost`
    has the reasons of earlier jobs that ended while the run was awaited.
    """

    engine: Literal["slurm"]
    job: Annotated[str, Meta(max_length=64)]
    nodes: Annotated[list[Name], Meta(max_length=MAX_COPIES)] = []
    n_nodes: Count
    n_machines: Count | None = None
    reference_ns: Annotated[list[Count | None], Meta(max_length=MAX_COPIES)] = []
    tasks: Annotated[list[JobTask], Meta(max_length=MAX_COPIES)] = []
    lost: Annotated[list[Text], Meta(max_length=16)] = []

    @property
    def load_balance(self) -> float | None:
        """The mean CPU time of its tasks over the largest (POP); None unless that of two or more is known."""
        times = [task.cpu_ns for task in self.tasks if task.cpu_ns]
        return sum(times) / len(times) / max(times) if len(times) == len(self.tasks) > 1 else None


class MachineSetting(RecordPart, frozen=True):
    """A setting of the whole machine that the run changed, each value as it was read.

    `in_force` at its start, `at_end` of it, `after` it had been restored.
    """

    name: Name
    before: Text
    asked: Text
    in_force: Text
    at_end: Text
    after: Text
