"""Five lines and three remedies: does a stranger see whether this machine can measure, and what to do first?"""

import os
from pathlib import Path
from typing import Any

import pytest

from scalograph.control.host_facts import read_host_facts
from scalograph.machine import doctor_summary
from scalograph.machine.doctor import examine
from scalograph.machine.doctor_summary import Summary, summarize
from scalograph.machine.examine import Check, Report
from tests.kit.command import in_process
from tests.kit.studies import facts_of
from tests.unit.control.trees import planted

GRANTED = {"probe": "0.1.0", "capabilities": [{"name": "switch records", "granted": True}]}
GOOD = (
    Check("CPUs", "info", "2 CPUs usable, all that are online"),
    Check("probe", "granted", "scalograph-probe 0.1.0"),
    Check("load now", "info", "tasks waited for a CPU 0% of the last 10 s, load 0.10"),
)


def of(*more: Check) -> Summary:
    checks = {check.name: check for check in (*GOOD, *more)}
    return summarize(Report(tuple(checks.values())), facts_of(2, cpu_model="AMD EPYC"))


def line(summary: Summary, name: str) -> tuple[str, str]:
    return next((each.state, each.text) for each in summary.summary if each.name == name)


def wrong(name: str, command: str = "x", why: str = "why") -> Check:
    return Check(name, "warning", f"found {name}", why, f"fix {name}", f"{command} {name}")


def test_a_machine_without_faults_has_five_good_lines_and_nothing_to_do() -> None:
    summary = of()
    assert [each.name for each in summary.summary] == ["CPUs", "probe", "interference", "rights", "load"]
    assert all(each.is_good for each in summary.summary) and summary.first == ()
    assert line(summary, "CPUs") == ("ok", "2 CPUs usable, all that are online; AMD EPYC")
    assert line(summary, "load")[0] == "quiet"


@pytest.mark.parametrize(("check", "name", "state", "text"), [
    (wrong("CPU quota"), "CPUs", "limited", "quota of found CPU quota"),
    (wrong("probe"), "probe", "limited", "found probe"),
    (wrong("probe: switch records"), "interference", "no", "every run is unverified"),
    (wrong("probe: names of interfering programs"), "interference", "ok", "other programs are not named"),
    (wrong("load now"), "load", "busy", "found load now"),
    (wrong("CPU speed"), "load", "unsteady", "found CPU speed"),
    (wrong("steal"), "load", "unsteady", "CPU steal: found steal"),
])  # fmt: skip
def test_each_fault_shows_in_its_line(check: Check, name: str, state: str, text: str) -> None:
    found = line(of(check), name)
    assert found[0] == state and text in found[1]


@pytest.mark.parametrize(
    ("user", "state", "text"),
    [(0, "root", "not available here: kernel settings, exclusive CPUs"), (1000, "user", "needs root: kernel settings")],
)
def test_what_needs_root_is_named_once(monkeypatch: pytest.MonkeyPatch, user: int, state: str, text: str) -> None:
    monkeypatch.setattr(doctor_summary.os, "geteuid", lambda: user)
    settings = [wrong(f"control: {name}", why="EACCES: Permission denied") for name in ("sysctl", "thp")]
    found = line(of(*settings, wrong("control: isolation", why="no cgroup v2 is mounted")), "rights")
    assert found[0] == state and found[1].startswith(text) and found[1].count("kernel settings") == 1


def test_the_three_that_gain_most_stand_in_order_and_each_can_be_done_here() -> None:
    noise = Check("noise", "info", "not measured yet", "it shows", "measure it", "scalograph doctor --noise")
    same = [wrong(f"probe: {name} records") for name in ("kernel", "switch")]
    first = of(noise, wrong("governor"), wrong("load now"), *same).first
    assert [each.what for each in first] == ["fix probe: switch records", "fix load now", "fix governor"]
    assert [each.command for each in of(noise).first] == ["scalograph doctor --noise"]
    assert len(of(wrong("steal"), wrong("CPU speed")).first) == 2
    assert of(Check("autogroup", "warning", "on", "why", "turn it off")).first == ()


@pytest.mark.parametrize(("has_probe", "state"), [(True, "ok"), (False, "limited")])
def test_a_recorded_machine(tmp_path: Path, has_probe: bool, state: str) -> None:
    root = planted(tmp_path, "two-cpu-guest")
    facts, environ = read_host_facts(root, ()), {"PATH": "", "HOME": str(root)}
    report = examine(facts, GRANTED, root, environ, root, has_probe=has_probe)
    summary = summarize(report, facts)
    assert line(summary, "CPUs")[1].endswith("; AMD EPYC, KVM guest")
    assert line(summary, "probe")[0] == state and line(summary, "load")[0] == "busy"
    assert len(summary.first) == 3 and all(each.command for each in summary.first)


@pytest.mark.parametrize(("user", "writable", "command"), [
    (0, True, "sysctl kernel.perf_event_paranoid=2"), (0, False, ""),
    (1000, False, "sudo sysctl kernel.perf_event_paranoid=2"),
])  # fmt: skip
def test_a_command_is_one_that_this_user_may_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: int, writable: bool, command: str
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(os, "access", lambda *_: writable)
    root = planted(tmp_path, "two-cpu-guest")
    why = "perf_event_open: EACCES (kernel.perf_event_paranoid=4)"
    said: dict[str, Any] = {"capabilities": [{"name": "switch records", "granted": False, "why": why, "fix": "set it"}]}
    checks = examine(read_host_facts(root, ()), said, root, {"PATH": "", "HOME": str(root)}, root).checks
    assert next(check.command for check in checks if check.name == "probe: switch records") == command


@pytest.mark.parametrize(("options", "message"), [
    (["--all", "--noise"], "--all and --noise exclude each other"), (["--quick"], "--quick shortens --noise only"),
])  # fmt: skip
def test_one_thing_at_a_time(tmp_path: Path, options: list[str], message: str) -> None:
    done = in_process("doctor", *options, cwd=tmp_path)
    assert done.returncode == 2 and message in done.stderr


@pytest.mark.xdist_group("machine")
def test_the_summary_of_this_machine_fits_on_a_screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scalograph.machine.examine.time_slices", lambda _: {0: [1.0] * 9})
    done = in_process("doctor", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) <= 18 and lines[5] == "" and lines[0].startswith("CPUs")
    assert lines[-1].startswith("All ") and lines[-1].endswith(" checks: scalograph doctor --all")
    whole = in_process("doctor", "--all", cwd=tmp_path).stdout
    assert "topology" in whole and "disk: scratch" in whole
