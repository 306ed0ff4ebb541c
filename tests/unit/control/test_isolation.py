"""Exclusive CPUs: on a tree of paper that answers as a kernel with partitions, and by name where refused.

Masks of others that an old kernel would forget are found on machines of paper, one file for each thread.
"""

import os
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from types import SimpleNamespace

import pytest

from scalograph.control import isolation
from scalograph.control.isolation import Refusal, find_isolation_refusal, find_mask_at_risk, reserve_cpus
from scalograph.control.store import CHANGES, Store
from scalograph.errors import HostError
from scalograph.system.cgroups import CgroupTree, cgroup2_mount
from tests.kit.processes import owner, sleeping
from tests.unit.control.paper import PaperTree, child_environment, machine, put_right
from tests.unit.control.trees import planted, write

pytestmark = pytest.mark.guarantee


class Paper:
    """A machine of paper that grants partitions; `invalid` is its kernel's reason against one."""

    def __init__(self, folder: Path, invalid: str = "") -> None:
        self.root, self.mount = folder / "root", machine(folder / "root")
        self.tree = PaperTree(self.mount, self.root, invalid)
        self.store = Store(folder / "state", self.tree)
        self.changes = folder / "state" / CHANGES

    def reserve(self, *cpus: int) -> AbstractContextManager[None]:
        return reserve_cpus(cpus, self.tree, self.store, self.root)

    def leaves(self) -> list[Path]:
        return list(self.mount.glob("scalograph-*"))


def why_refused(root: Path) -> str:
    found = find_isolation_refusal(root)
    return found.why if found else "granted"


def test_why_it_is_refused(tmp_path: Path) -> None:
    found = find_isolation_refusal(planted(tmp_path / "hybrid", "two-cpu-guest"))
    assert found and found.why == "cgroup v1 has the cpuset controller (/sys/fs/cgroup/cpuset)"
    assert "unified_cgroup_hierarchy=1" in found.fix
    assert why_refused(tmp_path / "empty") == "no cgroup v2 is mounted"
    mount = machine(tmp_path / "a")
    assert why_refused(tmp_path / "a") == "granted"
    for file, text, why in (
        ("cgroup.type", "domain\n", "the visible root of cgroup v2 is no partition (a container)"),
        ("cpuset.cpus.partition", "root\n", "granted"),
        ("cgroup.controllers", "cpu memory\n", "cgroup v2 has no cpuset controller here"),
    ):
        write(mount / file, text)
        assert why_refused(tmp_path / "a") == why


def test_nobody_may_not_nor_root_under_a_mount_without_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(tmp_path)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert why_refused(tmp_path) == "EACCES: no permission to make a cgroup"
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_flag=os.ST_RDONLY | os.ST_NOSUID))
    found = find_isolation_refusal(tmp_path)
    assert found and found.why == "EROFS: cgroups are mounted read-only (a container)"
    assert found.fix == "run outside the container, or use shared CPUs", "and not to become root"


@pytest.mark.parametrize(("user", "fix"), [(0, "run outside the container"), (1000, "run as root")])
def test_what_helps_depends_on_who_we_are(user: int, fix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert isolation.find_write_refusal(tmp_path, "use shared CPUs") == Refusal(
        "EACCES: no permission to make a cgroup", f"{fix}, or use shared CPUs"
    )


def test_a_partition_is_made_entered_left_and_removed(tmp_path: Path) -> None:
    paper, own = Paper(tmp_path), str(os.getpid())
    unrecorded = reserve_cpus((1,), paper.tree, Store(None, paper.tree), paper.root)
    with pytest.raises(HostError, match="not locked"), unrecorded:
        raise AssertionError("nothing is changed without a place for the record")
    assert not paper.tree.is_delegated()
    with paper.reserve(2, 3, 5):
        (leaf,) = paper.leaves()
        assert (leaf / "cpuset.cpus.partition").read_text() == "root\n"
        assert (leaf / "cpuset.cpus.effective").read_text() == "2-3,5"
        assert paper.tree.is_delegated()
        assert leaf.name in paper.changes.read_text()
        assert paper.tree.moved == [(leaf.name, own)], "nobody is moved but ourselves"
    assert paper.tree.moved[1:] == [("session-1.scope", own)], "and we go back to where we came from"
    assert not paper.tree.is_delegated() and not paper.leaves() and not paper.changes.exists()
    paper.tree.delegate(True)
    with pytest.raises(HostError, match=r"partition root invalid \(hotplug\)"), paper.reserve(1):
        (leaf,) = paper.leaves()
        (leaf / "cpuset.cpus.partition").write_text("root invalid (hotplug)\n")
    assert not paper.leaves()
    assert paper.tree.is_delegated(), "a delegation that was there stays"


@pytest.mark.parametrize(("invalid", "granted", "refusal"), [
    ("Cpu list in cpuset.cpus not exclusive", "2-3",
     r"partition root invalid \(Cpu list in cpuset.cpus not exclusive\), CPUs 2-3"),
    # A kernel grants what is online of the set, and calls it a partition.
    ("", "2", "partition root, CPUs 2, expected partition root, CPUs 2-3; use other CPUs"),
])  # fmt: skip
def test_without_its_partition_there_is_no_run_and_all_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invalid: str, granted: str, refusal: str
) -> None:
    paper = Paper(tmp_path, invalid)
    written = paper.tree.write
    monkeypatch.setattr(paper.tree, "write", lambda file, text: written(file, granted if text == "2-3" else text))
    with pytest.raises(HostError, match=refusal), paper.reserve(2, 3):
        raise AssertionError("no run without its CPUs")
    assert not paper.tree.moved and not paper.tree.is_delegated() and not paper.leaves()


@pytest.mark.skipif(find_isolation_refusal() is None, reason="this machine grants partitions")
def test_this_machine_refuses_by_name() -> None:
    with pytest.raises(HostError, match=r"isolation exclusive: .*expected a cgroup v2 partition"), reserve_cpus((0,)):
        pass


granted = pytest.mark.skipif(
    find_isolation_refusal() is not None or os.geteuid() != 0 or len(os.sched_getaffinity(0)) < 2,
    reason="no partition is granted here",
)
HELD = """
import subprocess, sys, time
from pathlib import Path
from scalograph.system.cgroups import CgroupTree, cgroup2_mount
from scalograph.control.isolation import reserve_cpus
from scalograph.control.store import Store
with reserve_cpus((int(sys.argv[1]),), store=Store(Path(sys.argv[2]), CgroupTree(cgroup2_mount()))):
    print(subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL).pid, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def live_store(tmp_path: Path) -> Store:
    mount = cgroup2_mount()
    assert mount is not None
    return Store(tmp_path / "state", CgroupTree(mount))


@pytest.mark.xdist_group("machine")
@granted
def test_a_partition_of_the_kernel(live_store: Store) -> None:
    tree, before = live_store.tree, os.sched_getaffinity(0)
    assert isinstance(tree, CgroupTree)
    own, last, delegated = tree.own_folder(), max(before), tree.is_delegated()
    home = _cgroup(os.getpid())
    with sleeping() as neighbor:
        with reserve_cpus((last,), store=live_store):
            assert os.sched_getaffinity(0) == {last}
            child = subprocess.run(["cat", "/proc/self/status"], capture_output=True, text=True, check=True)
            assert f"Cpus_allowed_list:\t{last}\n" in child.stdout
            assert last not in os.sched_getaffinity(neighbor.pid), "taken from everybody else"
            assert _cgroup(neighbor.pid) == home, "who is not moved"
        assert os.sched_getaffinity(0) == os.sched_getaffinity(neighbor.pid) == before
    assert (tree.own_folder(), tree.is_delegated()) == (own, delegated)
    assert not list(tree.mount.glob("scalograph-*"))
    with (
        pytest.raises(HostError, match=r"isolation exclusive: .*expected"),
        reserve_cpus(sorted(before), store=live_store),
    ):
        raise AssertionError("all CPUs are not given away")
    assert os.sched_getaffinity(0) == before
    assert live_store.folder is not None and not (live_store.folder / CHANGES).exists()


@pytest.mark.xdist_group("machine")
@granted
def test_a_partition_whose_owner_was_killed_is_given_back(live_store: Store) -> None:
    tree, before = live_store.tree, os.sched_getaffinity(0)
    assert isinstance(tree, CgroupTree) and live_store.folder is not None
    argv = [sys.executable, "-B", "-c", HELD, str(max(before)), str(live_store.folder)]
    with owner(argv, env=child_environment()) as (_, left):
        assert os.sched_getaffinity(0) == before - {max(before)}
    assert Path(f"/proc/{int(left)}").exists(), "what it started is still there"
    told = put_right(live_store)
    assert told and told[0].startswith("cgroup scalograph-")
    assert os.sched_getaffinity(0) == before
    assert not list(tree.mount.glob("scalograph-*"))


def _cgroup(pid: int) -> str:
    return next(line for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines() if line.startswith("0::"))


OLD, NEW = "5.15.0-91-generic\n", "6.2.0\n"


@pytest.fixture
def mount(tmp_path: Path) -> Path:
    """Where the cgroups of a machine of four CPUs are."""
    mount = machine(tmp_path)
    write(tmp_path / "proc/sys/kernel/osrelease", OLD)
    write(mount / "cpuset.cpus.effective", "0-3\n")
    task(tmp_path, 1, "0-7")  # CPUs that are possible, and not there
    return mount


def task(root: Path, pid: int, mask: str, tid: int = 0, kernel: bool = False, group: str = "/") -> None:
    folder = root / f"proc/{pid}/task/{tid or pid}"
    memory = "" if kernel else "VmSize:\t 8 kB\n"
    write(folder / "status", f"Name:\tx\n{memory}Cpus_allowed:\tf\nCpus_allowed_list:\t{mask}\nMems_allowed_list:\t0\n")
    write(folder / "comm", "pinned\n")
    write(folder / "cgroup", f"0::{group}\n")


def test_who_has_all_cpus_loses_nothing_and_one_thread_that_has_fewer_is_enough(mount: Path, tmp_path: Path) -> None:
    task(tmp_path, 7, "0-3")
    assert find_mask_at_risk(mount, tmp_path) is None
    assert find_isolation_refusal(tmp_path) is None
    task(tmp_path, 7, "2", tid=9)
    assert find_mask_at_risk(mount, tmp_path) == "process 7 (pinned)"


@pytest.mark.usefixtures("mount")
def test_exclusive_cpus_are_refused_where_they_would_cost_another_its_mask(tmp_path: Path) -> None:
    task(tmp_path, 7, "0-2")
    assert find_isolation_refusal(tmp_path) == Refusal(
        "before Linux 6.2 a partition resets others' CPU masks for good, that of process 7 (pinned) for one",
        "end what has a mask of its own, boot a newer kernel, or use shared CPUs",
    )


@pytest.mark.parametrize("release", [NEW, "6.10.1-rc1", "7.0", "unknown", ""])
def test_newer_kernels_keep_masks_and_unknown_ones_may(mount: Path, tmp_path: Path, release: str) -> None:
    write(tmp_path / "proc/sys/kernel/osrelease", release)
    task(tmp_path, 7, "0")
    assert find_mask_at_risk(mount, tmp_path) is None


def test_threads_of_the_kernel_and_our_own_are_none_of_others(mount: Path, tmp_path: Path) -> None:
    task(tmp_path, 8, "0", kernel=True)
    task(tmp_path, os.getpid(), "0")
    (tmp_path / "proc/9/task").mkdir(parents=True)
    (tmp_path / "proc/10").mkdir()
    assert find_mask_at_risk(mount, tmp_path) is None


@pytest.mark.parametrize(("mask", "found"), [("0-1", None), ("0", "process 7 (pinned)")])
def test_a_mask_is_narrow_beside_its_own_cpuset(mount: Path, tmp_path: Path, mask: str, found: str | None) -> None:
    write(mount / "box/cpuset.cpus.effective", "0-1\n")
    task(tmp_path, 7, mask, group="/box/inner")
    assert find_mask_at_risk(mount, tmp_path) == found


def test_the_kernel_s_files_are_understood() -> None:
    with sleeping() as child:
        first = min(os.sched_getaffinity(0))
        os.sched_setaffinity(child.pid, {first})
        assert isolation._mask(Path(f"/proc/{child.pid}/task/{child.pid}")) == {first}
    assert isolation._mask(Path(f"/proc/{child.pid}/task/{child.pid}")) == set(), "it has ended"
