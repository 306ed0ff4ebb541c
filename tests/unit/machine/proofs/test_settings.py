"""Settings as they are read, from a tree of files and from this process; processes by their mark."""

import os
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from scalograph.machine.proofs.proof_context import find_empty_leaves, leaf_parents, read_settings
from scalograph.machine.proofs.proof_run import find_marked, kill_marked
from tests.unit.control.trees import write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A machine with cgroup v2 and two CPUs; we are in /system/user."""
    for name, text in {
        "proc/self/mountinfo": "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n",
        "proc/self/cgroup": "0::/system/user\n",
        "cg/cgroup.subtree_control": "cpuset cpu\n",
        "cg/system/user/cgroup.subtree_control": "\n",
        "cg/scalograph-1a/cgroup.events": "populated 0\nfrozen 0\n",
        "cg/system/user/scalograph-2b/cgroup.events": "populated 1\nfrozen 0\n",
        "cg/other/cgroup.events": "populated 0\n",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
        "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "powersave\n",
    }.items():
        write(tmp_path / name, text)
    return tmp_path


def test_leaves_are_looked_for_where_they_are_made(root: Path) -> None:
    assert leaf_parents(root) == [root / "cg/system/user", root / "cg"]
    assert find_empty_leaves(root) == {root / "cg/scalograph-1a"}
    (root / "proc/self/mountinfo").unlink()  # without cgroup v2 there is nothing to look at
    assert (leaf_parents(root), find_empty_leaves(root)) == ([], set())


def test_what_a_study_can_touch_is_read(root: Path) -> None:
    found = read_settings(root)
    assert (found["governor of cpu0"], found["governor of cpu1"]) == ("performance", "powersave")
    assert found[f"{root}/cg/cgroup.subtree_control"] == "cpuset cpu"
    assert found[f"{root}/cg/system/user/cgroup.subtree_control"] == ""
    assert found["our nice value"] == str(os.getpriority(os.PRIO_PROCESS, 0))


def test_a_change_of_ourselves_shows() -> None:
    before, mask = read_settings(), os.sched_getaffinity(0)
    if len(mask) < 2:
        pytest.skip("needs 2 CPUs")
    os.sched_setaffinity(0, {min(mask)})
    try:
        now = read_settings()
    finally:
        os.sched_setaffinity(0, mask)
    assert {name for name in now if now[name] != before[name]} >= {"our CPUs"}
    assert now["our CPUs"] == str(min(mask))


def test_marked_processes_are_found_and_ended() -> None:
    mark = f"sanity-{uuid4().hex}"
    sleeper = [sys.executable, "-S", "-c", "import time; print(flush=True); time.sleep(60)", mark]
    with subprocess.Popen(sleeper, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.read(1)
        assert find_marked(mark) == (process.pid,)
        kill_marked(mark)
        assert process.wait(20) == -9
    assert find_marked(mark) == ()
