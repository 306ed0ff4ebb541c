"""A limit on memory: cgroups of their own for what a run starts, without swap; neither probe nor session is limited.

Beyond it the kernel first takes back pages that it can read again from files, which costs time, and then kills.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from mmap import PAGESIZE
from pathlib import Path

from scalograph.control.capacity import (
    CgroupControl,
    CgroupLimit,
    find_cgroup_refusal,
    make_limited_cgroup,
    make_quota_cgroup,
    quota_in_tree,
)  # fmt: skip
from scalograph.control.control import Launch, LevelError
from scalograph.control.isolation import Refusal
from scalograph.control.settings import Setting
from scalograph.control.store import Store
from scalograph.errors import HostError
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.record import Record
from scalograph.system.cgroups import MEMORY as CONTROLLER
from scalograph.system.cgroups import CgroupTree, V1Tree, controller_tree, read

MEMORY = "memory"
MIB = 1 << 20
# A program that does nothing needs about as much to start; no machine has more.
MIN_MIB, MAX_MIB = 0.5, 1 << 24
_WITHOUT = "leave limits of memory out"


def find_memory_refusal(root: Path = Path("/")) -> Refusal | None:
    """Find what prevents a limit of memory, by reading only; None if nothing does."""
    return find_cgroup_refusal(CONTROLLER, _WITHOUT, root)


class MemoryControl(CgroupControl):
    """Levels are MiB, such as 256, of all that a run starts together, and "none"."""

    name = MEMORY

    def accepts(self, level: float, facts: HostFacts) -> tuple[bool, str]:
        return MIN_MIB <= level <= MAX_MIB, f"MiB from {MIN_MIB}, which starting a program takes"

    def refuse_beyond(self, level: float, facts: HostFacts) -> None:
        if facts.memory_bytes is not None and level * MIB > facts.memory_bytes:
            total = facts.memory_bytes // MIB
            raise LevelError(f"memory {level:g} MiB; this host has {total}", f"at most {total}", "lower the level")

    def set_limit(self, launch: Launch, level: float | None) -> Launch:
        return replace(launch, max_memory=None if level is None else memory_bytes(level))

    def apply_limit(self, level: float) -> AbstractContextManager[None]:
        """Return nothing to hold: cgroups are made with the launches of a run (`process_cpus.apply_limits`)."""
        return nullcontext()


def has_unified_memory() -> bool:
    """Tell whether limits of memory are of cgroup v2 here: there a process has those of CPU time in the same cgroup."""
    return not isinstance(controller_tree(CONTROLLER), V1Tree)


def memory_bytes(mib: float) -> int:
    """Return the whole pages of so many MiB, in bytes: the kernel keeps no other limit."""
    return int(mib * MIB) // PAGESIZE * PAGESIZE


@contextmanager
def make_memory_cgroup(
    n_bytes: int, cpus: float | None = None, tree: CgroupTree | None = None, store: Store | None = None,
    root: Path = Path("/"),
) -> Iterator[tuple[Path, ...]]:  # fmt: skip
    """Yield the folders of empty cgroups with so much memory, and CPU time for `cpus`; afterwards remove them.

    Of cgroup v2 it is one folder, of v1 one for each controller, that of memory first. Tests pass a cgroup tree, a
    store of changes and a root in place of the machine's. Raises HostError if a limit is refused (with the kernel's
    reason), is lost before the end, or a smaller one holds.
    """
    if refused := find_memory_refusal(root):
        raise HostError(MEMORY, refused.why, "the controller memory, and leave to make a cgroup", refused.fix)
    store, tree = store or Store.locate(), tree or controller_tree(CONTROLLER, root)
    assert tree is not None, "refused where there is none"
    _refuse_smaller(n_bytes, tree)
    limit = CgroupLimit(
        MEMORY, f"{n_bytes / MIB:g} MiB", _WITHOUT, Setting.MEMORY_DELEGATION, Setting.MEMORY_LEAF,
        write=partial(_write, n_bytes), prove=partial(_prove, n_bytes),
    )  # fmt: skip
    with ExitStack() as held:
        if cpus is not None and not isinstance(tree, V1Tree):
            quota, home, _ = quota_in_tree(cpus, None, store, root)
            yield (held.enter_context(make_limited_cgroup(limit, tree, store, [(quota, home)])),)
            return
        folders = [held.enter_context(make_limited_cgroup(limit, tree, store))]
        if cpus is not None:
            folders.append(held.enter_context(make_quota_cgroup(cpus, None, store, root)))
        yield tuple(folders)


def _refuse_smaller(n_bytes: int, tree: CgroupTree) -> None:
    """Refuse a limit beyond that of our own cgroup or one above: what a run starts would leave that one."""
    own = tree.own_folder() or tree.mount
    for folder in (home for home in (own, *own.parents) if home.is_relative_to(tree.mount)):
        most = _read_limit(folder)
        if most is not None and most < n_bytes:
            excess = f"{n_bytes / MIB:g} MiB, but {most / MIB:g} MiB are the limit of our own cgroup"
            raise HostError(MEMORY, excess, "a lower level", "lower the level, or start outside that cgroup")


def _read_limit(folder: Path) -> int | None:
    """Return the limit of one cgroup, of either version, in bytes; None if it has none."""
    text = read(folder / "memory.max") or read(folder / "memory.limit_in_bytes") or ""
    return int(text) if text.isdecimal() and len(text) < 20 else None


def _write(n_bytes: int, tree: CgroupTree, folder: Path) -> None:
    """Write the limit, then take swap away: of v1 that is a limit of both together."""
    is_first = isinstance(tree, V1Tree)
    tree.write(folder / ("memory.limit_in_bytes" if is_first else "memory.max"), str(n_bytes))
    swap = folder / ("memory.memsw.limit_in_bytes" if is_first else "memory.swap.max")
    if swap.exists():  # not where the kernel counts no swap
        tree.write(swap, str(n_bytes if is_first else 0))


def _prove(n_bytes: int, folder: Path) -> None:
    if (limit := _read_limit(folder)) != n_bytes:
        in_force = "none" if limit is None else f"{limit / MIB:g} MiB"
        raise HostError(MEMORY, f"in force: {in_force}", f"{n_bytes / MIB:g} MiB", "see who else writes to our cgroups")


@dataclass(frozen=True)
class MemoryUse:
    """What a cgroup of memory counted: the most bytes at once, times at the limit, and killed processes."""

    peak: int | None
    n_reclaims: int
    n_kills: int


def read_memory_use(folder: Path) -> MemoryUse:
    """Read the counters of a cgroup of either version; what a kernel does not count is 0, an unknown peak None."""
    events = _counters(folder / "memory.events") or _counters(folder / "memory.oom_control")
    peak = read(folder / "memory.peak") or read(folder / "memory.max_usage_in_bytes") or ""
    n_at_limit = read(folder / "memory.failcnt") or str(events.get("max", 0))
    return MemoryUse(
        int(peak) if peak.isdecimal() else None, int(n_at_limit) if n_at_limit.isdecimal() else 0,
        events.get("oom_kill", 0),
    )  # fmt: skip


def _counters(file: Path) -> dict[str, int]:
    pairs = (line.split() for line in (read(file) or "").splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdecimal()}


def add_memory_use(record: Record, launches: Sequence[Launch]) -> Record:
    """Return the record of a run with what its cgroups of memory counted; it failed if a process was killed."""
    limited = {launch.cgroups[0]: launch for launch in launches if launch.max_memory is not None and launch.cgroups}
    if not limited:
        return record
    uses = {folder: read_memory_use(Path(folder)) for folder in limited}
    record = record.replace_values(
        memory_limit_bytes=sum(launch.max_memory or 0 for launch in limited.values()),
        memory_peak_bytes=sum(use.peak or 0 for use in uses.values()) or None,
        n_memory_reclaims=sum(use.n_reclaims for use in uses.values()),
        n_memory_kills=sum(use.n_kills for use in uses.values()),
    )
    for folder, launch in limited.items():
        if uses[folder].n_kills:
            whose = f"{launch.name}: " if launch.name else ""
            return record.mark_failed(
                f"{whose}killed for memory at its limit of {(launch.max_memory or 0) / MIB:g} MiB"
            )
    return record
