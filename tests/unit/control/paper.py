"""A cgroup tree on paper: plain files that answer as the kernel would. Also a program that dies while it holds it."""

import os
import shutil
import signal
import sys
import time
from pathlib import Path

import scalograph
from scalograph.control.settings import Setting, delegation_change, leaf_change
from scalograph.control.store import Store, apply_change, lock_machine
from scalograph.system.cgroups import CgroupTree

LEAF = "scalograph-0123456789abcdef"


class PaperTree(CgroupTree):
    """Writes have the effect that they have in a kernel; `invalid` is the kernel's reason against a partition."""

    def __init__(self, mount: Path, root: Path, invalid: str = "") -> None:
        super().__init__(mount, root)
        self.invalid = invalid
        self.moved: list[tuple[str, str]] = []

    def write(self, file: Path, text: str) -> None:
        if file.name == "cgroup.subtree_control":
            file.write_text("cpuset cpu\n" if text == "+cpuset" else "cpu\n")
        elif file.name == "cpuset.cpus.partition":
            file.write_text(f"root invalid ({self.invalid})\n" if self.invalid else f"{text}\n")
        elif file.name == "cpuset.cpus":
            (file.parent / "cpuset.cpus.effective").write_text(text)
        elif file.name == "cgroup.procs":
            self.moved.append((file.parent.name, text))
        else:
            raise FileNotFoundError(2, "No such file or directory")

    def make_leaf(self, name: str) -> Path:
        assert self.is_delegated(), "without the files of cpuset a leaf is of no use"
        folder = super().make_leaf(name)
        (folder / "cpuset.cpus.partition").write_text("member\n")
        return folder

    def remove_leaf(self, name: str) -> None:
        shutil.rmtree(self.leaf(name))


def machine(root: Path) -> Path:
    """Files of a machine that grants partitions; returns where its cgroups are."""
    mount = root / "sys/fs/cgroup"
    (mount / "user.slice/session-1.scope").mkdir(parents=True)
    (root / "proc/self").mkdir(parents=True)
    for file, text in {
        mount / "cgroup.controllers": "cpuset cpu io memory pids\n", mount / "cgroup.subtree_control": "cpu\n",
        mount / "cgroup.procs": "",
        root / "proc/self/mountinfo": "26 22 0:23 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n",
        root / "proc/self/cgroup": "0::/user.slice/session-1.scope\n",
    }.items():  # fmt: skip
        file.write_text(text)
    return mount


def store(folder: Path, root: Path) -> Store:
    """A store whose changes are on paper; processes and the boot are those of this machine."""
    return Store(folder, PaperTree(root / "sys/fs/cgroup", root))


def child_environment() -> dict[str, str]:
    """Return an environment in which another Python imports what this one does."""
    home = str(Path(scalograph.__file__).parents[1])
    return {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join([home, *filter(None, sys.path)])}


def put_right(kept: Store) -> list[str]:
    """What a start undoes before all else."""
    with lock_machine(store=kept) as told:
        return told


def die(folder: Path, root: Path, when: str) -> None:
    """Change settings as a run would, and be killed: `before` a change is made, or in the `middle` of the run."""
    kept = store(folder, root)
    tree = kept.tree
    assert isinstance(tree, PaperTree)

    def make() -> None:
        if when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        tree.make_leaf(LEAF)

    with (
        lock_machine(store=kept),
        apply_change(delegation_change(), lambda: tree.delegate(True), kept),
        apply_change(leaf_change(Setting.EXCLUSIVE_LEAF, LEAF), make, kept),
    ):
        print("held", flush=True)
        time.sleep(600)


if __name__ == "__main__":
    die(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
