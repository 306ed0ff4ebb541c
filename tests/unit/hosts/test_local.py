"""The host that we stand on: which failures are a run's, and which end the study."""

import stat
from pathlib import Path

import pytest

from scalograph.design import Design, Run
from scalograph.errors import HostError
from scalograph.facts import CpuFact, HostFacts
from scalograph.hosts.local import LocalHost
from scalograph.program import program
from scalograph.study import parse

from ..study.example import VALID

ANSWER = Path(__file__).resolve().parents[3] / "protocol" / "examples" / "probe_events.jsonl"


def host(tmp_path: Path, probe: Path) -> tuple[LocalHost, Run]:
    study = parse(VALID)
    command = study.workload.model_copy(update={"use": None, "command": ["true"], "parameters": {}})
    run = Run("r1", 0, {"threads": 1, "lock": "none"}, 0)
    design = Design(study.model_copy(update={"workload": command}), (run.treatment,))
    facts = HostFacts(cpus=(CpuFact(cpu=0, core=0),))
    return LocalHost(design, facts, program(command, tmp_path), [str(probe)]), run


def test_only_a_probe_that_never_starts_ends_the_study(tmp_path: Path) -> None:
    probe = tmp_path / "probe"
    here, run = host(tmp_path, probe)
    for _ in range(2):
        failed = here.measure(run)["run"]
        assert failed["status"] == "failed" and "No such file" in failed["reason"]
    with pytest.raises(HostError, match="No such file"):
        here.measure(run)


def test_one_that_starts_again_is_forgiven(tmp_path: Path) -> None:
    probe = tmp_path / "probe"
    here, run = host(tmp_path, probe)
    for _ in range(2):
        here.measure(run)
    probe.write_text(f"#!/bin/sh\ncat >/dev/null\nhead -6 {ANSWER}\n")
    probe.chmod(stat.S_IRWXU)
    assert here.measure(run)["run"]["status"] == "ok"
    probe.unlink()
    assert here.measure(run)["run"]["status"] == "failed"
