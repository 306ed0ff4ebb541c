"""The controls `policy` and `nice`: their levels, what the kernel grants here, and what it grants to nobody."""

import os
import resource
import threading
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from scalograph.control.control import Launch, Level, LevelError
from scalograph.control.scheduler import (
    EXT,
    NEGATIVE_NICE,
    REAL_TIME,
    NiceControl,
    PolicyControl,
    attempt,
    find_furthest,
    find_granted_scheduling,
    parse_policy,
    why_no_ext,
)
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.record import PlacementChange, Record
from tests.kit.records import placed
from tests.kit.studies import facts_of

FREE = facts_of(0)
BOUND = HostFacts(
    cpus=(),
    granted_priority=0,
    granted_nice=0,
    refused={REAL_TIME: "EPERM: Operation not permitted", NEGATIVE_NICE: "EACCES: Permission denied"},
)
PARTLY = BOUND.model_copy(update={"granted_priority": 20, "granted_nice": -5})


def record(**in_force: Any) -> Record:
    return placed(in_force, None)


@pytest.mark.parametrize(
    ("level", "parsed"),
    [
        ("other", ("other", 0)),
        ("batch", ("batch", 0)),
        ("idle", ("idle", 0)),
        ("fifo", ("fifo", 1)),
        ("fifo:99", ("fifo", 99)),
        ("rr:10", ("rr", 10)),
    ],
)
def test_policies(level: str, parsed: tuple[str, int]) -> None:
    assert parse_policy(level) == parsed
    launch = PolicyControl().apply(Launch(), level, FREE)
    assert (launch.policy, launch.priority) == parsed
    wanted = {"policy": parsed[0], "priority": parsed[1]}
    assert PolicyControl().read_back(level, FREE, record(**wanted)) == []
    assert PolicyControl().read_back(level, FREE, record(policy="other", priority=7)) == [
        f"policy: asked for {level}, in force was other:7"
    ]


@pytest.mark.parametrize("level", ["fifo:0", "fifo:100", "rr:-1", "rr:x", "other:1", "FIFO", "", 1, True, "fifo:1:2"])
def test_what_is_no_policy(level: Level) -> None:
    with pytest.raises(LevelError, match="expected one of other, batch, idle"):
        PolicyControl().resolve([level], FREE)


@pytest.mark.parametrize(
    ("control", "level", "facts", "said"),
    [
        (
            PolicyControl(),
            "fifo",
            BOUND,
            "policy fifo is refused here (EPERM: Operation not permitted), expected other, batch or idle; run with",
        ),
        (
            PolicyControl(),
            "rr:21",
            PARTLY,
            "policy rr:21 is refused here (EPERM: Operation not permitted), expected fifo",
        ),
        (NiceControl(), -1, BOUND, "nice -1 is refused here (EACCES: Permission denied), expected 0 to 19; run with"),
        (NiceControl(), -6, PARTLY, "nice -6 is refused here (EACCES: Permission denied), expected -5 to 19"),
        (NiceControl(), 20, FREE, "nice 20, expected an integer from -20 to 19; correct it"),
        (NiceControl(), -21, FREE, "nice -21, expected"),
        (NiceControl(), "0", FREE, "nice '0', expected"),
        (NiceControl(), False, FREE, "nice False, expected"),
    ],
)
def test_refused_by_name(control: PolicyControl | NiceControl, level: Level, facts: HostFacts, said: str) -> None:
    with pytest.raises(LevelError) as caught:
        control.resolve([level], facts)
    assert str(caught.value).startswith(said)


def test_what_is_granted_is_resolved() -> None:
    assert PolicyControl().resolve(["other", "batch", "idle"], BOUND) == ["other", "batch", "idle"]
    assert PolicyControl().resolve(["rr:20"], PARTLY) == ["rr:20"]
    assert NiceControl().resolve([0, 19], BOUND) == [0, 19]
    assert NiceControl().resolve([-5], PARTLY) == [-5]


def test_nice_is_read_back_and_zero_is_a_level() -> None:
    assert NiceControl().apply(Launch(), 0, FREE).nice == 0
    assert NiceControl().read_back(0, FREE, record(nice=0)) == []
    assert NiceControl().read_back(0, FREE, record(nice=5)) == ["nice: asked for 0, in force was 5"]


def test_a_level_that_did_not_stay_in_force_is_told() -> None:
    found = record(policy="batch", nice=3)
    changes = PlacementChange(), PlacementChange(policy="other", nice=5)
    kept, left = (replace(found.copies[0], changed=changed) for changed in changes)
    for copy, of_nice, of_policy in (
        (kept, [], []),
        (left, ["nice: asked for 3, in force was 5"], ["policy: asked for batch, in force was other:0"]),
    ):
        ran = replace(found, copies=[copy])
        assert NiceControl().read_back(3, FREE, ran) == of_nice
        assert PolicyControl().read_back("batch", FREE, ran) == of_policy


def test_attempts_leave_this_process_as_it_was() -> None:
    before = os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0), threading.active_count()
    assert attempt(lambda: os.setpriority(os.PRIO_PROCESS, 0, 19)) is None
    find_granted_scheduling()
    assert (os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0), threading.active_count()) == before


def test_attempts_tell_what_the_kernel_says() -> None:
    assert attempt(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(100))) == "EINVAL: Invalid argument"


@pytest.mark.parametrize("limit", [0, 1, 20, 98, 99])
def test_the_limit_is_found_by_attempts(limit: int) -> None:
    asked: list[int] = []

    def change(value: int) -> None:
        asked.append(value)
        if value > limit:
            raise PermissionError(1, "Operation not permitted")

    why = None if limit == 99 else "EPERM: Operation not permitted"
    assert find_furthest(range(1, 100), change) == (limit or None, why)
    assert len(asked) <= 8


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_root_is_granted_what_the_probe_then_sets() -> None:
    found = find_granted_scheduling()
    if found.refused:
        pytest.skip(f"this root is bound: {found.refused}")
    assert (found.priority, found.nice) == (99, -20)


ASK = """from scalograph.control.scheduler import find_granted_scheduling as g
f = g(); print(f.priority, f.nice, *f.refused)"""


def test_nobody_is_granted_what_the_limits_allow(nobody: Any) -> None:
    expected = f"0 {os.getpriority(os.PRIO_PROCESS, 0)} {REAL_TIME} {NEGATIVE_NICE}\n"
    if resource.getrlimit(resource.RLIMIT_RTPRIO)[1] or resource.getrlimit(resource.RLIMIT_NICE)[1]:
        pytest.skip("limits of this session grant more")
    assert nobody(ASK) == expected


def test_nobody_is_granted_less_than_our_own_nice_value(nobody: Any) -> None:
    if resource.getrlimit(resource.RLIMIT_NICE)[1]:
        pytest.skip("limits of this session grant more")
    nice = min(19, os.getpriority(os.PRIO_PROCESS, 0) + 5)
    lower = f"0 {nice} {REAL_TIME} {NEGATIVE_NICE}\n"
    assert nobody(f"import os; os.nice(5); {ASK}") == lower
    facts = BOUND.model_copy(update={"granted_nice": 5})
    with pytest.raises(LevelError, match=r"nice 0 is refused here \(EACCES: Permission denied\), expected 5 to 19"):
        NiceControl().resolve([5, 0], facts)


@pytest.mark.skipif(os.geteuid() != 0, reason="raising a limit needs root")
def test_a_limit_in_between_is_found(nobody: Any) -> None:
    assert nobody(ASK, rtprio=20, nice=25) == f"20 -5 {REAL_TIME} {NEGATIVE_NICE}\n"


def test_ext_needs_a_scheduler_that_is_at_work(tmp_path: Path) -> None:
    assert why_no_ext(tmp_path) == "this kernel has no sched_ext"
    state = tmp_path / "sys/kernel/sched_ext/state"
    state.parent.mkdir(parents=True)
    state.write_text("disabled\n")
    assert why_no_ext(tmp_path) == "no sched_ext scheduler is at work: disabled"
    state.write_text("enabled\n")
    assert why_no_ext(tmp_path) is None


def test_ext_is_refused_by_name() -> None:
    facts = facts_of(0, refused={EXT: "this kernel has no sched_ext"})
    with pytest.raises(LevelError, match=r"policy ext is refused here \(this kernel has no sched_ext\)"):
        PolicyControl().resolve(["other", "ext"], facts)
    assert PolicyControl().resolve(["ext"], facts_of(0)) == ["ext"]
