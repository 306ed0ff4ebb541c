"""The cgroup trees of both versions: where they are mounted, and leaves of our own in them."""

import errno
import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from scalograph.errors import HostError

LEAF = re.compile(r"scalograph-[0-9a-f]{1,32}")
_REMOVAL_S = 2.0
# Errors of the kernel for a cgroup that is gone, or now has cgroups below it instead of processes.
_UNUSABLE = (errno.ENOENT, errno.ENODEV, errno.EBUSY, errno.EOPNOTSUPP)
# Contents of a controller's files in a cgroup that does not use it.
_UNUSED = {
    "cpuset": {"cpuset.cpus": "", "cpuset.mems": ""},
    "cpu": {"cpu.max": "max 100000", "cpu.weight": "100"},
    "pids": {"pids.max": "max"},
    "memory": {"memory.max": "max", "memory.high": "max", "memory.low": "0", "memory.min": "0"},
}


def cgroup2_mount(root: Path = Path("/")) -> Path | None:
    """Find where the whole cgroup v2 hierarchy that this process may see is mounted."""
    for fields, kind, _ in _mounts(root):
        if kind == "cgroup2" and fields[3] == "/":
            return root / fields[4].lstrip("/")
    return None


def v1_mount(controller: str, root: Path = Path("/")) -> str | None:
    """Find where a controller is mounted as cgroup v1, as a whole hierarchy: cgroup v2 cannot have it then.

    In a container that sees only a part of it, our path in it differs from the one that the kernel reports.
    """
    for fields, kind, options in _mounts(root):
        if kind == "cgroup" and fields[3] == "/" and controller in options.split(","):
            return fields[4]
    return None


def _mounts(root: Path) -> Iterator[tuple[list[str], str, str]]:
    """Yield of each line of /proc/self/mountinfo its fields up to the mount point, its file system and options."""
    try:
        text = (root / "proc/self/mountinfo").read_text(errors="surrogateescape")
    except OSError:
        return
    for line in text.splitlines():
        left, _, right = line.partition(" - ")
        fields, after = left.split(" "), right.split(" ")
        if len(fields) >= 6 and len(after) >= 3:
            path = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), fields[4])
            if "\0" not in path and ".." not in path.split("/"):  # that of another machine may lead anywhere
                yield [*fields[:4], path], after[0], after[2]


def read(file: Path) -> str | None:
    """Return the text of a kernel file; None if it cannot be read."""
    try:
        return file.read_text().strip()
    except (OSError, ValueError):  # no text, or no path
        return None


class CgroupTree:
    """One mounted hierarchy. Makes and removes only folders that `LEAF` names, directly below the mount."""

    def __init__(self, mount: Path, root: Path = Path("/"), controller: str = "cpuset") -> None:
        self.mount, self._root, self._controller = mount, root, controller

    def leaf(self, name: str) -> Path:
        """Return the folder of a leaf. Raises ValueError for a name that is not ours."""
        if not LEAF.fullmatch(name):
            raise ValueError(f"{name!r} is no leaf of ours")
        return self.mount / name

    def write(self, file: Path, text: str) -> None:
        """Write text in a single write, as the kernel requires. Raises OSError."""
        fd = os.open(file, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            os.write(fd, text.encode())
        finally:
            os.close(fd)

    def is_delegated(self) -> bool:
        """Return whether leaves below the mount have the controller's files."""
        return self._controller in (read(self.mount / "cgroup.subtree_control") or "").split()

    def delegate(self, on: bool) -> None:
        """Give leaves the controller's files, or take them away. Raises OSError."""
        self.write(self.mount / "cgroup.subtree_control", f"{'+' if on else '-'}{self._controller}")

    def used_by_others(self) -> bool:
        """Return whether a cgroup below the mount, other than our leaves, delegates the controller or has limits."""
        others = (folder for folder in self.mount.iterdir() if folder.is_dir() and not LEAF.fullmatch(folder.name))
        return any(_uses(folder, self._controller) for folder in others)

    def has_leaf(self, name: str) -> bool:
        return self.leaf(name).exists()

    def make_leaf(self, name: str) -> Path:
        """Make a new leaf. Raises OSError."""
        folder = self.leaf(name)
        folder.mkdir(mode=0o755)
        return folder

    def remove_leaf(self, name: str) -> None:
        """Kill the processes in a leaf and remove it with all below. Raises OSError."""
        self.remove(self.leaf(name))

    def remove(self, folder: Path) -> None:
        """Kill the processes in any folder of a leaf and remove it with all below. Raises OSError."""
        if not folder.is_symlink():
            with suppress(OSError):  # not a partition, or no longer one
                # Exclusive CPUs return at once; after the removal alone they would return some time later.
                self.write(folder / "cpuset.cpus.partition", "member")
        deadline = time.monotonic() + _REMOVAL_S
        while folder.is_dir() and not folder.is_symlink():
            try:
                _remove(folder)
            except OSError:
                if time.monotonic() > deadline:
                    raise
                self._kill(folder)
                time.sleep(0.005)

    def _kill(self, folder: Path) -> None:
        own = self.own_folder()
        if own is not None and own.is_relative_to(folder):
            raise OSError(errno.EBUSY, "this process itself is in the leaf")
        try:
            self.write(folder / "cgroup.kill", "1")
        except OSError:  # before Linux 5.14, and cgroup v1
            for pid in list_processes(folder):
                if pid > 1 and pid != os.getpid():
                    with suppress(ProcessLookupError):  # it has ended already
                        os.kill(pid, signal.SIGKILL)

    def own_folder(self) -> Path | None:
        for line in (read(self._root / "proc/self/cgroup") or "").splitlines():
            if line.startswith("0::/"):
                return self.mount / line[len("0::/") :]
        return None

    @contextmanager
    def enter(self, folder: Path) -> Iterator[None]:
        """Move this process, and what it starts meanwhile, to another cgroup and back; no other process is moved.

        Raises OSError if the kernel refuses the move, HostError if it refuses the way back.
        """
        before = self.own_folder()
        self.write(folder / "cgroup.procs", str(os.getpid()))
        try:
            yield
        finally:
            self._go_back(before or self.mount)

    def _go_back(self, folder: Path) -> None:
        """Move into a cgroup; if it is gone or holds no processes any more, into the next one above."""
        homes = [home for home in (folder, *folder.parents) if home.is_relative_to(self.mount)]
        for home in homes:
            try:
                return self.write(home / "cgroup.procs", str(os.getpid()))
            except OSError as error:
                if error.errno not in _UNUSABLE or home == self.mount:
                    state = f"the kernel does not let us back ({error.strerror})"
                    fix = "see who else changes our cgroups"
                    raise HostError(f"cgroup {home}", state, "the cgroup that we came from", fix) from error


@contextmanager
def restore_masks() -> Iterator[None]:
    """Restore the affinity masks of our threads: a change of the cpuset cuts them, and not all kernels undo it.

    This context must end after the one that took the CPUs away: the kernel cuts a new mask, too.
    """
    before = {task: os.sched_getaffinity(task) for task in _threads()}
    try:
        yield
    finally:
        for task in _threads():
            mask = before.get(task, before[os.getpid()])
            if os.sched_getaffinity(task) != mask:
                os.sched_setaffinity(task, mask)


def _threads() -> list[int]:
    return [int(task.name) for task in Path("/proc/self/task").iterdir()]


def list_processes(folder: Path) -> list[int]:
    """List the processes of a cgroup and of all below."""
    return [int(pid) for path, _, _ in os.walk(folder) for pid in (read(Path(path) / "cgroup.procs") or "").split()]


def _uses(folder: Path, controller: str) -> bool:
    if controller in (read(folder / "cgroup.subtree_control") or "").split():
        return True
    texts = {name: read(folder / name) for name in _UNUSED[controller]}
    return any(text not in (None, _UNUSED[controller][name]) for name, text in texts.items())


def _remove(folder: Path) -> None:
    for below in folder.iterdir():
        if below.is_dir() and not below.is_symlink():
            _remove(below)
    folder.rmdir()


CPU_TIME, TASKS, MEMORY = "cpu", "pids", "memory"


class V1Tree(CgroupTree):
    """The v1 hierarchy of one controller: all folders have its files, nothing is delegated."""

    def is_delegated(self) -> bool:
        return True

    def delegate(self, on: bool) -> None:
        """Do nothing: v1 has no delegation."""

    def own_folder(self) -> Path | None:
        for line in (read(self._root / "proc/self/cgroup") or "").splitlines():
            _, controllers, path = line.split(":", 2)
            if self._controller in controllers.split(","):
                return self.mount / path.lstrip("/")
        return None


def controller_tree(controller: str, root: Path = Path("/")) -> CgroupTree | None:
    """Find the hierarchy in which a cgroup can get a limit of this controller; None if no visible one has it."""
    first, second = v1_mount(controller, root), cgroup2_mount(root)
    if first is not None:
        return V1Tree(root / first.lstrip("/"), root, controller)
    if second is not None and controller in (read(second / "cgroup.controllers") or "").split():
        return CgroupTree(second, root, controller)
    return None


def cpu_tree(root: Path = Path("/")) -> CgroupTree | None:
    """Find the hierarchy in which a cgroup can get a CPU quota; None if no visible one has the controller."""
    return controller_tree(CPU_TIME, root)
