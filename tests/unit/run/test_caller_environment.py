"""What of the caller's environment reaches a run, and what is named because it does not."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scalograph.run import caller_environment
from scalograph.run.caller_environment import draw_variables, environment, unpassed_variables, unpassed_variables_note
from scalograph.study.identity import dump_study, study_hash
from scalograph.study.load import parse
from scalograph.study.model import Study, WorkloadUse
from tests.kit.command import degraded, in_process
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
    with pytest.raises(ValueError, match=r"found `input`, `stdout` or `ok_exits` without `command`"):
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


def vary(*names: str, seed: int = 1, **workload: Any) -> Study:
    return parse(
        a_study({"version": ["a", "b"]}, workload={"command": ["p", "{version}"], **workload}, seed=seed)
        + f"[protocol]\nvary = {[*names]}\n"
    )


def test_what_is_drawn_follows_from_seed_and_block_alone() -> None:
    """A resume draws the same again; each name is drawn by itself."""
    both = vary("env", "hash-seed")
    drawn = [draw_variables(both, block) for block in range(-1, 50)]
    assert drawn == [draw_variables(both, block) for block in range(-1, 50)]
    assert draw_variables(vary("env", "hash-seed", seed=2), 0) != draw_variables(both, 0)
    sizes = [len(each["SCALOGRAPH_PADDING"]) for each in drawn]
    assert len({*sizes}) > 40 and 0 <= min(sizes) < 1000 and 3000 < max(sizes) <= 4096
    assert all(int(each["PERL_HASH_SEED"], 16) == int(each["PYTHONHASHSEED"]) for each in drawn)
    assert len({each["PYTHONHASHSEED"] for each in drawn}) == len(drawn)
    alone = draw_variables(vary("hash-seed"), 3)
    assert alone == {name: value for name, value in draw_variables(both, 3).items() if name != "SCALOGRAPH_PADDING"}
    assert draw_variables(vary("layout"), 3) == draw_variables(vary(), 3) == {}


def test_a_study_that_varies_nothing_is_what_it_was_and_one_that_does_is_another() -> None:
    assert "vary" not in dump_study(vary())["protocol"] and dump_study(vary("env"))["protocol"]["vary"] == ["env"]
    assert len({study_hash(vary(*names)) for names in ((), ("env",), ("hash-seed",))}) == 3
    assert "PYTHONHASHSEED" in unpassed_variables(vary("env"), {"PYTHONHASHSEED": "1"})
    assert unpassed_variables(vary("hash-seed"), {"PYTHONHASHSEED": "1"}) == []


def test_all_runs_of_a_block_get_what_was_drawn_for_it_also_those_of_a_resume(tmp_path: Path) -> None:
    """Each run writes what it got; after a resume the blocks go on as those of a session that made all of them."""
    script = 'echo "{version} ${{#SCALOGRAPH_PADDING}} $PYTHONHASHSEED" >> "$HOME/log"'
    (tmp_path / "study.toml").write_text(
        a_study({"version": ["a", "b"]}, workload={"command": ["sh", "-c", script]}, seed=1)
        + '[protocol]\nvary = ["env", "hash-seed", "layout"]\nruns = 2\nmax_reruns = 0\n'
    )
    env = {**degraded(tmp_path), "HOME": str(tmp_path)}
    for more in ((), ("--resume", "--runs", "4")):
        done = in_process("run", "study.toml", "-o", "results", *more, cwd=tmp_path, env=env)
        assert done.returncode in (0, 5), done.stderr
    lines = [line.split() for line in (tmp_path / "log").read_text().splitlines()]
    drawn = [draw_variables(vary("env", "hash-seed"), block) for block in range(4)]
    wanted = [[str(len(each["SCALOGRAPH_PADDING"])), each["PYTHONHASHSEED"]] for each in drawn]
    assert [line[1:] for line in lines] == [each for each in wanted for _ in range(2)]
    assert [{line[0] for line in lines[i : i + 2]} for i in range(0, 8, 2)] == [{"a", "b"}] * 4
    done = in_process("analyze", "results", cwd=tmp_path)
    assert "Drawn anew for each block: environment size and hash seed, for each run: address layout." in " ".join(
        done.stdout.split()
    )
