"""Exclusive CPUs: a cgroup v2 partition, or a refusal with its reason. No process of others is ever moved."""

import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from scalograph.control.control import Control, Launch, Level, LevelError, unknown_level
from scalograph.control.scheduler import format_kernel_error
from scalograph.control.settings import Setting, delegation_change, leaf_change
from scalograph.control.store import Store, apply_change, lock_machine
from scalograph.errors import HostError
from scalograph.protocol.facts import HostFacts
from scalograph.system.cgroups import CgroupTree, cgroup2_mount, read, restore_masks, v1_mount
from scalograph.system.topology import parse_cpu_list
from scalograph.text.format import format_cpu_list

MASKS_PRESERVED_SINCE = (6, 2)
_ALLOWED = re.compile(r"^Cpus_allowed_list:\s*(\S+)$", re.MULTILINE)


def find_mask_at_risk(mount: Path, root: Path = Path("/")) -> str | None:
    """Find a process of others that would lose its mask to a partition; None if there is none, or all are preserved."""
    everywhere = _cpus(mount)
    if _preserves_masks(root) or not everywhere:
        return None
    for task in _tasks(root):
        mask = _mask(task)
        # A process with all CPUs of the machine, as most have, needs no second look.
        if mask and everywhere - mask and _cpuset(task, mount) - mask:
            return f"process {task.parents[1].name} ({read(task / 'comm')})"
    return None


def _preserves_masks(root: Path) -> bool:
    """Return whether the kernel preserves masks; a kernel of unknown release is assumed to."""
    release = re.match(r"(\d+)\.(\d+)", read(root / "proc/sys/kernel/osrelease") or "")
    return release is None or (int(release[1]), int(release[2])) >= MASKS_PRESERVED_SINCE


def _tasks(root: Path) -> Iterator[Path]:
    """Yield all threads but our own, whose masks we restore ourselves."""
    for process in (root / "proc").iterdir():
        if process.name.isdecimal() and int(process.name) != os.getpid():
            with suppress(OSError):  # it has ended
                yield from (process / "task").iterdir()


def _mask(task: Path) -> set[int]:
    """Return the mask; empty for kernel threads, which have no memory of their own, and for an ended process."""
    status = read(task / "status") or ""
    match = _ALLOWED.search(status)
    return set(parse_cpu_list(match[1])) if match and "\nVmSize:" in status else set()


def _cpuset(task: Path, mount: Path) -> set[int]:
    """Return the CPUs that its cgroup allows, by the nearest one above with a cpuset."""
    for line in (read(task / "cgroup") or "").splitlines():
        if line.startswith("0::/"):
            own = mount / line[len("0::/") :]
            above = (folder for folder in (own, *own.parents) if folder.is_relative_to(mount))
            return next((cpus for folder in above if (cpus := _cpus(folder))), set())
    return set()


def _cpus(folder: Path) -> set[int]:
    return set(parse_cpu_list(read(folder / "cpuset.cpus.effective") or ""))


ISOLATIONS = ("shared", "exclusive")
ISOLATION = "isolation"
_UNIFIED = "boot with systemd.unified_cgroup_hierarchy=1 (or cgroup_no_v1=all), or use shared CPUs"


@dataclass(frozen=True)
class Refusal:
    """Why something is not granted here, and what would help."""

    why: str
    fix: str


def find_isolation_refusal(root: Path = Path("/")) -> Refusal | None:
    """Find what prevents a partition, by reading only; None if nothing does."""
    mount = cgroup2_mount(root)
    if mount is None:
        return Refusal("no cgroup v2 is mounted", _UNIFIED)
    if "cpuset" not in (read(mount / "cgroup.controllers") or "").split():
        taken = v1_mount("cpuset", root)
        v1 = f"cgroup v1 has the cpuset controller ({taken})"
        return Refusal(v1 if taken else "cgroup v2 has no cpuset controller here", _UNIFIED)
    # Only the hierarchy's true root lacks this file, and only below a partition can there be another.
    if (mount / "cgroup.type").exists() and read(mount / "cpuset.cpus.partition") not in ("root", "isolated"):
        return Refusal("the visible root of cgroup v2 is no partition (a container)", "run outside the container")
    if refusal := find_write_refusal(mount / "cgroup.subtree_control", "use shared CPUs"):
        return refusal
    if (whose := find_mask_at_risk(mount, root)) is None:
        return None
    reason = f"before Linux 6.2 a partition resets others' CPU masks for good, that of {whose} for one"
    return Refusal(reason, "end what has a mask of its own, boot a newer kernel, or use shared CPUs")


def find_write_refusal(path: Path, without: str) -> Refusal | None:
    """Explain why we may not write to a cgroup's folder or file, and what would help; None if we may."""
    if os.access(path, os.W_OK):
        return None
    with suppress(OSError):
        if os.statvfs(path).f_flag & os.ST_RDONLY:
            fix = f"run outside the container, or {without}"
            return Refusal("EROFS: cgroups are mounted read-only (a container)", fix)
    fix = "run as root" if os.geteuid() else "run outside the container"
    return Refusal("EACCES: no permission to make a cgroup", f"{fix}, or {without}")


class IsolationControl(Control):
    """Levels are "shared" and "exclusive"; exclusive CPUs are those that `cpus` and `placement` choose."""

    may_conflict = True

    def check_level(self, level: Level, facts: HostFacts) -> None:
        if level not in ISOLATIONS:
            raise unknown_level(f"isolation {level!r}", level, ISOLATIONS)
        if level == "exclusive" and ISOLATION in facts.refused:
            refusal = f"isolation exclusive is refused here ({facts.refused[ISOLATION]})"
            raise LevelError(refusal, "shared", "leave it out; for the reason: scalograph doctor --all")

    def apply(self, launch: Launch, level: Level, facts: HostFacts) -> Launch:
        return replace(launch, exclusive=level == "exclusive")


@contextmanager
def reserve_cpus(
    cpus: Sequence[int], tree: CgroupTree | None = None, store: Store | None = None, root: Path = Path("/")
) -> Iterator[None]:
    """Reserve CPUs for this process and what it starts, while the context lasts.

    The kernel takes them from the sets of all others; only our own process is moved.

    Raises HostError if the partition is refused, with the kernel's reason, or lost before the end.
    """
    if refused := find_isolation_refusal(root):
        raise HostError("isolation exclusive", refused.why, "a cgroup v2 partition", refused.fix)
    store = store or Store.locate()
    tree = tree or CgroupTree(cgroup2_mount(root) or root)
    name = f"scalograph-{secrets.token_hex(8)}"
    folder = tree.leaf(name)
    with ExitStack() as held:
        held.enter_context(lock_machine(store=store))
        held.enter_context(restore_masks())
        if not tree.is_delegated():
            held.enter_context(apply_change(delegation_change(), lambda: tree.delegate(True), store))
        leaf = leaf_change(Setting.EXCLUSIVE_LEAF, name)
        held.enter_context(apply_change(leaf, lambda: tree.make_leaf(name), store))
        refused_cpus = f"CPUs {format_cpu_list(cpus)}"
        with report_refusal("isolation exclusive", refused_cpus, "a partition", "use fewer CPUs, or shared ones"):
            tree.write(folder / "cpuset.cpus", format_cpu_list(cpus))
            tree.write(folder / "cpuset.cpus.partition", "root")
            _prove(folder, cpus)
            held.enter_context(tree.enter(folder))
        yield
        _prove(folder, cpus)


@contextmanager
def report_refusal(name: str, amount: str, expected: str, fix: str) -> Iterator[None]:
    """Raise HostError, with the kernel's reason, where it refuses an amount of what `name` limits."""
    try:
        yield
    except OSError as error:
        refusal = f"the kernel refuses {amount} ({format_kernel_error(error)})"
        raise HostError(name, refusal, expected, fix) from error


def _prove(folder: Path, cpus: Sequence[int]) -> None:
    """Prove that the partition holds: the kernel keeps an impossible one as "root invalid (reason)"."""
    state = read(folder / "cpuset.cpus.partition")
    effective = read(folder / "cpuset.cpus.effective") or ""
    if state != "root" or parse_cpu_list(effective) != sorted(cpus):
        state_found = f"partition {state}, CPUs {effective or 'none'}"
        expected = f"partition root, CPUs {format_cpu_list(cpus)}"
        raise HostError("isolation exclusive", state_found, expected, "use other CPUs, or shared ones")
