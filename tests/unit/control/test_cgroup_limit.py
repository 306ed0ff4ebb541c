"""A quota and a limit of tasks: on trees of paper of both versions, on this machine where granted, refused by name."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from scalograph.control.apply import apply
from scalograph.control.capacity import CgroupLimit, cpu_quota, find_quota_refusal, limit_cpu_time
from scalograph.control.control import Launch, LevelError
from scalograph.control.isolation import Refusal
from scalograph.control.memory import (
    MemoryUse,
    add_memory_use,
    find_memory_refusal,
    make_memory_cgroup,
    read_memory_use,
)  # fmt: skip
from scalograph.control.settings import Setting
from scalograph.control.store import CHANGES, Store
from scalograph.control.tasks import find_tasks_refusal, limit_tasks
from scalograph.errors import HostError
from scalograph.study.load import parse
from scalograph.system.cgroups import CPU_TIME, MEMORY, TASKS, CgroupTree, V1Tree, controller_tree, cpu_tree, read
from scalograph.verdict.judge import judge
from tests.kit.processes import owner
from tests.kit.records import record
from tests.kit.studies import a_study, facts_of
from tests.unit.control.paper import child_environment, put_right
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
            sign, own = text[0], text[1:]
            assert own == self._controller
            file.write_text(f"{own} memory\n" if sign == "+" else "memory\n")
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


OWN = 3  # threads of this process, on the machine of paper


class Limit(NamedTuple):
    """What the tests of both limits differ in; `files` by the version of cgroups."""

    controller: str
    beside: str
    level: float
    apply: Callable[..., AbstractContextManager[None]]
    refusal: Callable[[Path], Refusal | None]
    files: dict[int, dict[str, str]]
    lost: tuple[str, str]
    is_lost: str
    refused: str


QUOTA_FILES = {1: {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "50000"}, 2: {"cpu.max": "50000 100000"}}
QUOTA = Limit(
    CPU_TIME, ",cpuacct", 0.5, limit_cpu_time, find_quota_refusal, QUOTA_FILES, ("cpu.max", "max 100000\n"),
    "in force: none, expected 0.5 CPUs", "the kernel refuses 0.5 CPUs (EACCES: Permission denied)",
)  # fmt: skip
TASK_FILES = {version: {"pids.max": str(100 + OWN)} for version in (1, 2)}
TASK_LIMIT = Limit(
    TASKS, "", 100, limit_tasks, find_tasks_refusal, TASK_FILES,
    ("pids.max", "max\n"), "tasks: in force: none, expected 103",
    "the kernel refuses 100 tasks (EACCES: Permission denied), expected a cgroup",
)  # fmt: skip
both = pytest.mark.parametrize("limit", [QUOTA, TASK_LIMIT], ids=["quota", "tasks"])


class Paper:
    """A machine of paper on which we have three threads, and one limit of it."""

    def __init__(self, limit: Limit, root: Path, version: int) -> None:
        for thread in range(OWN):
            (root / f"proc/self/task/{thread + 7}").mkdir(parents=True)
        self.root, self.limit = root, limit
        self.tree: LimitTree = limiting(root, version, limit.controller, limit.beside)
        self.changes = root / "state" / CHANGES

    def hold(self, level: float | None = None) -> AbstractContextManager[None]:
        store_of = {CPU_TIME: "cpu_time", TASKS: "tasks"}
        kept = Store(self.root / "state", None, **{store_of[self.limit.controller]: self.tree})
        return self.limit.apply(level or self.limit.level, self.tree, kept, self.root)

    def leaves(self) -> list[Path]:
        return list(self.tree.mount.glob("scalograph-*"))


@both
@pytest.mark.parametrize("version", [1, 2])
def test_a_limit_is_set_entered_left_and_removed(tmp_path: Path, limit: Limit, version: int) -> None:
    paper = Paper(limit, tmp_path, version)
    with paper.hold():
        (leaf,) = paper.leaves()
        assert {file.name: file.read_text() for file in leaf.iterdir()} == limit.files[version]
        assert paper.tree.moved == [leaf.name]
        assert leaf.name in paper.changes.read_text()
    assert paper.tree.moved[1:] == ["own"], "and we go back to where we came from"
    assert not paper.leaves() and not paper.changes.exists()
    assert (tmp_path / "cg/u/cgroup.subtree_control").read_text() == "memory\n"


@pytest.mark.parametrize(("limit", "file", "text"), [
    (QUOTA, "cpu.max", "150000 100000\n"), (QUOTA, "cpu.weight", "50\n"), (TASK_LIMIT, "pids.max", "4096\n"),
])  # fmt: skip
def test_what_others_were_given_meanwhile_is_not_taken_away(tmp_path: Path, limit: Limit, file: str, text: str) -> None:
    paper = Paper(limit, tmp_path, 2)
    with paper.hold():
        write(paper.tree.mount / "user.slice" / file, text)
    assert paper.tree.is_delegated() and not paper.changes.exists()


@pytest.mark.parametrize(("limit", "version"), [(QUOTA, 2), (TASK_LIMIT, 1), (TASK_LIMIT, 2)])
def test_a_limit_that_is_lost_during_the_run_is_told(tmp_path: Path, limit: Limit, version: int) -> None:
    paper = Paper(limit, tmp_path, version)
    with pytest.raises(HostError) as error, paper.hold():
        (leaf,) = paper.leaves()
        file, text = limit.lost
        (leaf / file).write_text(text)
    assert limit.is_lost in str(error.value) and not paper.leaves()


@pytest.mark.parametrize(("limit", "file"), [
    (QUOTA, "cpu.cfs_quota_us"), (QUOTA, "cgroup.procs"), (TASK_LIMIT, "pids.max"), (TASK_LIMIT, "cgroup.procs"),
])  # fmt: skip
def test_the_kernels_reason_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: Limit, file: str) -> None:
    paper = Paper(limit, tmp_path, 1)
    writes = paper.tree.write

    def refuse(target: Path, text: str) -> None:
        if target.name == file:
            raise OSError(13, "Permission denied")
        writes(target, text)

    monkeypatch.setattr(paper.tree, "write", refuse)
    with pytest.raises(HostError) as error, paper.hold():
        raise AssertionError("no run without its limit")
    assert limit.refused in str(error.value) and not paper.leaves()


@pytest.mark.parametrize(("limit", "level", "files", "refusal"), [
    (QUOTA, 1, {"cpu.max": "50000 100000\n"}, "quota: 1 CPUs, but a quota of 0.5 holds"),
    (QUOTA, 0.5, {"cpu.max": "50000 100000\n"}, None),
    (TASK_LIMIT, 100, {"pids.max": "140\n", "pids.current": "50\n"}, "100 tasks more, but 90 of the 140 of our own"),
    (TASK_LIMIT, 100, {"pids.max": "150\n", "pids.current": "50\n"}, None),
    (TASK_LIMIT, 100, {"pids.max": "max\n", "pids.current": "50\n"}, None),
])  # fmt: skip
def test_a_smaller_limit_around_us_is_never_exceeded(
    tmp_path: Path, limit: Limit, level: float, files: dict[str, str], refusal: str | None
) -> None:
    paper = Paper(limit, tmp_path, 2)
    for name, text in files.items():
        write(paper.tree.mount / "own" / name, text)
    with pytest.raises(HostError, match=refusal) if refusal else nullcontext(), paper.hold(level):
        assert refusal is None
    assert not paper.leaves()


@pytest.mark.parametrize("version", [1, 2])
def test_the_tree_is_the_one_that_has_the_controller(tmp_path: Path, version: int) -> None:
    paper, tree = Paper(QUOTA, tmp_path, version), cpu_tree(tmp_path)
    assert tree is not None and tree.mount == paper.tree.mount
    assert isinstance(tree, V1Tree) == (version == 1)
    assert tree.own_folder() == tree.mount / "own"


@both
def test_why_it_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: Limit) -> None:
    why, without = f"no cgroup has the controller {limit.controller} here", "leave "
    refusal = limit.refusal(tmp_path / "nothing")
    assert refusal and refusal.why == why and refusal.fix.startswith(f"run outside the container, or {without}")
    with pytest.raises(HostError, match=why), limit.apply(limit.level, root=tmp_path / "nothing"):
        pass
    mount = Paper(limit, tmp_path, 2).tree.mount
    write(mount / "cgroup.type", "domain\n")
    write(mount / "cgroup.procs", "")
    assert limit.refusal(tmp_path) is None
    write(mount / "cgroup.procs", "1\n")
    refusal = limit.refusal(tmp_path)
    assert refusal and refusal.why == "the visible root of cgroup v2 holds processes (a container)"
    (mount / "cgroup.type").unlink()
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    refusal = limit.refusal(tmp_path)
    assert refusal and refusal.why == "EACCES: no permission to make a cgroup"


LEVELS = {"cpus": [1], "isolation": ["shared", "exclusive"], "quota": [0.5, "none"], "tasks": [100, "none"]}
STUDY = parse(a_study({name: {"control": name, "levels": levels} for name, levels in LEVELS.items()}))
SHARED = {"cpus": 1, "isolation": "shared", "quota": "none", "tasks": "none"}


def test_a_launch_has_one_cgroup_of_ours_which_disturbs_nothing() -> None:
    launch = partial(apply, STUDY, launch=Launch(), facts=facts_of(2))
    assert launch({**SHARED, "quota": 0.5}).quota_cpus == 0.5
    assert launch({**SHARED, "tasks": 100}).max_tasks == 100
    alone = launch({**SHARED, "isolation": "exclusive"})
    assert (alone.exclusive, alone.quota_cpus, alone.max_tasks) == (True, None, None)
    for levels, refusal in (
        ({"isolation": "exclusive", "quota": 0.5}, "exclusive CPUs under a quota"),
        ({"tasks": 100, "quota": 0.5}, "a limit of tasks beside a quota"),
        ({"tasks": 100, "isolation": "exclusive"}, "a limit of tasks beside exclusive CPUs"),
    ):
        with pytest.raises(LevelError, match=f"{refusal}, expected one of them"):
            launch({**SHARED, **levels})
    throttled = record().replace_values(throttled_ns=500_000_000)
    assert [cause.cause for cause in judge(throttled).causes] == ["quota"]
    assert judge(throttled.replace_values(quota_cpus=0.5)).causes == []


SPIN = "import time\nend = time.monotonic() + 0.35\nwhile time.monotonic() < end: pass"
HELD = """
import subprocess, sys, time
from pathlib import Path
from scalograph.control.capacity import limit_cpu_time
from scalograph.control.memory import make_memory_cgroup
from scalograph.control.store import Store
from scalograph.system.cgroups import controller_tree
state, controller, field = sys.argv[1:]
limit, level = (limit_cpu_time, 0.5) if controller == "cpu" else (make_memory_cgroup, 64 << 20)
with limit(level, store=Store(Path(state), None, **{field: controller_tree(controller)})) as folders:
    held = subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL).pid
    for folder in folders or ():
        (folder / "cgroup.procs").write_text(str(held))
    print(held, flush=True)
    time.sleep(600)
"""
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


def granted(refusal: Refusal | None) -> Any:
    return pytest.mark.skipif(refusal is not None or os.geteuid() != 0, reason="no such limit is granted here")


def live_tree(controller: str) -> CgroupTree:
    tree = controller_tree(controller)
    assert tree is not None
    return tree


def throttled(leaf: Path) -> bool:
    """Compute without a pause; tell whether the kernel has ever held the group back."""
    subprocess.run([sys.executable, "-c", SPIN], check=True)
    figures = dict(line.split() for line in (leaf / "cpu.stat").read_text().splitlines())
    return int(figures["nr_throttled"]) > 0


@pytest.mark.guarantee
@pytest.mark.xdist_group("machine")
@granted(find_quota_refusal())
def test_a_quota_of_the_kernel(tmp_path: Path) -> None:
    tree = live_tree(CPU_TIME)
    own, before = tree.own_folder(), cpu_quota()
    with limit_cpu_time(0.2, store=Store(tmp_path / "state", None, cpu_time=tree)):
        leaf = tree.own_folder()
        assert leaf is not None and leaf.name.startswith("scalograph-")
        assert any(throttled(leaf) for _ in range(20)), "a hypervisor may leave it less than its quota for a while"
        assert cpu_quota() == 0.2
    assert (tree.own_folder(), cpu_quota()) == (own, before)
    assert not leaf.exists()


@pytest.mark.guarantee
@pytest.mark.xdist_group("machine")
@granted(find_quota_refusal() or find_memory_refusal())
@pytest.mark.parametrize(("controller", "field", "limit"), [
    (CPU_TIME, "cpu_time", "quota"), (MEMORY, "memory", "limit of memory"),
])  # fmt: skip
def test_a_limit_whose_owner_was_killed_is_taken_away(tmp_path: Path, controller: str, field: str, limit: str) -> None:
    tree, state = live_tree(controller), str(tmp_path / "state")
    with owner([sys.executable, "-B", "-c", HELD, state, controller, field], env=child_environment()) as (_, left):
        pass
    assert Path(f"/proc/{int(left)}").exists(), "what it started is still there"
    fields: dict[str, Any] = {field: tree}
    (restored,) = put_right(Store(tmp_path / "state", None, **fields))
    assert restored.endswith(f"with its {limit}: removed")
    assert not tree.has_leaf(restored.split()[1])


@pytest.mark.xdist_group("machine")
@granted(find_tasks_refusal())
def test_a_limit_of_tasks_of_the_kernel(tmp_path: Path) -> None:
    tree = live_tree(TASKS)
    own = tree.own_folder()
    with limit_tasks(40, store=Store(tmp_path / "state", None, tasks=tree)):
        leaf = tree.own_folder()
        assert leaf is not None and int(read(leaf / "pids.max") or 0) >= 41
        done = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True, check=True)
        assert int(done.stdout) == 39, "and one is the process itself"
    assert tree.own_folder() == own and not leaf.exists()


MEMORY_FILES = {
    1: {"memory.limit_in_bytes": "8388608", "memory.memsw.limit_in_bytes": "8388608"},
    2: {"memory.max": "8388608", "memory.swap.max": "0"},
}


class MemoryPaper:
    """A machine of paper whose leaves have the files of the controller memory, and of v2 that of CPU time."""

    def __init__(self, root: Path, version: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tree = limiting(root, version, MEMORY)
        write(root / "cg/u/cgroup.controllers", f"memory {CPU_TIME}\n")
        self.store = Store(root / "state", None, memory=self.tree, cpu_time=LimitTree(root / "cg/u", root, CPU_TIME))
        make_leaf = self.tree.make_leaf

        def filled(name: str) -> Path:
            leaf = make_leaf(name)
            for file in (*MEMORY_FILES[version], "memory.failcnt", "memory.oom_control"):
                write(leaf / file, "")
            return leaf

        monkeypatch.setattr(self.tree, "make_leaf", filled)
        self.make = partial(make_memory_cgroup, tree=self.tree, store=self.store, root=root)


@pytest.mark.parametrize("version", [1, 2])
def test_memory_is_limited_without_swap_and_nobody_is_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    paper = MemoryPaper(tmp_path, version, monkeypatch)
    with paper.make(8 << 20) as (folder,):
        assert {name: (folder / name).read_text() for name in MEMORY_FILES[version]} == MEMORY_FILES[version]
        assert paper.tree.moved == []
        assert folder.name in (tmp_path / "state" / CHANGES).read_text()
    assert not folder.exists() and not (tmp_path / "state" / CHANGES).exists()


def test_a_cgroup_of_v2_has_both_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paper = MemoryPaper(tmp_path, 2, monkeypatch)
    monkeypatch.setattr("scalograph.control.memory.quota_in_tree", lambda cpus, tree, store, root: (
        CgroupLimit("quota", "", "", Setting.CPU_DELEGATION, Setting.QUOTA_LEAF,
                    write=lambda tree, folder: tree.write(folder / "cpu.max", f"{cpus}"), prove=lambda folder: None),
        paper.store.cpu_time, paper.store,
    ))  # fmt: skip
    with paper.make(8 << 20, 0.5) as folders:
        assert [(folder / "cpu.max").read_text() for folder in folders] == ["0.5"]


def test_a_limit_of_memory_that_is_lost_or_beyond_our_own_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper = MemoryPaper(tmp_path, 2, monkeypatch)
    with pytest.raises(HostError, match="in force: none, expected 8 MiB"), paper.make(8 << 20) as (folder,):
        write(folder / "memory.max", "max\n")
    write(paper.tree.mount / "own/memory.max", "4194304\n")
    with pytest.raises(HostError, match="8 MiB, but 4 MiB are the limit of our own"), paper.make(8 << 20):
        raise AssertionError("no run beyond it")
    assert not [*paper.tree.mount.glob("scalograph-*")]


@pytest.mark.parametrize(("files", "use"), [
    ({"memory.failcnt": "7", "memory.oom_control": "under_oom 0\noom_kill 2\n", "memory.max_usage_in_bytes": "9"},
     MemoryUse(9, 7, 2)),
    ({"memory.events": "low 0\nmax 3\noom 1\noom_kill 1\n", "memory.peak": "5"}, MemoryUse(5, 3, 1)),
    ({}, MemoryUse(None, 0, 0)),
])  # fmt: skip
def test_what_a_cgroup_counted_is_read(tmp_path: Path, files: dict[str, str], use: MemoryUse) -> None:
    for name, text in files.items():
        write(tmp_path / name, text)
    assert read_memory_use(tmp_path) == use
    limited = Launch(max_memory=8 << 20, cgroups=(str(tmp_path),))
    run = add_memory_use(record(), [limited, Launch()]).run
    assert (run.memory_limit_bytes, run.n_memory_kills) == (8 << 20, use.n_kills)
    reason = "killed for memory at its limit of 8 MiB" if use.n_kills else None
    assert (run.status, run.reason) == ("failed" if use.n_kills else "ok", reason)
    assert add_memory_use(record(), [Launch()]) == record()
