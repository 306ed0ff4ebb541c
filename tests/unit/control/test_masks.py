"""Masks of others that an old kernel would forget: found on machines of paper, one file for each thread."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scalograph.control.isolation import Refusal, _mask, find_isolation_refusal, find_mask_at_risk
from tests.unit.control.paper import machine
from tests.unit.control.trees import write

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
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as child:
        first = min(os.sched_getaffinity(0))
        os.sched_setaffinity(child.pid, {first})
        try:
            assert _mask(Path(f"/proc/{child.pid}/task/{child.pid}")) == {first}
        finally:
            child.kill()
    assert _mask(Path(f"/proc/{child.pid}/task/{child.pid}")) == set(), "it has ended"
