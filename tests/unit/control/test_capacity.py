"""A quota: on trees of paper of both versions, on this machine where it grants one, and refused by name."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import scalograph
from scalograph.control.apply import apply
from scalograph.control.capacity import QuotaControl, cpu_quota, find_quota_refusal, limit_cpu_time
from scalograph.control.control import Launch, LevelError
from scalograph.control.store import CHANGES, Store
from scalograph.errors import HostError
from scalograph.protocol.facts import CpuFact, HostFacts
from scalograph.study.model import Study
from scalograph.system.cgroups import CgroupTree, V1Tree, cpu_tree
from scalograph.verdict.judge import judge
from tests.kit.records import record
from tests.unit.control.limit_tree import LimitTree, limiting
from tests.unit.control.paper import put_right
from tests.unit.control.trees import write

TWO = tuple(CpuFact(cpu=n, core=n) for n in range(2))
FREE, BOUND = HostFacts(cpus=TWO), HostFacts(cpus=TWO, refused={"quota": "no cgroup has the controller cpu here"})


def machine(root: Path, version: int) -> LimitTree:
    return limiting(root, version, "cpu", beside=",cpuacct")


def store(folder: Path, tree: LimitTree) -> Store:
    return Store(folder / "state", None, cpu_time=tree)


def test_levels() -> None:
    control = QuotaControl()
    assert control.resolve([0.5, 1, 2, "none"], FREE) == [0.5, 1, 2, "none"]
    assert control.resolve(["none"], BOUND) == ["none"]
    with pytest.raises(LevelError, match=r"quota 0.5 is refused here \(no cgroup has the controller cpu here\), exp"):
        control.resolve([0.5], BOUND)


@pytest.mark.parametrize("level", [0, -1, 0.001, 3, True, "all", float("inf")])
def test_what_limits_nothing_is_no_level(level: float) -> None:
    with pytest.raises(LevelError, match=r'expected CPUs\' worth of time from 0\.01 to 2, or "none"; correct it'):
        QuotaControl().resolve([level], FREE)


def test_a_level_beyond_the_quota_around_us_is_refused_when_it_is_planned() -> None:
    held = HostFacts(cpus=TWO, cpu_quota=0.5)
    assert QuotaControl().resolve([0.25, 0.5, "none"], held) == [0.25, 0.5, "none"]
    said = "1 CPUs, but a quota of 0.5 holds for this process already, expected at most 0.5; lower the level, or start"
    with pytest.raises(LevelError, match=said):
        QuotaControl().resolve([0.5, 1], held)


@pytest.mark.parametrize("version", [1, 2])
def test_a_quota_is_set_entered_left_and_removed(tmp_path: Path, version: int) -> None:
    tree = machine(tmp_path, version)
    with limit_cpu_time(0.5, tree, store(tmp_path, tree), tmp_path):
        (leaf,) = tree.mount.glob("scalograph-*")
        written = {file.name: file.read_text() for file in leaf.iterdir()}
        first = {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "50000"}
        assert written == (first if version == 1 else {"cpu.max": "50000 100000"})
        assert tree.moved == [leaf.name]
        assert leaf.name in (tmp_path / "state" / CHANGES).read_text()
    assert tree.moved[1:] == ["own"], "and we go back to where we came from"
    assert not list(tree.mount.glob("scalograph-*")) and not (tmp_path / "state" / CHANGES).exists()
    assert (tmp_path / "cg/u/cgroup.subtree_control").read_text() == "memory\n"


@pytest.mark.parametrize(("file", "text"), [("cpu.max", "150000 100000\n"), ("cpu.weight", "50\n")])
def test_cpu_time_that_others_were_given_meanwhile_is_not_taken_away(tmp_path: Path, file: str, text: str) -> None:
    tree = machine(tmp_path, 2)
    with limit_cpu_time(0.5, tree, store(tmp_path, tree), tmp_path):
        write(tree.mount / "user.slice" / file, text)
    assert tree.is_delegated() and not (tmp_path / "state" / CHANGES).exists()


def test_the_tree_is_the_one_that_has_the_controller(tmp_path: Path) -> None:
    for version in (1, 2):
        tree = machine(tmp_path / str(version), version)
        found = cpu_tree(tmp_path / str(version))
        assert found is not None and found.mount == tree.mount
        assert isinstance(found, V1Tree) == (version == 1)
        assert found.own_folder() == tree.mount / "own"


def test_why_it_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = find_quota_refusal(tmp_path / "nothing")
    assert found and found.why == "no cgroup has the controller cpu here"
    machine(tmp_path, 2)
    assert find_quota_refusal(tmp_path) is None
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    found = find_quota_refusal(tmp_path)
    assert found and found.why == "EACCES: no permission to make a cgroup"


def test_a_container_is_told_from_a_lack_of_rights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = machine(tmp_path, 2)
    write(tree.mount / "cgroup.type", "domain\n")
    write(tree.mount / "cgroup.procs", "")
    assert find_quota_refusal(tmp_path) is None
    write(tree.mount / "cgroup.procs", "1\n")
    found = find_quota_refusal(tmp_path)
    assert found and found.why == "the visible root of cgroup v2 holds processes (a container)"


def test_a_smaller_quota_around_us_is_never_exceeded(tmp_path: Path) -> None:
    tree = machine(tmp_path, 2)
    write(tmp_path / "cg/u/own/cpu.max", "50000 100000\n")
    with (
        pytest.raises(HostError, match=r"quota: 1 CPUs, but a quota of 0.5 holds .*; lower the level"),
        limit_cpu_time(1, tree, store(tmp_path, tree), tmp_path),
    ):
        pass
    assert not list(tree.mount.glob("scalograph-*"))


def test_a_quota_that_is_lost_during_the_run_is_told(tmp_path: Path) -> None:
    tree = machine(tmp_path, 2)
    with (
        pytest.raises(HostError, match=r"in force: none, expected 0\.5 CPUs"),
        limit_cpu_time(0.5, tree, store(tmp_path, tree), tmp_path),
    ):
        (leaf,) = tree.mount.glob("scalograph-*")
        (leaf / "cpu.max").write_text("max 100000\n")
    assert not list(tree.mount.glob("scalograph-*"))


def test_the_kernels_reason_is_told_and_nothing_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = machine(tmp_path, 1)
    written = tree.write

    def refuse(file: Path, text: str) -> None:
        if file.name == "cpu.cfs_quota_us":
            raise OSError(22, "Invalid argument")
        written(file, text)

    monkeypatch.setattr(tree, "write", refuse)
    with (
        pytest.raises(HostError, match=r"the kernel refuses 0.5 CPUs \(EINVAL: Invalid argument\)"),
        limit_cpu_time(0.5, tree, store(tmp_path, tree), tmp_path),
    ):
        pass
    assert not list(tree.mount.glob("scalograph-*"))


STUDY = {
    "version": 1, "name": "s", "title": "t", "work": "total", "seed": 1, "workload": {"command": ["true"]},
    "factors": {
        "cpus": {"control": "cpus", "levels": [1]},
        "isolation": {"control": "isolation", "levels": ["exclusive"]},
        "quota": {"control": "quota", "levels": [0.5, "none"]},
    },
}  # fmt: skip


def test_a_launch_says_its_quota_and_exclusive_cpus_go_without() -> None:
    study = Study.model_validate(STUDY)
    assert apply(study, {"cpus": 1, "isolation": "shared", "quota": 0.5}, Launch(), FREE).quota_cpus == 0.5
    assert apply(study, {"cpus": 1, "isolation": "exclusive", "quota": "none"}, Launch(), FREE).quota_cpus is None
    with pytest.raises(LevelError, match="exclusive CPUs under a quota, expected one of them"):
        apply(study, {"cpus": 1, "isolation": "exclusive", "quota": 0.5}, Launch(), FREE)


def test_what_the_study_set_disturbs_nothing() -> None:
    found = record().replace_values(throttled_ns=500_000_000)
    assert [cause.cause for cause in judge(found).causes] == ["quota"]
    assert judge(found.replace_values(quota_cpus=0.5)).causes == []


granted = pytest.mark.skipif(find_quota_refusal() is not None or os.geteuid() != 0, reason="no quota is granted here")
SPIN = "import time\nend = time.monotonic() + 0.35\nwhile time.monotonic() < end: pass"
HELD = """
import subprocess, sys, time
from pathlib import Path
from scalograph.control.capacity import limit_cpu_time
from scalograph.system.cgroups import cpu_tree
from scalograph.control.store import Store
with limit_cpu_time(0.5, store=Store(Path(sys.argv[1]), None, cpu_time=cpu_tree())):
    print(subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL).pid, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def live(tmp_path: Path) -> Store:
    return Store(tmp_path / "state", None, cpu_time=cpu_tree())


def throttled(leaf: Path) -> bool:
    """Compute without a pause; tell whether the kernel has ever held the group back."""
    subprocess.run([sys.executable, "-c", SPIN], check=True)
    figures = dict(line.split() for line in (leaf / "cpu.stat").read_text().splitlines())
    return int(figures["nr_throttled"]) > 0


@pytest.mark.guarantee
@pytest.mark.xdist_group("machine")
@granted
def test_a_quota_of_the_kernel(live: Store) -> None:
    tree = live.cpu_time
    assert isinstance(tree, CgroupTree)
    own, before = tree.own_folder(), cpu_quota()
    with limit_cpu_time(0.2, store=live):
        leaf = tree.own_folder()
        assert leaf is not None and leaf.name.startswith("scalograph-")
        assert any(throttled(leaf) for _ in range(20)), "a hypervisor may leave it less than its quota for a while"
        assert cpu_quota() == 0.2
    assert (tree.own_folder(), cpu_quota()) == (own, before)
    assert not leaf.exists()


@pytest.mark.guarantee
@pytest.mark.xdist_group("machine")
@granted
def test_a_quota_whose_owner_was_killed_is_taken_away(live: Store) -> None:
    tree = live.cpu_time
    assert isinstance(tree, CgroupTree)
    home = str(Path(scalograph.__file__).parents[1])
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join([home, *filter(None, sys.path)])}
    argv = [sys.executable, "-B", "-c", HELD, str(live.folder)]
    with subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        left = int(owner.stdout.readline())
        owner.kill()
    assert Path(f"/proc/{left}").exists(), "what it started is still there"
    told = put_right(live)
    assert len(told) == 1 and told[0].endswith("with its quota: removed")
    name = told[0].split()[1]
    assert not tree.has_leaf(name)
