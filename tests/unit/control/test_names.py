"""A control is one file and one row: here a fan whose speed is written to a file, and put back."""

import json
import sys
from pathlib import Path

import pytest

from scalograph.control.control import find_control
from scalograph.errors import StudyError
from scalograph.protocol.record import RunFigures
from scalograph.run.hosts.base import ProbeProgram
from scalograph.run.hosts.local.local_host import LocalHost
from scalograph.run.plan import Plan, plan
from scalograph.run.runner import Runner
from scalograph.study.control_names import CONTROLS, ControlRow
from scalograph.study.declare import declare
from scalograph.study.levels import Run
from tests.kit import ROOT
from tests.kit.studies import facts_of

ANSWER = ROOT / "protocol" / "examples" / "probe_events.jsonl"
FACTS = facts_of()
FAN = '''
"""The speed of a fan."""

from contextlib import contextmanager
from pathlib import Path

from scalograph.control.control import Control, LevelError

SETTING = Path(__file__).with_name("speed")


class FanControl(Control):
    def resolve(self, levels, facts):
        if "storm" in levels:
            raise LevelError("fan storm", "slow or fast", "correct it")
        return list(levels)

    def apply(self, launch, level, facts):
        return launch.add_values(airflow=f"{level} air")

    @contextmanager
    def apply_settings(self, level, facts):
        before = SETTING.read_text()
        SETTING.write_text(level)
        try:
            yield
        finally:
            SETTING.write_text(before)

    def read_back(self, level, facts, record):
        found = SETTING.with_name("seen").read_text()
        return [] if found == level else [f"fan: asked for {level}, in force was {found}"]
'''
STUDY = """\
version = 1
name = "fans"
title = "Fans"
work = "total"
seed = 1
[workload]
command = ["true", "{airflow}"]
[factors.fan]
levels = LEVELS
control = "fan"
"""


@pytest.fixture
def fan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One file, one row; and the setting, as the machine has it."""
    (tmp_path / "fan_control.py").write_text(FAN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "fan_control", raising=False)
    monkeypatch.setitem(CONTROLS, "fan", ControlRow("fan_control:FanControl", fills="airflow"))
    (tmp_path / "speed").write_text("off")
    return tmp_path / "speed"


def planned(folder: Path, levels: str = '["slow", "fast"]', command: str = "{airflow}") -> Plan:
    file = folder / "study.toml"
    file.write_text(STUDY.replace("LEVELS", levels).replace("{airflow}", command))
    return plan(declare(file), FACTS)


def measured(folder: Path, probe: str) -> RunFigures:
    """A run at full speed by a probe that keeps what it was asked and the speed that it saw."""
    script = folder / "probe"
    script.write_text(f"#!/bin/sh\ncat >{folder}/spec\n{probe}\nhead -6 {ANSWER}\n")
    script.chmod(0o755)
    runner = Runner(planned(folder), LocalHost(ProbeProgram((str(script),))))
    return runner.measure(Run("r1", 0, {"fan": "fast"}, 0)).run


def test_it_is_declared_applied_read_back_and_restored(fan: Path) -> None:
    assert planned(fan.parent).design.study.factors["fan"].kind == "tunable"
    run = measured(fan.parent, f"cp {fan} {fan.parent}/seen")
    assert (run.status, run.reason) == ("ok", None)
    assert json.loads((fan.parent / "spec").read_text())["commands"][0]["argv"] == ["true", "fast air"]
    assert fan.read_text() == "off"


def test_what_was_not_in_force_fails_the_run(fan: Path) -> None:
    run = measured(fan.parent, f"printf slow >{fan.parent}/seen")
    assert (run.status, run.reason) == ("failed", "fan: asked for fast, in force was slow")
    assert fan.read_text() == "off"


def test_its_levels_and_what_it_fills_are_checked(fan: Path) -> None:
    with pytest.raises(StudyError, match='factor "fan": fan storm, expected slow or fast; correct it'):
        planned(fan.parent, '["storm"]')
    with pytest.raises(StudyError, match=r"factors\.fan: a factor that nothing uses"):
        planned(fan.parent, command="fixed")


def test_without_its_row_there_is_none(tmp_path: Path) -> None:
    *names, last = map(repr, CONTROLS)
    said = rf"factors\.fan\.control: found 'fan', expected {', '.join(names)} or {last}"
    with pytest.raises(StudyError, match=said):
        planned(tmp_path)
    with pytest.raises(StudyError, match='no control "fan", expected one of cpus, '):
        find_control("fan")
