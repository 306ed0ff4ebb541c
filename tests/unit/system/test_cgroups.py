"""Leaves of our own in the cgroup v2 tree of this machine, where it lets us."""

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from scalograph.errors import HostError
from scalograph.system.cgroups import CgroupTree, cgroup2_mount, v1_mount
from tests.unit.control.trees import planted, write

MOUNT = cgroup2_mount() or Path("/nowhere")
live = pytest.mark.skipif(
    not os.access(MOUNT, os.W_OK) or os.geteuid() != 0, reason="no cgroup v2 that we may write to"
)  # fmt: skip


@pytest.fixture
def tree() -> CgroupTree:
    return CgroupTree(MOUNT)


@pytest.fixture
def name(tree: CgroupTree) -> Iterator[str]:
    made = f"scalograph-{secrets.token_hex(8)}"
    yield made
    tree.remove_leaf(made)


def test_mounts(tmp_path: Path) -> None:
    root = planted(tmp_path / "guest", "two-cpu-guest")
    assert cgroup2_mount(root) == root / "sys/fs/cgroup/unified"
    assert (v1_mount("cpuset", root), v1_mount("cpu", root)) == ("/sys/fs/cgroup/cpuset", None)
    assert cgroup2_mount(tmp_path / "nothing") is None
    # A part of the hierarchy, and a space in a name.
    lines = "1 2 0:3 /part /first rw - cgroup2 cgroup2 rw\n1 2 0:3 / /a\\040b rw shared:1 - cgroup2 cgroup2 rw\nx\n"
    write(tmp_path / "proc/self/mountinfo", lines)
    assert cgroup2_mount(tmp_path) == tmp_path / "a b"


@pytest.mark.parametrize("name", ["", "init.scope", "..", "scalograph-../x", "scalograph-", "scalograph-0G", "/etc"])
def test_no_other_folder_is_ever_touched(tmp_path: Path, name: str) -> None:
    (tmp_path / "init.scope").mkdir()
    tree = CgroupTree(tmp_path)
    for touch in (tree.make_leaf, tree.remove_leaf, tree.has_leaf):
        with pytest.raises(ValueError, match="is no leaf of ours"):
            touch(name)
    assert (tmp_path / "init.scope").is_dir()


def test_a_link_in_place_of_a_leaf_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "elsewhere/below").mkdir(parents=True)
    (tmp_path / "scalograph-00").symlink_to("elsewhere")
    CgroupTree(tmp_path).remove_leaf("scalograph-00")
    assert (tmp_path / "elsewhere/below").is_dir()


def below(tmp_path: Path, *groups: str) -> CgroupTree:
    """Plain files for cgroups; we are in the first."""
    write(tmp_path / "proc/self/cgroup", f"0::/{groups[0]}\n")
    for group in groups:
        write(tmp_path / "cg" / group / "cgroup.procs", "")
    return CgroupTree(tmp_path / "cg", tmp_path)


@pytest.mark.parametrize(("gone", "home"), [("none", "a/b"), ("a/b", "a"), ("a", "")])
def test_we_come_back_to_the_nearest_cgroup_that_is_still_there(tmp_path: Path, gone: str, home: str) -> None:
    tree = below(tmp_path, "a/b", "a", "scalograph-00", "")
    with tree.enter(tree.leaf("scalograph-00")):
        shutil.rmtree(tree.mount / gone, ignore_errors=True)
    found = {file.parent for file in tree.mount.rglob("cgroup.procs") if file.read_text() == str(os.getpid())}
    assert found == {tree.leaf("scalograph-00"), tree.mount / home}


def test_a_way_back_that_the_kernel_bars_is_told(tmp_path: Path) -> None:
    tree = below(tmp_path, "a/b", "scalograph-00", "")
    said = r"cgroup .*cg/a/b: the kernel does not let us back \(Is a directory\), expected the cgroup that we came from"
    with pytest.raises(HostError, match=said), tree.enter(tree.leaf("scalograph-00")):
        (tree.mount / "a/b/cgroup.procs").unlink()
        (tree.mount / "a/b/cgroup.procs").mkdir()


@pytest.mark.guarantee
def test_without_a_kill_of_the_kernel_all_below_are_killed_and_who_has_ended_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scalograph.system.cgroups._REMOVAL_S", 0.2)
    tree = below(tmp_path, "a", "scalograph-00", "scalograph-00/below")
    ended = subprocess.Popen(["true"])
    ended.wait()
    with subprocess.Popen(["sleep", "60"]) as inner:
        write(tree.leaf("scalograph-00") / "cgroup.procs", f"{ended.pid}\n")
        write(tree.leaf("scalograph-00") / "below/cgroup.procs", f"{inner.pid}\n")
        with pytest.raises(OSError, match="Directory not empty"):  # files of paper stay
            tree.remove_leaf("scalograph-00")
        assert inner.wait(5) == -9


@live
def test_a_leaf_goes_with_everything_in_it(tree: CgroupTree, name: str) -> None:
    tree.remove_leaf(name)
    assert not tree.has_leaf(name), "and removing what is not there is no error"
    leaf = tree.make_leaf(name)
    (leaf / "below").mkdir()
    with subprocess.Popen(["sleep", "600"]) as inner, subprocess.Popen(["sleep", "600"]) as outer:
        try:
            tree.write(leaf / "cgroup.procs", str(outer.pid))
            tree.write(leaf / "below/cgroup.procs", str(inner.pid))
            tree.remove_leaf(name)
            assert (outer.wait(5), inner.wait(5)) == (-9, -9)
            assert not tree.has_leaf(name)
        finally:
            outer.kill()
            inner.kill()


@live
def test_we_go_into_a_leaf_and_come_back_with_our_mask(tree: CgroupTree, name: str) -> None:
    leaf = tree.make_leaf(name)
    before, mask = tree.own_folder(), os.sched_getaffinity(0)
    with tree.enter(leaf):
        assert tree.own_folder() == leaf
        child = subprocess.run(["cat", "/proc/self/cgroup"], capture_output=True, text=True, check=True)
        assert f"0::/{name}\n" in child.stdout
        with pytest.raises(OSError, match="this process itself is in the leaf"):
            tree.remove_leaf(name)
    assert (tree.own_folder(), os.sched_getaffinity(0)) == (before, mask)
