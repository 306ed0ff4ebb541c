"""What of the caller's environment reaches a run, and what is named because it does not."""

import os
import subprocess
import sys
from typing import Any

import pytest

from scalograph.run import caller_environment
from scalograph.run.caller_environment import environment, unpassed_variables, unpassed_variables_note
from scalograph.study.load import parse
from scalograph.study.model import Study, WorkloadUse
from tests.kit.studies import a_study

CALLER = {
    "HOME": "/home/x", "OMP_NUM_THREADS": "4", "LD_LIBRARY_PATH": "/opt/lib", "GOMAXPROCS": "2", "PYTHONPATH": "/src",
    "OMP_PLACES": "cores", "EDITOR": "vi", "MKL_NUM_THREADS": "", "MAKEFLAGS": "-j4",
}  # fmt: skip


def study(**workload: Any) -> Study:
    places = {"control": "env:OMP_PLACES", "levels": ["cores", "threads"]}
    command = ["prog", "{threads}"]
    return parse(a_study({"threads": [1, 2], "places": places}, workload={"command": command, **workload}))


def test_telling_variables_that_do_not_reach_the_command_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caller_environment, "_CALLERS", {})
    assert unpassed_variables(study(), CALLER) == [
        "GOMAXPROCS", "LD_LIBRARY_PATH", "MAKEFLAGS", "OMP_NUM_THREADS", "PYTHONPATH",
    ]  # fmt: skip
    assert unpassed_variables(study(env={"GOMAXPROCS": "1", "PYTHONPATH": "/x"}), CALLER) == [
        "LD_LIBRARY_PATH", "MAKEFLAGS", "OMP_NUM_THREADS",
    ]  # fmt: skip
    assert unpassed_variables(study(env_all=True), CALLER) == ["MAKEFLAGS"]
    note = unpassed_variables_note(study(), {f"OMP_{i}": "1" for i in range(12)})
    assert note and "OMP_0, OMP_1" in note and "and 4 more (--env NAME passes one" in note
    assert unpassed_variables_note(study(), {"EDITOR": "vi"}) is None


def test_a_workload_that_ships_and_a_study_without_these_keys_are_as_they_were() -> None:
    used = study().model_copy(update={"workload": WorkloadUse(use="fixed-work")})
    assert unpassed_variables(used, CALLER) == []
    document = WorkloadUse(command=["x"]).model_dump(mode="json")
    assert not {"env_all", "input", "ok_exits"} & document.keys()
    process = {"name": "a", "role": "driver", "argv": ["x"]}
    with pytest.raises(ValueError, match=r"found `input` or `ok_exits` without `command`"):
        WorkloadUse.model_validate({"process": [process], "ok_exits": [1]})


def test_all_of_it_but_what_no_run_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caller_environment, "_CALLERS", {})
    for name, value in CALLER.items():
        monkeypatch.setenv(name, value)
    few = environment(WorkloadUse(command=["x"]))
    assert few["HOME"] == "/home/x" and "EDITOR" not in few
    every = environment(WorkloadUse(command=["x"], env_all=True, env={"EDITOR": "ed"}))
    assert every["EDITOR"] == "ed" and every["PYTHONPATH"] == "/src" and "MAKEFLAGS" not in every


def test_threads_of_our_own_are_not_those_of_a_run() -> None:
    code = """
import os, sys
from scalograph.cli.main import _code
is_early = "numpy" not in sys.modules
_code(["--version"])
from scalograph.run.caller_environment import environment
from scalograph.study.model import WorkloadUse
passed = environment(WorkloadUse(command=["x"], env_all=True))
print(is_early, os.environ["OMP_NUM_THREADS"], passed["OMP_NUM_THREADS"], "MKL_NUM_THREADS" in passed)
"""
    caller = {name: value for name, value in os.environ.items() if "NUM_THREADS" not in name}
    done = subprocess.run(
        [sys.executable, "-c", code], env=caller | {"OMP_NUM_THREADS": "4"}, capture_output=True, text=True, check=True
    )
    assert done.stdout.split()[-4:] == ["True", "1", "4", "False"]
