"""The tree on paper of a controller that limits a run: its files are plain ones, of either version of cgroups."""

import os
import shutil
from pathlib import Path

from scalograph.system.cgroups import CgroupTree, V1Tree
from tests.unit.control.trees import write


class LimitTree(CgroupTree):
    """Writes go to plain files; `moved` has where we went."""

    def __init__(self, mount: Path, root: Path, controller: str) -> None:
        super().__init__(mount, root, controller)
        self.moved: list[str] = []

    def write(self, file: Path, text: str) -> None:
        if file.name == "cgroup.procs":
            assert text == str(os.getpid()), "nobody is moved but ourselves"
            self.moved.append(file.parent.name)
        elif file.name == "cgroup.subtree_control":
            own = self._controller
            file.write_text({f"+{own}": f"{own} memory\n", f"-{own}": "memory\n"}[text])
        else:
            file.write_text(text)

    def remove_leaf(self, name: str) -> None:
        shutil.rmtree(self.leaf(name))


class FirstLimitTree(LimitTree, V1Tree):
    """The same with the files of v1."""


def limiting(root: Path, version: int, controller: str, beside: str = "") -> LimitTree:
    """A machine on which we are in the group `own` of a controller; `beside` shares its hierarchy of v1."""
    home = root / ("cg/first" if version == 1 else "cg/u")
    first = f"1 2 0:3 / /cg/first rw - cgroup cgroup rw,{controller}{beside}\n" if version == 1 else ""
    write(root / "proc/self/mountinfo", first + "1 2 0:4 / /cg/u rw - cgroup2 cgroup2 rw\n")
    write(root / "proc/self/cgroup", f"4:{controller}{beside}:/own\n0::/own\n")
    write(root / "cg/u/cgroup.controllers", "memory\n" if version == 1 else f"{controller} memory\n")
    write(root / "cg/u/cgroup.subtree_control", "memory\n")
    for folder in {home, root / "cg/u"}:
        (folder / "own").mkdir(parents=True)
    return (FirstLimitTree if version == 1 else LimitTree)(home, root, controller)
