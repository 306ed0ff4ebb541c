"""A limit of tasks: on trees of paper of both versions, on this machine where it grants one, and refused by name."""

import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from scalograph.control.apply import apply
from scalograph.control.control import Launch, LevelError
from scalograph.control.store import CHANGES, Store
from scalograph.control.tasks import TasksControl, find_tasks_refusal, limit_tasks
from scalograph.errors import HostError
from scalograph.protocol.facts import CpuFact, HostFacts
from scalograph.study.model import Study
from scalograph.system.cgroups import TASKS, controller_tree, read
from tests.unit.control.limit_tree import LimitTree, limiting
from tests.unit.control.trees import write

CPUS = (CpuFact(cpu=0, core=0),)
FREE, BOUND = HostFacts(cpus=CPUS), HostFacts(cpus=CPUS, refused={"tasks": "no cgroup has the controller pids here"})
OWN = 3  # threads of this process, on the machine of paper


def machine(root: Path, version: int) -> LimitTree:
    """A machine on which we have three threads."""
    for thread in range(OWN):
        (root / f"proc/self/task/{thread + 7}").mkdir(parents=True)
    return limiting(root, version, TASKS)


def store(folder: Path, tree: LimitTree) -> Store:
    return Store(folder / "state", None, tasks=tree)


def test_levels() -> None:
    control = TasksControl()
    assert control.resolve([10, 100, "none"], FREE) == [10, 100, "none"]
    assert control.resolve(["none"], BOUND) == ["none"]
    with pytest.raises(LevelError, match=r"tasks 100 is refused here \(no cgroup has the controller pids here\), expe"):
        control.resolve([100], BOUND)


@pytest.mark.parametrize("level", [0, -1, 9, 1.5, True, "all", 1 << 40])
def test_what_limits_nothing_or_everything_is_no_level(level: float) -> None:
    with pytest.raises(LevelError, match=r'expected an integer from 10 to 4194304, or "none"; correct it'):
        TasksControl().resolve([level], FREE)


@pytest.mark.parametrize("version", [1, 2])
def test_a_limit_is_set_beside_our_own_threads_entered_left_and_removed(tmp_path: Path, version: int) -> None:
    tree = machine(tmp_path, version)
    with limit_tasks(100, tree, store(tmp_path, tree), tmp_path):
        (leaf,) = tree.mount.glob("scalograph-*")
        assert {file.name: file.read_text() for file in leaf.iterdir()} == {"pids.max": str(100 + OWN)}
        assert tree.moved == [leaf.name]
        assert leaf.name in (tmp_path / "state" / CHANGES).read_text()
    assert tree.moved[1:] == ["own"], "and we go back to where we came from"
    assert not list(tree.mount.glob("scalograph-*")) and not (tmp_path / "state" / CHANGES).exists()
    assert (tmp_path / "cg/u/cgroup.subtree_control").read_text() == "memory\n"


def test_limits_that_others_were_given_meanwhile_are_not_taken_away(tmp_path: Path) -> None:
    tree = machine(tmp_path, 2)
    with limit_tasks(100, tree, store(tmp_path, tree), tmp_path):
        write(tree.mount / "user.slice/pids.max", "4096\n")
    assert tree.is_delegated()


@pytest.mark.parametrize(("most", "is_refused"), [("max", False), ("150", False), ("140", True)])
def test_a_smaller_limit_around_us_is_never_reached(tmp_path: Path, most: str, is_refused: bool) -> None:
    tree = machine(tmp_path, 2)
    write(tree.mount / "own/pids.max", f"{most}\n")
    write(tree.mount / "own/pids.current", "50\n")
    said = "100 tasks more, but 90 of the 140 of our own cgroup are left"
    with (
        pytest.raises(HostError, match=said) if is_refused else nullcontext(),
        limit_tasks(100, tree, store(tmp_path, tree), tmp_path),
    ):
        assert not is_refused
    assert not list(tree.mount.glob("scalograph-*"))


def test_a_limit_that_is_lost_during_the_run_is_told(tmp_path: Path) -> None:
    tree = machine(tmp_path, 1)
    with (
        pytest.raises(HostError, match=r"tasks: in force: none, expected 103"),
        limit_tasks(100, tree, store(tmp_path, tree), tmp_path),
    ):
        (leaf,) = tree.mount.glob("scalograph-*")
        (leaf / "pids.max").write_text("max\n")
    assert not list(tree.mount.glob("scalograph-*"))


def test_the_kernels_reason_is_told_and_nothing_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = machine(tmp_path, 1)

    def refuse(file: Path, text: str) -> None:
        raise OSError(13, "Permission denied")

    monkeypatch.setattr(tree, "write", refuse)
    with (
        pytest.raises(
            HostError, match=r"the kernel refuses 100 tasks \(EACCES: Permission denied\), expected a cgroup"
        ),
        limit_tasks(100, tree, store(tmp_path, tree), tmp_path),
    ):
        pass
    assert not list(tree.mount.glob("scalograph-*"))


def test_why_it_is_refused(tmp_path: Path) -> None:
    found = find_tasks_refusal(tmp_path / "nothing")
    assert found and found.why == "no cgroup has the controller pids here"
    assert found.fix == "run outside the container, or leave limits of tasks out"
    with pytest.raises(HostError, match="no cgroup has the controller pids here"), limit_tasks(9, root=tmp_path):
        pass


def test_it_goes_with_no_other_cgroup_of_ours() -> None:
    levels = {"tasks": [100, "none"], "quota": [0.5, "none"], "isolation": ["shared", "exclusive"], "cpus": [1]}
    factors = {name: {"control": name, "levels": of} for name, of in levels.items()}
    study = Study.model_validate(
        {"version": 1, "name": "s", "title": "t", "work": "total", "seed": 1, "workload": {"command": ["true"]},
         "factors": factors}
    )  # fmt: skip
    shared = {"cpus": 1, "isolation": "shared", "quota": "none", "tasks": 100}
    assert apply(study, shared, Launch(), FREE).max_tasks == 100
    with pytest.raises(LevelError, match="a limit of tasks beside a quota, expected one of them"):
        apply(study, {**shared, "quota": 0.5}, Launch(), FREE)
    two = HostFacts(cpus=(*CPUS, CpuFact(cpu=1, core=1)))
    with pytest.raises(LevelError, match="a limit of tasks beside exclusive CPUs, expected one of them"):
        apply(study, {**shared, "isolation": "exclusive"}, Launch(), two)


THREADS = """
import threading
gate, started = threading.Event(), 0
try:
    for started in range(300):
        threading.Thread(target=gate.wait).start()
except RuntimeError:
    pass
gate.set()
print(started)
"""


@pytest.mark.xdist_group("machine")
@pytest.mark.skipif(find_tasks_refusal() is not None or os.geteuid() != 0, reason="no limit of tasks is granted here")
def test_a_limit_of_the_kernel(tmp_path: Path) -> None:
    tree = controller_tree(TASKS)
    assert tree is not None
    own = tree.own_folder()
    with limit_tasks(40, store=Store(tmp_path / "state", None, tasks=tree)):
        leaf = tree.own_folder()
        assert leaf is not None and int(read(leaf / "pids.max") or 0) >= 41
        done = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True, check=True)
        assert int(done.stdout) == 39, "and one is the process itself"
    assert tree.own_folder() == own and not leaf.exists()
