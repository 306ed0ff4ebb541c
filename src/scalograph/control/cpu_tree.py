"""The cgroup tree with a controller: cgroup v2, or v1 on machines with separate hierarchies."""

from pathlib import Path

from scalograph.control.cgroups import (
    CgroupTree,
    cgroup2_mount,
    read,
    v1_mount,
)

CPU_TIME, TASKS = "cpu", "pids"


class FirstTree(CgroupTree):
    """The v1 hierarchy of one controller: all its folders have the controller's files, nothing is delegated."""

    def delegated(self) -> bool:
        """Return True: v1 has no delegation."""
        return True

    def delegate(self, on: bool) -> None:
        """Do nothing: v1 has no delegation."""

    def own_folder(self) -> Path | None:
        """Return the cgroup of this hierarchy that this process is in."""
        for line in (read(self._root / "proc/self/cgroup") or "").splitlines():
            _, controllers, path = line.split(":", 2)
            if self._controller in controllers.split(","):
                return self.mount / path.lstrip("/")
        return None


def controller_tree(controller: str, root: Path = Path("/")) -> CgroupTree | None:
    """Find where a cgroup can be given a limit of this controller; None if no visible hierarchy has it."""
    first, second = v1_mount(controller, root), cgroup2_mount(root)
    if first is not None:
        return FirstTree(root / first.lstrip("/"), root, controller)
    if second is not None and controller in (read(second / "cgroup.controllers") or "").split():
        return CgroupTree(second, root, controller)
    return None


def cpu_tree(root: Path = Path("/")) -> CgroupTree | None:
    """Find where a cgroup can be given a quota; None if no visible hierarchy has the controller."""
    return controller_tree(CPU_TIME, root)
