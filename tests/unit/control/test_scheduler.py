"""What the kernel grants here of scheduling policy and nice value, and what it grants to nobody."""

import os
import resource
import threading
from pathlib import Path
from typing import Any

import pytest

from scalograph.control import scheduler
from scalograph.control.scheduler import NEGATIVE_NICE, REAL_TIME, find_granted_scheduling
from tests.unit.control.trees import write

OWN = os.getpriority(os.PRIO_PROCESS, 0)


def test_attempts_leave_this_process_as_it_was_and_tell_what_the_kernel_says() -> None:
    before = os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0), threading.active_count()
    assert scheduler.attempt(lambda: os.setpriority(os.PRIO_PROCESS, 0, 19)) is None
    find_granted_scheduling()
    why = scheduler.attempt(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(100)))
    assert why == "EINVAL: Invalid argument"
    assert (os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0), threading.active_count()) == before


@pytest.mark.parametrize("limit", [0, 1, 20, 98, 99])
def test_the_limit_is_found_by_attempts(limit: int) -> None:
    asked: list[int] = []

    def change(value: int) -> None:
        asked.append(value)
        if value > limit:
            raise PermissionError(1, "Operation not permitted")

    reason = None if limit == 99 else "EPERM: Operation not permitted"
    assert scheduler.find_furthest(range(1, 100), change) == (limit or None, reason)
    assert len(asked) <= 8


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_root_is_granted_what_the_probe_then_sets() -> None:
    granted = find_granted_scheduling()
    if granted.refused:
        pytest.skip(f"this root is bound: {granted.refused}")
    assert (granted.priority, granted.nice) == (99, -20)


ASK = """from scalograph.control.scheduler import find_granted_scheduling as g
f = g(); print(f.priority, f.nice, *f.refused)"""


@pytest.mark.parametrize(("first", "nice"), [("", OWN), ("import os; os.nice(5); ", min(19, OWN + 5))])
def test_nobody_is_granted_more_than_the_limits_and_its_own_nice_value(nobody: Any, first: str, nice: int) -> None:
    if resource.getrlimit(resource.RLIMIT_RTPRIO)[1] or resource.getrlimit(resource.RLIMIT_NICE)[1]:
        pytest.skip("limits of this session grant more")
    assert nobody(first + ASK) == f"0 {nice} {REAL_TIME} {NEGATIVE_NICE}\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="raising a limit needs root")
def test_a_limit_in_between_is_found(nobody: Any) -> None:
    assert nobody(ASK, rtprio=20, nice=25) == f"20 -5 {REAL_TIME} {NEGATIVE_NICE}\n"


def test_ext_needs_a_scheduler_that_is_at_work(tmp_path: Path) -> None:
    assert scheduler.why_no_ext(tmp_path) == "this kernel has no sched_ext"
    for state, why in (("disabled", "no sched_ext scheduler is at work: disabled"), ("enabled", None)):
        write(tmp_path / "sys/kernel/sched_ext/state", f"{state}\n")
        assert scheduler.why_no_ext(tmp_path) == why
