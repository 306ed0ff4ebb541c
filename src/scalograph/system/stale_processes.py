"""Kill processes and remove cgroups left by a session that died, which could not end them itself."""

import fcntl
import os
import re
import signal
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from scalograph.system.cgroups import LEAF, CgroupTree, cgroup2_mount, list_processes, read


class Owner(BaseModel):
    """A process, distinguished from a later one with its number by its start, in ticks since boot."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    pid: int = Field(ge=1)
    start_ticks: int = Field(ge=0)

    @classmethod
    def current(cls, root: Path) -> "Owner":
        return cls(pid=os.getpid(), start_ticks=_start_ticks(os.getpid(), root) or 0)

    def is_alive(self, root: Path) -> bool:
        """Return whether the process still exists, and is no later process with its number."""
        return _start_ticks(self.pid, root) == self.start_ticks


def boot_id(root: Path) -> str:
    """Return the kernel's id of the time since the last boot."""
    return read(root / "proc/sys/kernel/random/boot_id") or "unknown"


def read_stat(process: Path) -> list[str]:
    """Return the fields of a process's /proc/PID/stat from its state on; empty if it is gone."""
    try:
        # The name before them may hold spaces and brackets, in any encoding.
        return (process / "stat").read_bytes().rpartition(b")")[2].decode("ascii", "replace").split()
    except OSError:
        return []


def _start_ticks(pid: int, root: Path) -> int | None:
    """Return when a process began, in ticks since boot; None if it is gone or a zombie."""
    fields = read_stat(root / f"proc/{pid}")
    return int(fields[19]) if len(fields) > 19 and fields[0] not in "ZX" else None


MARK = "SCALOGRAPH_STEP"
_WAIT_S = 1.0


def owner_variables(root: Path = Path("/")) -> dict[str, str]:
    """Return the environment variable that marks what this session starts outside its runs."""
    owner = Owner.current(root)
    return {MARK: f"{owner.pid}.{owner.start_ticks}"}


def kill_stale_processes(root: Path = Path("/")) -> list[str]:
    """Kill the processes whose mark names a dead session, and list them. The machine must be locked."""
    messages, until = dict[int, str](), time.monotonic() + _WAIT_S
    while pids := [pid for pid in _find_stale(root) if _kill(pid)]:
        messages |= {pid: f"process {pid}, left by a step: ended" for pid in pids}
        if time.monotonic() > until:
            break
        time.sleep(0.005)
    return list(messages.values())


def _find_stale(root: Path) -> Iterator[int]:
    here = _namespace(root / "proc/self")
    for folder in (root / "proc").iterdir():
        if folder.name.isdecimal() and _is_stale(folder, root) and _namespace(folder) == here:
            yield int(folder.name)


def _is_stale(folder: Path, root: Path) -> bool:
    """Return whether it is our user's, carries a mark, and its session is dead."""
    try:
        if folder.stat().st_uid != os.geteuid():
            return False
        environ = (folder / "environ").read_bytes()
    except OSError:  # it has ended, or may not be looked at
        return False
    start, end = f"\0{MARK}=".encode(), b"\0"
    pid, _, ticks = (b"\0" + environ).partition(start)[2].partition(end)[0].partition(b".")
    if not pid.isdigit() or not ticks.isdigit() or int(pid) == 0:
        return False
    return not Owner(pid=int(pid), start_ticks=int(ticks)).is_alive(root)


def _namespace(folder: Path) -> str:
    """Return the PID namespace that it counts in: in a container the same number is another process."""
    try:
        return str((folder / "ns/pid").readlink())
    except OSError:
        return ""


def _kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        return False
    return True


# A probe makes its leaf a moment before it forks into it.
MIN_AGE_S = 60.0
_PROBE = "scalograph-probe"[:15]  # length of a name that the kernel keeps
# Those that settings are held in have sixteen digits, and a session may be at work in them.
_PROBES_OWN = re.compile(r"scalograph-[0-9a-f]{2,15}")


def remove_stale_cgroups(tree: CgroupTree, root: Path = Path("/"), min_age_s: float = MIN_AGE_S) -> list[str]:
    """Remove leaves that surely belong to no probe, kill what still runs in them, and list them.

    They are in our own cgroup, where the probe makes them, or below the mount; have a name of ours; belong to our
    user; nobody holds their lock; and their probe is gone. Those without a process at any depth are older than
    `min_age_s`. A process in one that a probe has made is of a run that nobody measures: it is killed, unless some of
    them, and so the probe, may be where we cannot see it, in a container around ours.
    """
    left = (leaf for leaf in _probeless_leaves(tree, root) if _is_stale_leaf(leaf, min_age_s))
    return [message for leaf in left if (message := _clear(leaf, tree))]


def end_orphaned_run(probe: int, root: Path = Path("/")) -> None:
    """End the run of a killed probe, a child of ours, if its guard was killed too, or was not yet there."""
    if (mount := cgroup2_mount(root)) is None:
        return
    tree = CgroupTree(mount, root)
    for leaf in _probeless_leaves(tree, root):
        if leaf.name.startswith(f"scalograph-{probe:x}") and _is_stale_leaf(leaf, 0.0):
            _clear(leaf, tree)


def _probeless_leaves(tree: CgroupTree, root: Path) -> Iterator[Path]:
    homes = dict.fromkeys((tree.mount, tree.own_folder() or tree.mount))
    leaves = [leaf for home in homes for leaf in list_leaves(home)]
    # Only then: who starts in between must not seem to be missing. A leaf's name begins with its probe's number.
    probes = _running_probes(root)
    yield from (leaf for leaf in leaves if not leaf.name.removeprefix("scalograph-").startswith(probes))


def list_leaves(home: Path) -> list[Path]:
    """List leaves of ours directly below a cgroup."""
    try:
        return sorted(path for path in home.iterdir() if LEAF.fullmatch(path.name))
    except OSError:
        return []


def _is_stale_leaf(leaf: Path, min_age_s: float) -> bool:
    try:
        status = leaf.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or _is_locked(leaf):
        return False
    # `populated` covers everything below, too. Unreadable is not empty.
    events = (read(leaf / "cgroup.events") or "").splitlines()
    if "populated 0" in events:
        return time.time() - status.st_mtime >= min_age_s
    return bool("populated 1" in events and _PROBES_OWN.fullmatch(leaf.name) and _all_seen(leaf))


def _all_seen(leaf: Path) -> bool:
    pids = list_processes(leaf)
    return bool(pids) and 0 not in pids  # one outside our PID namespace reads as 0


def _is_locked(leaf: Path) -> bool:
    """Return whether a probe lives that has locked it: of another name than ours, say, or in a container."""
    try:
        fd = os.open(leaf, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a kernel without such locks: the number of the probe tells
        return False
    finally:
        os.close(fd)
    return False


def _running_probes(root: Path) -> tuple[str, ...]:
    folders = (folder for folder in (root / "proc").iterdir() if folder.name.isdecimal())
    probes = (folder for folder in folders if read(folder / "comm") == _PROBE)
    # Nobody waits for a dead one below a container's first process.
    return tuple(f"{int(folder.name):x}" for folder in probes if read_stat(folder)[:1] not in (["Z"], ["X"]))


def _clear(leaf: Path, tree: CgroupTree) -> str | None:
    """Clear a leaf and describe what was left in it; None if it stays, which a later session tries again."""
    if not (n := len(list_processes(leaf))):
        return f"cgroup {leaf.name}, left empty: removed" if _remove_empty(leaf) else None
    try:
        tree.remove(leaf)
    except OSError:
        return None
    return f"cgroup {leaf.name}, left by a killed probe: {n} processes ended, removed"


def _remove_empty(leaf: Path) -> bool:
    """Remove an empty leaf and return whether it is gone. The kernel refuses where there is a process after all."""
    with suppress(OSError):
        for folder, _, _ in os.walk(leaf, topdown=False):
            Path(folder).rmdir()
    return not leaf.exists()
