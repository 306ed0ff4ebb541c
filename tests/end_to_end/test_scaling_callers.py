"""`--at-least`, and the callers in Java and Rust that a project copies: a run writes its window around one call."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.kit import ROOT
from tests.kit.command import in_process, machine, simulated

CALLERS = ROOT / "docs" / "ci"
TWO = ("measure", "--runs", 4, "--max-reruns", 0, "--threads", "1,2")


def check_window(folder: Path, argv: list[str | Path], **env: str) -> None:
    """Start one run as `measure` does, and see that it writes its window and called the function with two threads."""
    (folder / "go").write_bytes(b"x")
    (folder / "events").touch()
    offered = {"SCALOGRAPH_EVENTS": str(folder / "events"), "SCALOGRAPH_GO": str(folder / "go"), **env}
    done = subprocess.run(
        argv, cwd=folder, env={**os.environ, **offered}, capture_output=True, text=True, check=True, timeout=60
    )
    ready, iteration = (folder / "events").read_text().splitlines()
    word, index, start, end, work = iteration.split()
    assert (ready, word, index, work) == ("ready", "iteration", "0", "1") and int(start) <= int(end)
    assert "solved with 2" in done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("javac") is None, reason="no javac: apt-get install openjdk-17-jdk-headless")
def test_a_run_of_the_caller_in_java(tmp_path: Path) -> None:
    source = 'class Solver { static void solve(int n) { System.out.println("solved with " + n); } }'
    (tmp_path / "Solver.java").write_text(source)
    files = [tmp_path / "Solver.java", CALLERS / "Scales.java"]
    subprocess.run(["javac", "-Xlint:all", "-Werror", "-d", tmp_path, *files], check=True)
    check_window(tmp_path, ["java", "-cp", ".", "Scales", "Solver", "solve", "2"])


@pytest.mark.skipif(shutil.which("rustc") is None, reason="no rustc")
def test_a_run_of_the_caller_in_rust(tmp_path: Path) -> None:
    shutil.copy(CALLERS / "scales.rs", tmp_path)
    test = 'scales!(solver_scales, 1.2, "1,2", |n: usize| println!("solved with {n}"));'
    (tmp_path / "solver.rs").write_text(f"mod scales;\n{test}\n")
    subprocess.run(["rustc", "--edition", "2021", "--test", "-o", "solver", "solver.rs"], cwd=tmp_path, check=True)
    words = ["./solver", "--exact", "solver_scales", "--test-threads", "1", "--nocapture"]
    check_window(tmp_path, [*words], SCALES_THREADS="2")


@machine
@pytest.mark.parametrize(("at_least", "code"), [("1.5", 0), ("1.95", 7), ("1.8", 8)])
def test_the_whole_interval_of_the_speedup_decides(tmp_path: Path, at_least: str, code: int) -> None:
    env = simulated(tmp_path, {"true 1": 0.18, "true 2": 0.1}, noise_percent=2)
    words = (*TWO, "--at-least", at_least, "--", "true", "{threads}")
    done = in_process(*words, cwd=tmp_path, env=env)
    assert done.returncode == code, done.stdout + done.stderr


def test_without_a_curve_there_is_no_speedup_to_pass(tmp_path: Path) -> None:
    done = in_process("measure", "--at-least", "2", "--", "true", cwd=tmp_path)
    assert done.returncode == 2 and "--at-least: no speedup" in done.stderr
