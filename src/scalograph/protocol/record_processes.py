"""Parts of a record of a run of several processes: what each command used, and what a driver saw."""

from typing import Annotated, Literal

from msgspec import Meta

from scalograph.protocol.record_part import (
    CopyIndex,
    Count,
    Nanoseconds,
    PerBin,
    PerCpu,
    RecordPart,
    ValueName,
)

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
