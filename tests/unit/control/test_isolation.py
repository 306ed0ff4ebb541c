"""Exclusive CPUs: on a tree of paper that answers as a kernel with partitions, and by name where refused."""

import os
from pathlib import Path

import pytest

from scalograph.control.base import Launch, LevelError
from scalograph.control.isolation import IsolationControl, exclusive, refusal
from scalograph.control.store import CHANGES, Store
from scalograph.errors import HostError
from scalograph.facts import HostFacts

from .paper import PaperTree, machine
from .trees import planted, write

FREE, BOUND = HostFacts(cpus=()), HostFacts(cpus=(), refused={"isolation": "no cgroup v2 is mounted"})


def test_levels() -> None:
    control = IsolationControl()
    assert control.resolve(["shared", "exclusive"], FREE) == ["shared", "exclusive"]
    assert control.resolve(["shared"], BOUND) == ["shared"]
    assert control.apply(Launch(), "exclusive", FREE).exclusive is True
    assert control.apply(Launch(exclusive=True), "shared", FREE).exclusive is False
    with pytest.raises(LevelError, match=r"isolation exclusive is refused here \(no cgroup v2 is mounted\), expected"):
        control.resolve(["exclusive"], BOUND)
    with pytest.raises(LevelError, match="isolation 'own', expected one of shared, exclusive"):
        control.resolve(["own"], FREE)


def test_a_machine_that_grants_it(tmp_path: Path) -> None:
    machine(tmp_path)
    assert refusal(tmp_path) is None


def test_why_it_is_refused(tmp_path: Path) -> None:
    found = refusal(planted(tmp_path / "hybrid", "two-cpu-guest"))
    assert found and found.why == "cgroup v1 has the cpuset controller (/sys/fs/cgroup/cpuset)"
    assert "unified_cgroup_hierarchy=1" in found.fix
    found = refusal(tmp_path / "empty")
    assert found and found.why == "no cgroup v2 is mounted"
    mount = machine(tmp_path / "a")
    write(mount / "cgroup.type", "domain\n")
    found = refusal(tmp_path / "a")
    assert found and found.why == "the visible root of cgroup v2 is no partition (a container)"
    write(mount / "cpuset.cpus.partition", "root\n")
    assert refusal(tmp_path / "a") is None
    write(mount / "cgroup.controllers", "cpu memory\n")
    found = refusal(tmp_path / "a")
    assert found and found.why == "cgroup v2 has no cpuset controller here"


def test_nobody_may_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(tmp_path)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    found = refusal(tmp_path)
    assert found and found.why == "EACCES: no permission to make a cgroup"


def test_a_partition_is_made_entered_left_and_removed(tmp_path: Path) -> None:
    mount = machine(tmp_path / "root")
    tree = PaperTree(mount, tmp_path / "root")
    store = Store(tmp_path / "state", tree)
    with exclusive((2, 3, 5), tree, store, tmp_path / "root"):
        (leaf,) = mount.glob("scalograph-*")
        assert (leaf / "cpuset.cpus.partition").read_text() == "root\n"
        assert (leaf / "cpuset.cpus.effective").read_text() == "2-3,5"
        assert tree.delegated()
        assert leaf.name in (tmp_path / "state" / CHANGES).read_text()
        assert tree.moved == [(leaf.name, str(os.getpid()))], "nobody is moved but ourselves"
    assert tree.moved[1:] == [("session-1.scope", str(os.getpid()))], "and we go back to where we came from"
    assert not tree.delegated() and not list(mount.glob("scalograph-*"))
    assert not (tmp_path / "state" / CHANGES).exists()


def test_a_delegation_that_was_there_stays(tmp_path: Path) -> None:
    mount = machine(tmp_path / "root")
    tree = PaperTree(mount, tmp_path / "root")
    tree.delegate(True)
    with exclusive((1,), tree, Store(tmp_path / "state", tree), tmp_path / "root"):
        pass
    assert tree.delegated()


def test_the_kernels_reason_against_a_partition_is_told_and_all_is_put_back(tmp_path: Path) -> None:
    mount = machine(tmp_path / "root")
    tree = PaperTree(mount, tmp_path / "root", invalid="Cpu list in cpuset.cpus not exclusive")
    with (
        pytest.raises(HostError, match=r"partition root invalid \(Cpu list in cpuset.cpus not exclusive\), CPUs 1"),
        exclusive((1,), tree, Store(tmp_path / "state", tree), tmp_path / "root"),
    ):
        raise AssertionError("no run without its CPUs")
    assert not tree.moved and not tree.delegated() and not list(mount.glob("scalograph-*"))


def test_a_partition_that_is_lost_during_the_run_is_told(tmp_path: Path) -> None:
    mount = machine(tmp_path / "root")
    tree = PaperTree(mount, tmp_path / "root")
    with (
        pytest.raises(HostError, match=r"partition root invalid \(hotplug\)"),
        exclusive((1,), tree, Store(tmp_path / "state", tree), tmp_path / "root"),
    ):
        (leaf,) = mount.glob("scalograph-*")
        (leaf / "cpuset.cpus.partition").write_text("root invalid (hotplug)\n")
    assert not list(mount.glob("scalograph-*"))


def test_without_a_place_for_the_record_nothing_is_changed(tmp_path: Path) -> None:
    tree = PaperTree(machine(tmp_path), tmp_path)
    with pytest.raises(HostError, match="not locked"), exclusive((1,), tree, Store(None, tree), tmp_path):
        pass
    assert not tree.delegated()


@pytest.mark.skipif(refusal() is None, reason="this machine grants partitions")
def test_this_machine_refuses_by_name() -> None:
    with pytest.raises(HostError, match=r"isolation exclusive: .*expected a cgroup v2 partition"), exclusive((0,)):
        pass
