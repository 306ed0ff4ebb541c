"""Leaves that were left empty are removed; everything that might be somebody's stays."""

import json
import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from scalograph.control.store import Store, lock_machine
from scalograph.run.hosts.local.probe import PROGRAM, find_probe
from scalograph.system import stale_cgroups
from scalograph.system.cgroups import CgroupTree, cgroup2_mount
from scalograph.system.stale_cgroups import end_orphaned_run, remove_stale_cgroups
from tests.unit.control.paper import machine, put_right
from tests.unit.control.trees import write

pytestmark = pytest.mark.guarantee

LEFT = "scalograph-4d2aabbccdd"  # 4d2 is process 1234
TOLD = [f"cgroup {LEFT}, left empty: removed"]
MOUNT = cgroup2_mount() or Path("/nowhere")
live = pytest.mark.skipif(
    not os.access(MOUNT, os.W_OK) or os.geteuid() != 0, reason="no cgroup v2 that we may write to"
)  # fmt: skip


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CgroupTree:
    """Plain files in place of a kernel's: they are taken along when their folder is removed."""

    def removed(leaf: Path) -> bool:
        (leaf / "cgroup.events").unlink()
        leaf.rmdir()
        return True

    monkeypatch.setattr(stale_cgroups, "_remove_empty", removed)
    return CgroupTree(machine(tmp_path), tmp_path)


def leave(home: Path, name: str = LEFT, age_s: float = 3600, events: str = "populated 0\nfrozen 0\n") -> Path:
    leaf = home / name
    write(leaf / "cgroup.events", events)
    os.utime(leaf, (time.time() - age_s,) * 2)
    return leaf


@pytest.mark.parametrize("below", [".", "user.slice/session-1.scope"])
def test_an_empty_leaf_is_removed_below_the_mount_and_in_our_own_cgroup(
    tree: CgroupTree, tmp_path: Path, below: str
) -> None:
    leaf = leave(tree.mount / below)
    assert remove_stale_cgroups(tree, tmp_path) == TOLD
    assert not leaf.exists()
    assert remove_stale_cgroups(tree, tmp_path) == []


OTHER_NAMES = ("scalograph-", "scalograph-XY", "scalograph-4d2.scope", "init.scope", "xscalograph-4d2")
NOT_SURELY_EMPTY = ("populated 1\nfrozen 0\n", "frozen 0\n", "", "populated 01\n")


@pytest.mark.parametrize(("below", "leaf_of"), [
    *((".", {"name": name}) for name in OTHER_NAMES), *((".", {"events": events}) for events in NOT_SURELY_EMPTY),
    (".", {"age_s": 30}), ("system.slice", {}),
], ids=repr)  # fmt: skip
def test_other_names_what_is_not_surely_empty_what_is_young_and_what_is_elsewhere_stays(
    tree: CgroupTree, tmp_path: Path, below: str, leaf_of: dict[str, Any]
) -> None:
    leaf = leave(tree.mount / below, **leaf_of)
    assert remove_stale_cgroups(tree, tmp_path) == [] and leaf.is_dir()


@pytest.mark.parametrize(("comm", "state", "told"), [
    ("scalograph-prob", None, []), ("bash", None, TOLD), ("scalograph-prob", "S", []),
    ("scalograph-prob", "Z", TOLD),  # it is dead, and nobody waits for it
])  # fmt: skip
def test_the_leaf_of_a_running_probe_stays(
    tree: CgroupTree, tmp_path: Path, comm: str, state: str | None, told: list[str]
) -> None:
    leaf = leave(tree.mount)
    write(tmp_path / "proc/1234/comm", f"{comm}\n")
    if state:
        write(tmp_path / "proc/1234/stat", f"1234 ({comm}) {state} 1 1234\n")
    assert remove_stale_cgroups(tree, tmp_path) == told and leaf.is_dir() == (not told)


def test_the_leaf_of_a_probe_that_starts_meanwhile_stays(
    tree: CgroupTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(root: Path) -> tuple[str, ...]:
        probes = running(root)
        leave(tree.mount, events="populated 1\n")
        return probes

    running = stale_cgroups._running_probes
    monkeypatch.setattr(stale_cgroups, "_running_probes", start)
    monkeypatch.setattr(stale_cgroups, "_all_seen", lambda leaf: True)
    assert remove_stale_cgroups(tree, tmp_path) == [] and (tree.mount / LEFT).is_dir()


def test_the_leaf_of_a_child_that_was_killed_goes_at_once(tree: CgroupTree, tmp_path: Path) -> None:
    leaf, other = leave(tree.mount, age_s=0), leave(tree.mount, "scalograph-5d2aabbccdd", age_s=0)
    end_orphaned_run(0x4D2, tmp_path)
    assert not leaf.exists() and other.is_dir()


def test_a_link_is_not_followed(tree: CgroupTree, tmp_path: Path) -> None:
    target, link = leave(tmp_path / "elsewhere", "kept"), tree.mount / LEFT
    link.symlink_to(target)
    assert remove_stale_cgroups(tree, tmp_path, min_age_s=0) == [] and target.is_dir() and link.is_symlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_anothers_leaf_stays(tree: CgroupTree, tmp_path: Path) -> None:
    leaf = leave(tree.mount)
    os.chown(leaf, 65534, 65534)
    assert remove_stale_cgroups(tree, tmp_path) == [] and leaf.is_dir()


def test_every_start_sweeps_under_the_lock(tree: CgroupTree, tmp_path: Path) -> None:
    store = Store(tmp_path / "state", tree)
    with lock_machine(store=store):
        leave(tree.mount)
        assert put_right(store) == [] and (tree.mount / LEFT).is_dir(), "while a start is at work, nothing is"
    assert put_right(store) == TOLD


@pytest.fixture
def name() -> Iterator[str]:
    made = f"scalograph-{secrets.token_hex(8)}"
    yield made
    CgroupTree(MOUNT).remove_leaf(made)


@live
def test_the_kernels_own_leaves(name: str) -> None:
    tree = CgroupTree(MOUNT)
    leaf = tree.make_leaf(name)
    below = leaf / "made by a workload"
    below.mkdir()
    with subprocess.Popen(["sleep", "600"]) as inside:
        try:
            for inhabited in (leaf, below):
                tree.write(inhabited / "cgroup.procs", str(inside.pid))
                assert not stale_cgroups._is_stale(leaf, 0)
            assert not stale_cgroups._remove_empty(leaf), "the kernel holds on to what has a process"
            assert inside.poll() is None
        finally:
            inside.kill()
    assert leaf.is_dir() and not stale_cgroups._is_stale(leaf, stale_cgroups.MIN_AGE_S)
    assert stale_cgroups._is_stale(leaf, 0) and stale_cgroups._remove_empty(leaf)
    assert f"cgroup {name}, left empty: removed" not in remove_stale_cgroups(tree)


@live
def test_what_a_probe_left_running_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = CgroupTree(MOUNT)
    leaf = tree.make_leaf(f"scalograph-{secrets.token_hex(7)}")  # of a probe; those of settings have sixteen digits
    below = leaf / "made by a workload"
    below.mkdir()
    with subprocess.Popen(["sleep", "600"]) as inside:
        tree.write(below / "cgroup.procs", str(inside.pid))
        with monkeypatch.context() as patch:
            patch.setattr(stale_cgroups, "list_processes", lambda folder: [0, inside.pid])
            assert not stale_cgroups._is_stale(leaf, 0), "a container around ours may hold its probe"
        assert f"cgroup {leaf.name}, left by a killed probe: 1 processes ended, removed" in remove_stale_cgroups(tree)
        assert inside.wait(10) == -9 and not leaf.exists()


@live
@pytest.mark.skipif(find_probe().warning is not None, reason="only the native probe makes leaves")
@pytest.mark.parametrize(
    ("around", "name"),
    [((), PROGRAM), ((), "other"), (("unshare", "--pid", "--fork", "--kill-child", "--mount-proc"), PROGRAM)],
)
def test_another_start_touches_no_process_of_a_living_study(tmp_path: Path, around: Sequence[str], name: str) -> None:
    """It finds the leaf of its run, whatever its probe is called, and however its processes are numbered."""
    program = shutil.copy(find_probe().argv[0], tmp_path / name)
    words = ["sleep", f"20.{secrets.randbits(40)}"]
    command = {"argv": words, "cwd": "/", "env": {"PATH": os.defpath}}
    line = json.dumps({"protocol": 1, "run": "r", "commands": [command], "timeout_ns": 20 * 10**9})
    with subprocess.Popen([*around, program], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as probe:
        assert probe.stdin is not None
        probe.stdin.write(line + "\n")
        probe.stdin.flush()
        while (held := started(words)) is None:
            assert probe.poll() is None
        put_right(Store(tmp_path / "state", CgroupTree(MOUNT)))
        assert (held / "stat").read_text().split()[2] not in "ZX" and probe.poll() is None
        probe.kill()


def started(words: Sequence[str]) -> Path | None:
    """Return the folder in /proc of a process of a run that has these arguments."""
    for file in MOUNT.glob("scalograph-*/**/cgroup.procs"):
        with suppress(OSError):  # others measure here too
            for pid in file.read_text().split():
                if Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")[:-1] == [*words]:
                    return Path(f"/proc/{pid}")
    return None
