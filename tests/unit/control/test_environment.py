"""The control `env:NAME`: one environment variable, set or left unset."""

from hashlib import sha256
from pathlib import Path

import pytest

from scalograph.control.apply import apply
from scalograph.control.control import Launch, LevelError, find_control
from scalograph.errors import StudyError
from scalograph.run.hosts.local.local_host import LocalHost
from scalograph.run.hosts.local.probe import find_probe
from scalograph.run.launches import launches
from scalograph.run.plan import Plan, plan
from scalograph.run.runner import Runner
from scalograph.study.control_names import control_row, environment_variable
from scalograph.study.declare import declare
from scalograph.study.levels import Run
from tests.kit.studies import facts_of

FACTS = facts_of()
STUDY = """\
version = 1
name = "switch"
title = "A switch"
work = "total"
seed = 1
[workload]
command = ["sh", "-c", "test \\"${{SWITCH-unset}}\\" = four"]
env = { OTHER = "kept" }
[factors.switch]
control = "env:SWITCH"
levels = LEVELS
"""


def planned(folder: Path, levels: str) -> Plan:
    file = folder / "study.toml"
    file.write_text(STUDY.replace("LEVELS", levels))
    return plan(declare(file), FACTS)


def test_each_level_is_in_the_environment_of_its_run(tmp_path: Path) -> None:
    made = planned(tmp_path, '[false, "", "four", 4, 0.5]')
    found = [launches(made, configuration)[0].env for configuration in made.design.configurations]
    assert [env.get("SWITCH") for env in found] == [None, "", "four", "4", "0.5"]
    assert all(env["OTHER"] == "kept" for env in found)
    assert made.design.study.factors["switch"].kind == "tunable"
    assert made.first_event("0")["study"]["factors"]["switch"]["control"] == "env:SWITCH"


def test_false_takes_a_variable_away() -> None:
    launch = find_control("env:LANG").apply(Launch(env={"LANG": "C", "HOME": "/"}), False, FACTS)
    assert launch.env == {"HOME": "/"}


def test_the_program_sees_it(tmp_path: Path) -> None:
    runner = Runner(planned(tmp_path, '[false, "four"]'), LocalHost(find_probe()))
    status = {level: runner.measure(Run("r1", 0, {"switch": level}, 0)).run.status for level in (False, "four")}
    assert status == {False: "failed", "four": "ok"}


def test_true_is_no_value(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"SWITCH = true, expected text, a number, or false for unset"):
        planned(tmp_path, "[true]")
    with pytest.raises(LevelError):
        find_control("env:SWITCH").resolve([True], FACTS)


def test_two_variables_are_two_controls(tmp_path: Path) -> None:
    text = STUDY.replace("LEVELS", "[1]") + '[factors.more]\ncontrol = "env:MORE"\nlevels = ["x"]\n'
    (tmp_path / "study.toml").write_text(text)
    study = declare(tmp_path / "study.toml").study
    assert apply(study, {"switch": 1, "more": "x"}, Launch(), FACTS).env == {"SWITCH": "1", "MORE": "x"}


@pytest.mark.parametrize("name", ["env", "env:", "cpus:2", "fan", ""])
def test_other_names_are_no_control(name: str) -> None:
    assert control_row(name) is None and environment_variable(name) is None


def test_files_that_a_variable_names_are_part_of_what_was_run(tmp_path: Path) -> None:
    library = tmp_path / "lib.so"
    library.write_text("one")
    levels = f'[false, "{library}", "/no/such.so:{library}", "relative.so"]'

    def used() -> object:
        return planned(tmp_path, levels).first_event("0")["uses"].get("files")

    first = used()
    assert first == {str(library): {"bytes": 3, "sha256": sha256(b"one").hexdigest()}}
    library.write_text("two")
    assert used() != first
    assert "files" not in planned(tmp_path, '["1"]').first_event("0")["uses"]
