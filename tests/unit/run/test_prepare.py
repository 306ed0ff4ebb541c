"""Preparations: once for each folder, whole or not at all, and what goes wrong in one message."""

import os
import sys
from pathlib import Path

import pytest

from scalograph.errors import HostError, StudyError
from scalograph.run.hosts.local.prepare_host import build_program
from scalograph.run.prepare import prepare, read_preparations
from scalograph.study.program import Process, Program, Used
from scalograph.study.workload import Workload
from tests.kit.processes import wait_for_end
from tests.kit.refusals import refuses
from tests.kit.studies import facts_of

PROGRAM = """import pathlib, sys
tree, into = sys.argv[1:]
if tree == "wrong":
    sys.exit("missing: bison; apt install bison")
pathlib.Path(into, "file").write_text(tree)
with open(sys.argv[0] + ".calls", "a") as calls:
    calls.write(tree + "\\n")
print("fetches")
print(f"{tree} 1.0, sha256 abc")
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    (tmp_path / "work/get.py").write_text(PROGRAM)
    return tmp_path


def workload() -> Workload:
    step = {"argv": ["{python}", "{here}/get.py", "{tree}", "{into}"], "folder": "{tree}", "sources": ["get.py"]}
    tree = {"type": "text", "default": "one"}
    given = {"name": "w", "title": "", "argv": ["{prepared}/{tree}"], "prepare": step, "parameters": {"tree": tree}}
    return Workload.model_validate(given)


def made(place: Path, *trees: str, told: list[str] | None = None) -> Path | None:
    values = {"python": sys.executable, "here": str(place / "work"), "tree": "one"}
    tell = ([] if told is None else told).append
    return prepare(place / "work", workload(), values, [{"tree": tree} for tree in trees], tell, place / "cache")


def calls(place: Path) -> list[str]:
    return (place / "work/get.py.calls").read_text().split()


def test_once_for_each_level_announced_and_of_it_only_what_is_used_is_told(place: Path) -> None:
    told: list[str] = []
    home = made(place, "a", "b", "a", told=told)
    assert home == made(place, "b", "a", told=told) and home is not None and calls(place) == ["a", "b"]
    assert [(home / name / "file").read_text() for name in ("a", "b")] == ["a", "b"]
    assert len(told) == 2 and "prepares a, once" in told[0]
    values = {"prepared": str(home), "tree": "one"}
    assert read_preparations(workload(), values, [{"tree": "b"}]) == {"b": "b 1.0, sha256 abc"}
    assert read_preparations(workload(), {"tree": "one"}, [{"tree": "b"}]) == {}


def test_another_program_prepares_anew_and_without_a_factor_the_parameter_counts(place: Path) -> None:
    made(place)
    assert calls(place) == ["one"]
    first = made(place, "a")
    (place / "work/README.md").write_text("no part of it")
    assert made(place, "a") == first
    (place / "work/get.py").write_text(PROGRAM + "# changed\n")
    assert made(place, "a") != first


def test_a_failure_leaves_nothing_and_says_why(place: Path) -> None:
    refuses(HostError, "workload w: cannot be prepared: missing: bison; apt install bison", made, place, "wrong")
    assert not [path for path in (place / "cache").rglob("*") if path.is_file()]
    values = {"python": str(place / "none"), "here": str(place), "tree": "one"}
    refuses(HostError, "cannot be started", prepare, place / "work", workload(), values, [], print, place / "cache")


def test_a_signal_ends_it_with_all_that_it_started(place: Path) -> None:
    step = f"echo $$ > {place}/pid; kill -INT {os.getpid()}; exec sleep 60"
    (place / "work/get.py").write_text(f"import subprocess\nsubprocess.run(['sh', '-c', {step!r}])\n")
    with pytest.raises(KeyboardInterrupt):
        made(place, "a")
    wait_for_end(int((place / "pid").read_text()))


@pytest.mark.parametrize("name", ["../out", "a/b", ".hidden", ".."])
def test_a_level_that_is_no_folder(place: Path, name: str) -> None:
    refuses(StudyError, "the name of a folder", made, place, name)


def test_a_study_that_begins_prepares(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "home"))
    values = {"python": sys.executable, "here": str(place / "work"), "tree": "one"}
    started = Program(
        (Process(("{prepared}/{tree}",)),), place / "work", False, values, (Used(workload(), place / "work"),)
    )
    ready = build_program(started, facts_of(0), [{"tree": "a"}])
    assert Path(ready.values["prepared"], "a/file").read_text() == "a"


def test_another_release_of_what_it_used_prepares_anew(place: Path) -> None:
    program = place / "server"
    program.write_text("1.0")
    (place / "work/get.py").write_text(PROGRAM.replace('print("fetches")', f'print("uses {program}")'))
    assert made(place, "a", "b") == made(place, "a", "b") and calls(place) == ["a", "b"]
    program.write_text("1.0.1")
    home = made(place, "a")
    assert home == made(place, "a") and calls(place) == ["a", "b", "a"]
    program.unlink()
    made(place, "a")
    assert calls(place)[3:] == ["a"]
