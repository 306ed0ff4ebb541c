"""The parts of a record: the events of protocol/probe.md as checked values.

A part holds the fields of its event without `event` and its `run` name. Absent figures are None, never 0.
"""

from typing import Annotated, Any, Literal, Self

import msgspec
from msgspec import Meta
from msgspec.structs import asdict, replace

from scalograph.errors import ProtocolError
from scalograph.protocol.record_processes import (
    LAST,
    MAX_COPIES,
    MAX_CPUS,
    MAX_NAMES,
    MAX_TEXT,
    CopyIndex,
    Count,
    Guest,
    HistogramEvent,
    InterferingProcess,
    JobStep,
    MachineSetting,
    Nanoseconds,
    Number,
    Others,
    PerBin,
    PerCpu,
    Phases,
    ProcessEvent,
    RecordPart,
    Replay,
    Speed,
    Text,
    ValueName,
    Work,
)

MAX_LINE_BYTES = 4 << 20
MAX_ITERATIONS = 1_000_000
MAX_NUMBERS = 100_000
_LAST_WORK = 2**64 - 1

Status = Literal["ok", "failed", "signal", "timeout", "interrupted", "not started", "protocol"]


class Degraded(RecordPart, frozen=True):
    """Something that was not granted, the answer of the kernel, and what would help."""

    what: Text
    why: Text
    fix: Text


class Header(RecordPart, frozen=True, kw_only=True):
    """Who measured, with which means."""

    protocol: Literal[1]
    probe: Annotated[str, Meta(max_length=64)]
    kind: Literal["native", "degraded"]
    containment: Literal["cgroup", "namespace", "best effort"]
    cgroup: Annotated[str, Meta(pattern=r"^scalograph-[0-9a-f]{1,64}$")] | None = None
    backend: Literal["kernel", "plain"]
    degraded: Annotated[list[Degraded], Meta(max_length=256)] = []


class InForce(RecordPart, frozen=True):
    """Placement as the kernel gave it back before exec."""

    cpus: PerCpu
    policy: Text
    priority: int
    nice: int


class PlacementChange(RecordPart, frozen=True, omit_defaults=True):
    """What of `in_force` was otherwise when a copy had ended; None: the same."""

    cpus: PerCpu | None = None
    policy: Text | None = None
    priority: int | None = None
    nice: int | None = None


class CopyEvent(RecordPart, frozen=True):
    """One started copy of a command. Times are nanoseconds since the gate."""

    copy_index: CopyIndex
    command: Annotated[int, Meta(ge=0, lt=64)]
    pid: int | None = None
    exit_code: int | None = None
    signal: int | None = None
    start_ns: Nanoseconds | None = None
    exec_ns: Nanoseconds | None = None
    end_ns: Nanoseconds | None = None
    reap_ns: Nanoseconds | None = None
    user_ns: Count | None = None
    system_ns: Count | None = None
    in_force: InForce | None = None
    changed: PlacementChange | None = None
    stdout: str | None = None
    stdout_truncated: bool = False
    stderr_tail: str = ""

    @property
    def placement_at_end(self) -> InForce | None:
        """What was in force when it had ended; None where that is not known."""
        if self.in_force is None or self.changed is None:
            return None
        changes = {name: value for name, value in asdict(self.changed).items() if value is not None}
        return replace(self.in_force, **changes)


class Iterations(RecordPart, frozen=True):
    """Iterations of one copy, as arrays of equal length.

    `low_ns` and `high_ns` bound the time of each without other processes; None where unknown.
    """

    copy_index: CopyIndex
    index: list[Work]
    start_ns: list[Nanoseconds]
    end_ns: list[Nanoseconds]
    work: list[Work]
    cpu_ns: list[Work | None]
    low_ns: list[Count] | None = None
    high_ns: list[Count] | None = None
    sleep_ns: list[Count] | None = None

    def __post_init__(self) -> None:
        bounds = [len(bound) for bound in (self.low_ns, self.high_ns, self.sleep_ns) if bound is not None]
        lengths = {len(self.start_ns), len(self.end_ns), len(self.work), len(self.cpu_ns), *bounds}
        if lengths != {len(self.index)}:
            raise ValueError("arrays of equal length")
        if max(self.work, default=0) > _LAST_WORK:
            raise ValueError(f"work of at most {_LAST_WORK}")


class Values(RecordPart, frozen=True):
    """Other figures that one copy reported, in order of writing."""

    copy_index: CopyIndex
    values: Annotated[dict[ValueName, list[Number]], Meta(max_length=MAX_NAMES)]


class Task(RecordPart, frozen=True):
    """One task of the tree in the timeline."""

    tid: int
    name: Text
    cpu_ns: Count
    wait_ns: Count | None = None
    per_cpu_ns: PerCpu = []
    migrations: Count | None = None


class Timeline(RecordPart, frozen=True, kw_only=True):
    """On-CPU time of the tree in bins of `bin_ns`, one row for each CPU."""

    source: Text | None = None
    bin_ns: Annotated[int, Meta(ge=1, le=LAST)]
    cpus: PerCpu
    busy_ns: Annotated[list[PerBin], Meta(max_length=MAX_CPUS)]
    waiting_ns: PerBin | None = None
    tree_busy_ns: PerBin | None = None
    tasks: Annotated[list[Task], Meta(max_length=64)] = []

    def __post_init__(self) -> None:
        if len(self.busy_ns) != len(self.cpus):
            raise ValueError("one row of busy_ns for each of cpus")
        if len({len(bins) for bins in (*self.busy_ns, self.waiting_ns or ()) if bins}) > 1:
            raise ValueError("as many bins in each row of busy_ns and in waiting_ns")


class RunFigures(RecordPart, frozen=True):
    """The run as a whole: the last event."""

    status: Status
    reason: Text | None = None
    wall_ns: Count | None = None
    wall_source: Literal["kernel", "gate"] | None = None
    wall_outer_ns: Count | None = None
    tree_wall_ns: Count | None = None
    gate_ns: Count | None = None
    gate_skew_ns: Count | None = None
    queue_drain_ns: Count | None = None
    start_skew_ns: Count | None = None
    user_ns: Count | None = None
    system_ns: Count | None = None
    cpu_ns: Count | None = None
    cpu_source: Literal["cgroup", "records", "rusage"] | None = None
    wait_ns: Count | None = None
    neighbor_ns: Count | None = None
    neighbor_per_cpu_ns: PerCpu | None = None
    neighbors: Annotated[list[InterferingProcess], Meta(max_length=9)] | None = None
    others: Others | None = None
    wait_scope: Literal["preemption", "preemption and wakeup"] | None = None
    replay: Replay | None = None
    n_switches: Count | None = None
    n_preemptions: Count | None = None
    n_migrations: Count | None = None
    n_minor_faults: Count | None = None
    n_major_faults: Count | None = None
    n_blocks_in: Count | None = None
    n_blocks_out: Count | None = None
    max_rss_bytes: Count | None = None
    n_tasks: Count | None = None
    n_processes: Count | None = None
    per_cpu_ns: PerCpu | None = None
    outside_ns: Count | None = None
    steal_ns: Count | None = None
    worst_steal_ns: Count | None = None
    machine_busy_ns: Count | None = None
    memory_stall_ns: Count | None = None
    io_stall_ns: Count | None = None
    machine_memory_stall_ns: Count | None = None
    machine_io_stall_ns: Count | None = None
    throttled_ns: Count | None = None
    quota_cpus: Annotated[float, Meta(gt=0)] | None = None
    memory_limit_bytes: Count | None = None
    memory_peak_bytes: Count | None = None
    n_memory_reclaims: Count | None = None
    n_memory_kills: Count | None = None
    thermal_ns: Count | None = None
    stopped_ns: Count | None = None
    n_swapped_in: Count | None = None
    disk_bytes: Count | None = None
    clock_step_ns: Nanoseconds | None = None
    asleep_ns: Count | None = None
    clock_source_changed: bool | None = None
    frequency_hz: Count | None = None
    n_survivors: Count | None = None
    observer_ns: Count | None = None
    timeline_cost_ns: Count | None = None
    n_lost_records: Count | None = None
    speed: Speed | None = None
    degraded: Annotated[list[Degraded], Meta(max_length=256)] = []


class MachinePart(RecordPart, frozen=True, kw_only=True):
    """What was measured on one machine of a run on several: its commands are those of the record by number.

    `clock_offset_ns`: its clock minus that of whoever opened the gates, within `clock_error_ns`; no time is computed
    by it. `gate_lag_ns`: its gate opened so long after the order for the first one, at most.
    """

    commands: Annotated[list[Annotated[int, Meta(ge=0, lt=64)]], Meta(max_length=64)]
    header: Header
    run: RunFigures
    boot_id: Annotated[str, Meta(max_length=64)] | None = None
    clock_offset_ns: Nanoseconds | None = None
    clock_error_ns: Count | None = None
    gate_lag_ns: Count | None = None


class ErrorEvent(RecordPart, frozen=True):
    """Why a probe carried out no run."""

    where: Text
    found: Text
    expected: Text
    fix: Text

    def make_error(self) -> ProtocolError:
        """The same four texts, to be raised."""
        return ProtocolError(f"probe: {self.where}", self.found, self.expected, self.fix)


class Output(RecordPart, frozen=True):
    """Captured text of a copy that did not fit in the line of its `copy` event."""

    copy_index: CopyIndex
    stdout: str


class Capability(RecordPart, frozen=True):
    """One means of measurement, and whether this host grants it."""

    name: Text
    granted: bool
    why: Text | None = None
    fix: Text | None = None


class Capabilities(RecordPart, frozen=True):
    """What a probe would be granted here."""

    protocol: Literal[1]
    probe: Annotated[str, Meta(max_length=64)]
    capabilities: Annotated[list[Capability], Meta(max_length=256)]


class Record(RecordPart, frozen=True, kw_only=True):
    """All that is known of one run; what the journal keeps."""

    header: Header
    copies: Annotated[list[CopyEvent], Meta(max_length=MAX_COPIES)] = []
    iterations: list[Iterations] = []
    values: Annotated[list[Values], Meta(max_length=MAX_COPIES)] = []
    phases: Annotated[list[Phases], Meta(max_length=64)] = []
    histograms: Annotated[list[HistogramEvent], Meta(max_length=256)] = []
    processes: Annotated[list[ProcessEvent], Meta(max_length=64)] = []
    timeline: Timeline | None = None
    guest: Guest | None = None
    job: JobStep | None = None
    settings: Annotated[list[MachineSetting], Meta(max_length=64)] = []
    counters: Annotated[dict[ValueName, Count], Meta(max_length=64)] | None = None
    boot_id: Annotated[str, Meta(max_length=64)] | None = None
    machines: Annotated[list[MachinePart], Meta(max_length=64)] = []
    run: RunFigures

    def __post_init__(self) -> None:
        if sum([len(part.index) for part in self.iterations]) > MAX_ITERATIONS:
            raise ValueError(f"at most {MAX_ITERATIONS} iterations a run")
        if sum([len(numbers) for part in self.values for numbers in part.values.values()]) > MAX_NUMBERS:
            raise ValueError(f"at most {MAX_NUMBERS} numbers a run")

    def driver_copies(self) -> list[CopyEvent]:
        """The copies that are none of a service: all, in a run without services."""
        if not self.processes:
            return self.copies
        services = {process.command for process in self.processes if process.role == "service"}
        return [copy for copy in self.copies if copy.command not in services]

    def last_words(self, most: int) -> str:
        """The last line that copies wrote to stderr, up to `most` characters; of a service if that is why it failed."""
        # The driver's complaint follows from it.
        reason = f"{self.run.reason} "
        named = {process.command for process in self.processes if f"service {process.name} " in reason}
        copies = [copy for copy in self.copies if copy.command in named] or self.copies
        lines = [line.strip() for copy in copies for line in copy.stderr_tail.splitlines()]
        return next((line[:most] for line in reversed(lines) if line), "")

    def replace_values(self, **figures: Any) -> Self:
        """The same record with other figures of the run; they are not checked."""
        return replace(self, run=replace(self.run, **figures))

    def replace_settings(self, settings: list[MachineSetting]) -> Self:
        """The same record with the settings of the machine that the run changed."""
        return replace(self, settings=settings)

    def replace_counters(self, counters: dict[str, int] | None) -> Self:
        """The same record with what the kernel counted meanwhile."""
        return replace(self, counters=counters)

    def mark_failed(self, reason: str) -> Self:
        """The same record, of a run that has failed."""
        return self.replace_values(status="failed", reason=reason[:MAX_TEXT])

    def drop_stderr(self) -> Self:
        """The same record without what the copies wrote to stderr."""
        return replace(self, copies=[replace(copy, stderr_tail="") for copy in self.copies])

    def largest(self) -> str:
        """What takes most room in it, in words: as many of what, and what to do."""
        n_copies, n_iterations = len(self.copies), sum(len(part.index) for part in self.iterations)
        n_values = sum(len(numbers) for part in self.values for numbers in part.values.values())
        parts = {
            f"{n_copies} copies: start fewer": self.copies,
            f"{n_iterations} iterations: ask for fewer": self.iterations,
            f"{n_values} values of the workload: report fewer": self.values,
            f"{len(self.histograms)} histograms: report fewer": self.histograms,
        }
        return max(parts, key=lambda words: len(msgspec.json.encode(parts[words])))


def make_failed_record(reason: str, header: Header | None = None) -> Record:
    """The record of a run of which no probe told anything, or its `header` only."""
    unknown = Header(protocol=1, probe="unknown", kind="native", containment="best effort", backend="plain")
    return Record(header=header or unknown, run=RunFigures(status="failed", reason=reason[:MAX_TEXT]))
