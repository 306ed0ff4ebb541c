"""Facts about a host as plain values, so that checking and planning touch no machine, and orders of its CPUs."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from pydantic import BaseModel, ConfigDict, Field

# Release of a JVM whose version is unknown: no check of releases refuses it.
LATEST = 999


class Value(BaseModel):
    """A plain frozen value; unknown fields of a later version are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class CpuFact(Value):
    """A logical CPU that this process may use; CPUs with equal `core`, `package`, `node`, `l2` or `l3` share it."""

    cpu: int
    core: int
    package: int = 0
    node: int = 0
    l2: int | None = None
    l3: int | None = None
    max_khz: int | None = None
    speed_class: int | None = Field(
        default=None, exclude_if=lambda value: value is None, description="as `doctor --cpus` measured it; 0: fastest"
    )
    shared: int | None = Field(
        default=None, exclude_if=lambda value: value is None, description="lowest CPU of those measured to share a core"
    )


class Jvm(Value):
    """An installed Java launcher and its version."""

    name: str
    java: str
    release: int
    build: str
    vendor: str = ""
    javac: str | None = None


class KernelPackage(Value):
    """A kernel package of the distribution, and the release that it boots."""

    level: str
    release: str
    package: str
    version: str
    sha256: str


class ProgramFile(Value):
    """A program on another machine: its path, with ~ for the home, and its content."""

    path: str
    bytes: int
    sha256: str


class ClusterFacts(Value):
    """A partition of a cluster: its nodes that can be used, the time limit of a job, and all names of partitions."""

    engine: Literal["slurm"]
    partition: str
    n_nodes: int
    limit_s: float | None = Field(default=None, description="of a job; None: no limit")
    partitions: tuple[str, ...] = ()


# Not in the journal's `machine`: permissions, what each run records itself, and what runs start with.
_EXCLUDED = {
    *("kernels", "offered_kernels", "refused", "granted_priority", "granted_nice"),
    *("environment", "program", "schedulers"),
}


class HostFacts(Value):
    """Facts of a host before a study; an unreadable fact is None, never a guess."""

    cpus: tuple[CpuFact, ...]
    memory_bytes: int | None = None
    kernel: str | None = None
    distribution: str | None = None
    compiler: str | None = Field(default=None, description="what the C compiler says of itself")
    architecture: str | None = Field(default=None, description="instruction set, such as x86_64")
    clock_mhz: float | None = Field(default=None, description="of the first CPU when it was read")
    caches: dict[str, int] = Field(default={}, description="of the first CPU: name_bytes -> size")
    disk_rotational: bool | None = Field(default=None, description="of the disk that / lies on")
    cpu_model: str | None = None
    microcode: str | None = None
    governor: str | None = None
    clocksource: str | None = None
    hypervisor: str | None = None
    autogroup: bool | None = None
    cpu_accounting: Literal["precise", "ticks"] | None = Field(
        default=None, description="whether the kernel measures user and system time, or samples them at its tick"
    )
    smt: bool | None = None
    cpu_quota: float | None = Field(default=None, description="CPUs' worth of time that our cgroups grant; None: all")
    kernel_command_line: tuple[str, ...] = ()
    jvms: tuple[Jvm, ...] = ()
    kernels: tuple[KernelPackage, ...] = Field(default=(), description="that are booted for runs, by level")
    offered_kernels: tuple[str, ...] = Field(default=(), description="levels that may be booted; empty: not known")
    accelerator: Literal["kvm", "tcg"] | None = Field(
        default=None, description="of guests in which runs are made, kvm or tcg; None: the machine itself makes them"
    )
    boot_id: str | None = Field(default=None, description="of the kernel that runs since the last boot")
    reached: Literal["ssh", "slurm"] | None = Field(
        default=None, description="how, if it is another machine; None: this one"
    )
    cluster: ClusterFacts | None = Field(default=None, description="in which runs are made; `cpus` are of one node")
    environment: dict[str, str] = Field(default={}, description="of another machine: what its runs get of it")
    program: ProgramFile | None = Field(default=None, description="of another machine: what a command starts there")
    schedulers: dict[str, str] | None = Field(
        default=None, description="programs of sched_ext and where they are, empty before it is built; None: not known"
    )
    elsewhere: dict[str, "HostFacts"] = Field(default={}, description="of other machines, by the process started there")
    refused: dict[str, str] = Field(default={}, description="control or level -> why it is not granted here")
    granted_priority: int = Field(default=99, description="highest static priority of fifo and rr; 0: none")
    granted_nice: int = Field(default=-20, description="lowest nice value")

    @property
    def is_rebooted(self) -> bool:
        """Tell whether it is another machine, booted with the kernel of each run."""
        return self.reached is not None and bool(self.offered_kernels)

    @property
    def n_cpus(self) -> int:
        """Count the CPUs that this process may use."""
        return len(self.cpus)

    def machine(self) -> dict[str, Any]:
        """Return the `machine` field of the journal: facts without names of people or hosts."""
        plain = self.model_dump(exclude={*_EXCLUDED, "cpus", "jvms", "elsewhere"})
        for name in ("accelerator", "reached", "cluster"):
            if plain[name] is None:
                del plain[name]
        plain["n_cpus"] = self.n_cpus
        plain["jvms"] = {jvm.name: jvm.build for jvm in self.jvms}
        plain["topology"] = [cpu.model_dump() for cpu in self.cpus]
        if self.elsewhere:
            plain["elsewhere"] = {name: facts.machine() for name, facts in self.elsewhere.items()}
        return plain


class _CountedFacts(msgspec.Struct):
    """Facts of a journal that enter calculations."""

    n_cpus: Annotated[int, msgspec.Meta(ge=1, le=1 << 20)] | None = None
    memory_bytes: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)] | None = None
    cpu_quota: Annotated[float, msgspec.Meta(ge=0, le=1 << 20)] | None = None


def machine_facts(facts: Any) -> dict[str, Any]:
    """Check the numbers in the `machine` field of a journal, and return its copy.

    Raises ValueError: it is no object, or a number is none.
    """
    msgspec.convert(facts, _CountedFacts)
    return dict(facts)


# What two CPUs may share, from the widest to the narrowest. Some small cores share an L2.
_SHARED: tuple[Callable[[CpuFact], int], ...] = (
    lambda cpu: cpu.package,
    lambda cpu: cpu.node,
    lambda cpu: -1 if cpu.l3 is None else cpu.l3,
    lambda cpu: -1 if cpu.l2 is None else cpu.l2,
    lambda cpu: cpu.core,
)


def _compact(cpus: Sequence[CpuFact]) -> list[CpuFact]:
    return sorted(cpus, key=lambda cpu: (*(share(cpu) for share in _SHARED), cpu.cpu))


def _scatter(cpus: Sequence[CpuFact]) -> list[CpuFact]:
    """Use the first CPUs of all cores before second ones, also on asymmetric packages or caches."""
    ranks: dict[int, list[CpuFact]] = {}
    n_used: Counter[int] = Counter()
    for cpu in _compact(cpus):
        ranks.setdefault(n_used[cpu.core], []).append(cpu)
        n_used[cpu.core] += 1
    return [cpu for _, rank in sorted(ranks.items()) for cpu in _round_robin(rank, _SHARED)]


def _round_robin(cpus: list[CpuFact], shares: Sequence[Callable[[CpuFact], int]]) -> list[CpuFact]:
    """Take one CPU of each group in turn, each group itself scattered over the narrower levels."""
    if not shares:
        return cpus
    groups: dict[int, list[CpuFact]] = {}
    for cpu in cpus:
        groups.setdefault(shares[0](cpu), []).append(cpu)
    queues = [_round_robin(group, shares[1:]) for group in groups.values()]
    longest = max((len(queue) for queue in queues), default=0)
    return [queue[turn] for turn in range(longest) for queue in queues if turn < len(queue)]


def _one_per_core(cpus: Sequence[CpuFact]) -> list[CpuFact]:
    first: dict[int, CpuFact] = {}
    for cpu in _compact(cpus):
        first.setdefault(cpu.core, cpu)
    return list(first.values())


def _siblings(cpus: Sequence[CpuFact]) -> list[CpuFact]:
    counts = Counter(cpu.core for cpu in cpus)
    return [cpu for cpu in _compact(cpus) if counts[cpu.core] > 1]


# Orders in which a placement uses the CPUs. `compact` fills one core, then one L2, one L3 cache, node and package after
# the other. `scatter` goes round packages, nodes, caches and cores, and puts two on one core when all cores are taken.
# `one-per-core` takes the first CPU of each core; `siblings` has the cores that have several CPUs.
ORDERS: Mapping[str, Callable[[Sequence[CpuFact]], list[CpuFact]]] = {
    "compact": _compact,
    "scatter": _scatter,
    "one-per-core": _one_per_core,
    "siblings": _siblings,
}
