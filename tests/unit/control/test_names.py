"""A control is one file and one row: here a fan whose speed is written to a file, and put back."""

import json
import sys
from pathlib import Path

import pytest

from scalograph.control.control import find_control
from scalograph.errors import StudyError
from scalograph.run.hosts.base import ProbeProgram
from scalograph.run.hosts.local.local_host import LocalHost
from scalograph.run.plan import Plan
from scalograph.run.runner import Runner
from scalograph.study.control_names import CONTROLS, ControlRow
from scalograph.study.levels import Run
from tests.kit import ROOT
from tests.kit.processes import write_program
from tests.kit.refusals import refuses
from tests.kit.studies import a_study, facts_of, plan_of

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


@pytest.fixture
def fan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One file, one row; and the setting, as the machine has it."""
    (tmp_path / "fan_control.py").write_text(FAN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "fan_control", raising=False)
    monkeypatch.setitem(CONTROLS, "fan", ControlRow("fan_control:FanControl", fills="airflow"))
    (tmp_path / "speed").write_text("off")
    return tmp_path / "speed"


def planned(folder: Path, *levels: str, command: str = "true {airflow}") -> Plan:
    text = a_study({"fan": {"control": "fan", "levels": [*levels] or ["slow", "fast"]}}, command=command)
    return plan_of(folder, text, FACTS)


@pytest.mark.parametrize(("seen", "status", "reason"), [
    ("fast", "ok", None), ("slow", "failed", "fan: asked for fast, in force was slow"),
])  # fmt: skip
def test_it_is_declared_applied_read_back_and_restored(fan: Path, seen: str, status: str, reason: str | None) -> None:
    """At full speed, by a probe that keeps what it was asked and tells the speed that it saw."""
    folder = fan.parent
    plan = planned(folder)
    assert plan.design.study.factors["fan"].kind == "tunable"
    look = f"cp {fan} {folder}/seen" if seen == "fast" else f"printf {seen} >{folder}/seen"
    probe = write_program(folder / "probe", f"cat >{folder}/spec\n{look}\nhead -6 {ANSWER}")
    run = Runner(plan, LocalHost(ProbeProgram((str(probe),)))).measure(Run("r1", 0, {"fan": "fast"}, 0)).run
    assert (run.status, run.reason) == (status, reason)
    assert json.loads((folder / "spec").read_text())["commands"][0]["argv"] == ["true", "fast air"]
    assert fan.read_text() == "off"


def test_its_levels_and_what_it_fills_are_checked(fan: Path) -> None:
    refuses(StudyError, r"factors\.fan: fan storm, expected slow or fast; correct it", planned, fan.parent, "storm")
    refuses(StudyError, r"factors\.fan: nothing uses this factor", planned, fan.parent, command="true fixed")


def test_without_its_row_there_is_none(tmp_path: Path) -> None:
    *names, last = map(repr, CONTROLS)
    said = rf"factors\.fan\.control: found 'fan', expected {', '.join(names)} or {last}"
    refuses(StudyError, said, planned, tmp_path)
    refuses(StudyError, 'no control "fan", expected one of cpus, ', find_control, "fan")
