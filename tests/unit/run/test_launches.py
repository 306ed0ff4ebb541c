"""Several processes of one run: behind one gate, each with a command and copies of its own, and told apart."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from scalograph.protocol.facts import CpuFact, HostFacts
from scalograph.run.hosts.base import ProbeProgram
from scalograph.run.hosts.local import LocalHost
from scalograph.run.hosts.probe import DEGRADED, find_probe
from scalograph.run.launches import launches
from scalograph.run.plan import Plan, plan
from scalograph.run.runner import Runner
from scalograph.study.declare import declare
from scalograph.study.program import Process
from scalograph.study.treatment import Run

FACTS = HostFacts(cpus=tuple(CpuFact(cpu=n, core=n) for n in range(2)))
STUDY = """\
version = 1
name = "two"
title = "Two processes"
work = "total"
seed = 1
[workload]
command = ["{python}", "-c", "print('driver {clients}')"]
[factors.clients]
levels = [3]
[factors.cpus]
levels = [1]
control = "cpus"
[responses.sent]
from = "output"
pattern = "(?:driver|service) ([0-9]+)"
"""
SERVICE = Process(("{python}", "-c", "print('service 7')"), copies="{clients}", role="service")
TREATMENT = {"clients": 3, "cpus": 1}


def planned(tmp_path: Path) -> Plan:
    """A plan whose program has a service beside its driver."""
    (tmp_path / "study.toml").write_text(STUDY)
    made = plan(declare(tmp_path / "study.toml"), FACTS)
    driver = replace(made.program.processes[0], role="driver")
    return replace(made, program=replace(made.program, processes=(driver, SERVICE)))


def test_each_process_is_a_launch_under_the_same_levels(tmp_path: Path) -> None:
    driver, service = launches(planned(tmp_path), TREATMENT)
    assert (driver.role, driver.copies, driver.argv[0]) == ("driver", 1, sys.executable)
    assert (service.role, service.copies, service.argv[2]) == ("service", 3, "print('service 7')")
    assert driver.cpus == service.cpus == (0,)


@pytest.mark.parametrize("kind", ["python", "found"])
def test_two_commands_behind_one_gate_come_back_apart(tmp_path: Path, kind: str) -> None:
    probe = ProbeProgram(DEGRADED) if kind == "python" else find_probe()
    record = Runner(planned(tmp_path), LocalHost(probe)).measure(Run("r1", 0, TREATMENT, 0))
    assert record.run.status == "ok", record.run.reason
    assert [copy.command for copy in record.copies] == [0, 1, 1, 1]
    said = [part.values["output_sent"] for part in record.values]
    assert said == [[3.0], [7.0], [7.0], [7.0]]
