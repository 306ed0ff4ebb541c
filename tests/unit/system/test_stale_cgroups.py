"""Leaves of our own in the cgroup v2 tree: made, entered, left; those that were left empty are removed.

Everything that might be somebody's stays.
"""

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
from pytest import MonkeyPatch

from scalograph.control.store import Store, lock_machine
from scalograph.errors import HostError
from scalograph.run.hosts.local.probe import PROGRAM, find_probe
from scalograph.system import stale_processes
from scalograph.system.cgroups import CgroupTree, cgroup2_mount, v1_mount
from scalograph.system.stale_processes import (
    MARK,
    end_orphaned_run,
    kill_stale_processes,
    owner_variables,
    remove_stale_cgroups,
)
from tests.kit.processes import sleeping, wait_until
from tests.kit.refusals import refuses
from tests.unit.control.paper import machine, put_right
from tests.unit.control.trees import planted, write

pytestmark = pytest.mark.guarantee

LEFT = "scalograph-4d2aabbccdd"  # 4d2 is process 1234
TOLD = [f"cgroup {LEFT}, left empty: removed"]
MOUNT = cgroup2_mount() or Path("/nowhere")
LIVE = CgroupTree(MOUNT)
live = pytest.mark.skipif(
    not os.access(MOUNT, os.W_OK) or os.geteuid() != 0, reason="no cgroup v2 that we may write to"
)  # fmt: skip


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: MonkeyPatch) -> CgroupTree:
    """Plain files in place of a kernel's: they are taken along when their folder is removed."""

    def removed(leaf: Path) -> bool:
        (leaf / "cgroup.events").unlink()
        leaf.rmdir()
        return True

    monkeypatch.setattr(stale_processes, "_remove_empty", removed)
    return CgroupTree(machine(tmp_path), tmp_path)


def leave(home: Path, name: str = LEFT, age_s: float = 3600, events: str = "populated 0\nfrozen 0\n") -> Path:
    leaf = home / name
    write(leaf / "cgroup.events", events)
    os.utime(leaf, (time.time() - age_s,) * 2)
    return leaf


@pytest.mark.parametrize("below", [".", "user.slice/session-1.scope"])
def test_an_empty_leaf_below_the_mount_or_our_own_cgroup_goes(tree: CgroupTree, tmp_path: Path, below: str) -> None:
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
def test_what_is_not_surely_left_stays(tree: CgroupTree, tmp_path: Path, below: str, leaf_of: dict[str, Any]) -> None:
    leaf = leave(tree.mount / below, **leaf_of)
    assert remove_stale_cgroups(tree, tmp_path) == [] and leaf.is_dir()


@pytest.mark.parametrize(("comm", "state", "told"), [
    ("scalograph-prob", None, []), ("bash", None, TOLD), ("scalograph-prob", "S", []),
    ("scalograph-prob", "Z", TOLD),  # it is dead, and nobody waits for it
])  # fmt: skip
def test_leaves_in_use_stay(tree: CgroupTree, tmp_path: Path, comm: str, state: str | None, told: list[str]) -> None:
    leaf = leave(tree.mount)
    write(tmp_path / "proc/1234/comm", f"{comm}\n")
    if state:
        write(tmp_path / "proc/1234/stat", f"1234 ({comm}) {state} 1 1234\n")
    assert remove_stale_cgroups(tree, tmp_path) == told and leaf.is_dir() == (not told)


def test_a_leaf_that_is_entered_meanwhile_stays(tree: CgroupTree, tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    def start(root: Path) -> tuple[str, ...]:
        probes = running(root)
        leave(tree.mount, events="populated 1\n")
        return probes

    running = stale_processes._running_probes
    monkeypatch.setattr(stale_processes, "_running_probes", start)
    monkeypatch.setattr(stale_processes, "_all_seen", lambda leaf: True)
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
def leaf() -> Iterator[Path]:
    """One of the kernel, as a setting is held in."""
    made = LIVE.make_leaf(f"scalograph-{secrets.token_hex(8)}")
    yield made
    LIVE.remove_leaf(made.name)


@live
def test_the_kernels_own_leaves(leaf: Path) -> None:
    below = leaf / "made by a workload"
    below.mkdir()
    with sleeping() as inside:
        for inhabited in (leaf, below):
            LIVE.write(inhabited / "cgroup.procs", str(inside.pid))
            assert not stale_processes._is_stale_leaf(leaf, 0)
        assert not stale_processes._remove_empty(leaf), "the kernel holds on to what has a process"
        assert inside.poll() is None
    assert leaf.is_dir() and not stale_processes._is_stale_leaf(leaf, stale_processes.MIN_AGE_S)
    assert stale_processes._is_stale_leaf(leaf, 0) and stale_processes._remove_empty(leaf)
    assert f"cgroup {leaf.name}, left empty: removed" not in remove_stale_cgroups(LIVE)


@live
def test_what_a_probe_left_running_is_ended(monkeypatch: MonkeyPatch) -> None:
    leaf = LIVE.make_leaf(f"scalograph-{secrets.token_hex(7)}")  # of a probe; those of settings have sixteen digits
    below = leaf / "made by a workload"
    below.mkdir()
    with sleeping() as inside:
        LIVE.write(below / "cgroup.procs", str(inside.pid))
        with monkeypatch.context() as patch:
            patch.setattr(stale_processes, "list_processes", lambda folder: [0, inside.pid])
            assert not stale_processes._is_stale_leaf(leaf, 0), "a container around ours may hold its probe"
        assert f"cgroup {leaf.name}, left by a killed probe: 1 processes ended, removed" in remove_stale_cgroups(LIVE)
        assert inside.wait(10) == -9 and not leaf.exists()


@live
@pytest.mark.skipif(find_probe().warning is not None, reason="only the native probe makes leaves")
@pytest.mark.parametrize(("around", "name"), [
    ((), PROGRAM), ((), "other"), (("unshare", "--pid", "--fork", "--kill-child", "--mount-proc"), PROGRAM),
])  # fmt: skip
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
        put_right(Store(tmp_path / "state", LIVE))
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
        refuses(ValueError, "is no leaf of ours", touch, name)
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


def test_without_a_kill_of_the_kernel_all_below_are_killed(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr("scalograph.system.cgroups._REMOVAL_S", 0.2)
    tree = below(tmp_path, "a", "scalograph-00", "scalograph-00/below")
    ended = subprocess.Popen(["true"])
    ended.wait()  # which is no error
    with sleeping() as inner:
        write(tree.leaf("scalograph-00") / "cgroup.procs", f"{ended.pid}\n")
        write(tree.leaf("scalograph-00") / "below/cgroup.procs", f"{inner.pid}\n")
        with pytest.raises(OSError, match="Directory not empty"):  # files of paper stay
            tree.remove_leaf("scalograph-00")
        assert inner.wait(5) == -9


@live
def test_a_leaf_goes_with_everything_in_it(leaf: Path) -> None:
    (leaf / "below").mkdir()
    with sleeping() as inner, sleeping() as outer:
        LIVE.write(leaf / "cgroup.procs", str(outer.pid))
        LIVE.write(leaf / "below/cgroup.procs", str(inner.pid))
        LIVE.remove_leaf(leaf.name)
        assert (outer.wait(5), inner.wait(5)) == (-9, -9)
        assert not LIVE.has_leaf(leaf.name)
    LIVE.remove_leaf(leaf.name)  # what is not there is no error
    assert not LIVE.has_leaf(leaf.name)


@live
def test_we_go_into_a_leaf_and_come_back_with_our_mask(leaf: Path) -> None:
    before, mask = LIVE.own_folder(), os.sched_getaffinity(0)
    with LIVE.enter(leaf):
        assert LIVE.own_folder() == leaf
        child = subprocess.run(["cat", "/proc/self/cgroup"], capture_output=True, text=True, check=True)
        assert f"0::/{leaf.name}\n" in child.stdout
        refuses(OSError, "this process itself is in the leaf", LIVE.remove_leaf, leaf.name)
    assert (LIVE.own_folder(), os.sched_getaffinity(0)) == (before, mask)


DEAD = f"{MARK}=1234.5678"


@pytest.fixture
def left() -> Iterator[int]:
    """A process that is somebody's."""
    with sleeping() as process:
        yield process.pid


def test_a_mark_is_found_where_the_kernel_shows_it() -> None:
    with sleeping(env=owner_variables()) as ours:
        folder = Path(f"/proc/{ours.pid}")
        wait_until(lambda: b"sleep" in (folder / "cmdline").read_bytes())
        assert owner_variables()[MARK].encode() in (folder / "environ").read_bytes()
        assert not stale_processes._is_stale(folder, Path("/")), "while its start is at work"


def shown(root: Path, pid: int, environ: str, namespace: str = "pid:[1]") -> None:
    """What /proc tells of a process, and of a start that is at work as 99."""
    folder = root / "proc" / str(pid)
    (folder / "ns").mkdir(parents=True)
    (folder / "ns/pid").symlink_to(namespace)
    (folder / "environ").write_text(environ.replace(" ", "\0") + "\0")
    for name, ticks in (("self", 0), ("99", 77)):
        (root / "proc" / name / "ns").mkdir(parents=True, exist_ok=True)
        (root / "proc" / name / "stat").write_text(f"99 (a b) S {'0 ' * 18}{ticks} 0\n")
    (root / "proc/self/ns/pid").symlink_to("pid:[1]")


def is_alive(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


@pytest.mark.parametrize("environ", [DEAD, f"PATH=/bin {DEAD} LANG=C", f"{MARK}=99.76"])
def test_what_a_dead_start_left_ends(tmp_path: Path, left: int, environ: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown(tmp_path, left, environ)
    monkeypatch.setattr(stale_processes, "_WAIT_S", 0)  # a folder stays where a process goes
    assert kill_stale_processes(tmp_path) == [f"process {left}, left by a step: ended"]
    os.waitid(os.P_PID, left, os.WEXITED | os.WNOWAIT)


# A start at work, words that are no mark, marks of no process; a start whose number is of another container.
@pytest.mark.parametrize(("environ", "namespace", "owner"), [
    *((environ, "pid:[1]", None) for environ in (
        f"{MARK}=99.77", f"X{DEAD}", f"{MARK}=", f"{MARK}=1234", f"{MARK}=0.1", f"{MARK}=a.b", "",
    )),
    (DEAD, "pid:[2]", None),
    pytest.param(DEAD, "pid:[1]", 65534, marks=pytest.mark.skipif(os.geteuid() != 0, reason="only root can give away")),
])  # fmt: skip
def test_what_may_be_anothers_stays(tmp_path: Path, left: int, environ: str, namespace: str, owner: int | None) -> None:
    shown(tmp_path, left, environ, namespace)
    if owner:
        os.chown(tmp_path / "proc" / str(left), owner, owner)
    assert kill_stale_processes(tmp_path) == [] and is_alive(left)
