"""What the kernel grants of policy and nice value, here and to nobody; the JVM and the variables that are in force."""

import os
import resource
import threading
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from scalograph.control import scheduler
from scalograph.control.apply import apply
from scalograph.control.control import Launch
from scalograph.control.jvm import default_values
from scalograph.control.scheduler import NEGATIVE_NICE, REAL_TIME, find_granted_scheduling
from scalograph.errors import HostError
from scalograph.protocol.facts import Jvm
from scalograph.protocol.plain import Level
from scalograph.run.hosts.local.local_host import LocalHost
from scalograph.run.hosts.local.probe import find_probe
from scalograph.run.launches import launches
from scalograph.run.plan import Plan
from scalograph.run.runner import Runner
from scalograph.study.control_names import control_row, environment_variable
from scalograph.study.levels import Run
from scalograph.study.load import parse
from tests.kit.refusals import refuses
from tests.kit.studies import a_study, facts_of, plan_of
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


WORKLOAD = {"command": ["sh", "-c", 'test "${{SWITCH-unset}}" = four'], "env": {"OTHER": "kept"}}


def planned(folder: Path, levels: list[Level]) -> Plan:
    return plan_of(folder, a_study({"switch": {"control": "env:SWITCH", "levels": levels}}, workload=WORKLOAD))


def test_defaults() -> None:
    jvms = tuple(Jvm(name=f"{n}", java=f"/j{n}/bin/java", release=n, build=f"{n}.0.1") for n in (17, 25))
    assert default_values(facts_of(0, jvms=jvms)) == {"java": "/j17/bin/java", "jvm_options": []}
    refuses(HostError, r"java: no JVM found, expected a Java of release 11.*; apt install", default_values, facts_of(0))


def test_each_level_is_in_the_environment_of_its_run(tmp_path: Path) -> None:
    plan = planned(tmp_path, [False, "", "four", 4, 0.5])
    environments = [launches(plan, configuration)[0].env for configuration in plan.design.configurations]
    assert [env.get("SWITCH") for env in environments] == [None, "", "four", "4", "0.5"]
    assert all(env["OTHER"] == "kept" for env in environments)
    assert plan.first_event("0")["study"]["factors"]["switch"]["control"] == "env:SWITCH"
    runner = Runner(plan, LocalHost(find_probe()))
    status = {level: runner.measure(Run("r1", 0, {"switch": level}, 0)).run.status for level in (False, "four")}
    assert status == {False: "failed", "four": "ok"}, "the program sees it"


def test_two_variables_are_two_controls_and_other_names_are_none() -> None:
    factors = {"switch": {"control": "env:SWITCH", "levels": [1]}, "more": {"control": "env:MORE", "levels": ["x"]}}
    launch = apply(parse(a_study(factors)), {"switch": 1, "more": "x"}, Launch(), facts_of())
    assert launch.env == {"SWITCH": "1", "MORE": "x"}
    for name in ("env", "env:", "cpus:2", "fan", ""):
        assert control_row(name) is None and environment_variable(name) is None


def test_files_that_a_variable_names_are_part_of_what_was_run(tmp_path: Path) -> None:
    library = tmp_path / "lib.so"
    library.write_text("one")

    def used(*levels: Level) -> object:
        return planned(tmp_path, [*levels]).first_event("0")["uses"].get("files")

    levels = (False, str(library), f"/no/such.so:{library}", "relative.so")
    first = used(*levels)
    assert first == {str(library): {"bytes": 3, "sha256": sha256(b"one").hexdigest()}}
    library.write_text("two")
    assert used(*levels) != first
    assert used("1") is None
