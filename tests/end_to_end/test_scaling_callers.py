"""`--at-least`, and the callers in Java and Rust that a project copies: a run writes its window around one call."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.kit import ROOT
from tests.kit.command import in_process, machine, simulated

CALLERS = ROOT / "docs" / "ci"
# Of JUnit 5, as Debian's package has it, or in a folder that a variable names.
JUNIT = Path(os.environ.get("JUNIT_JARS", "/usr/share/java"))
JARS = [JUNIT / f"{name}.jar" for name in (
    "junit-jupiter-api", "junit-jupiter-engine", "junit-platform-commons", "junit-platform-engine",
    "junit-platform-launcher", "junit-platform-console", "opentest4j", "apiguardian-api", "picocli",
)]  # fmt: skip
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
    source = 'class Solver { void solve(int n) { System.out.println("solved with " + n); } }'
    (tmp_path / "Solver.java").write_text(source)
    files = [tmp_path / "Solver.java", CALLERS / "Scales.java"]
    subprocess.run(["javac", "-Xlint:all", "-Werror", "-d", tmp_path, *files], check=True)
    check_window(tmp_path, ["java", "-cp", ".", "Scales", "Solver", "solve", "2"])


@pytest.mark.skipif(not all(map(Path.exists, JARS)), reason="no JUnit 5: apt-get install junit5")
def test_a_test_of_junit_passes_fails_or_is_aborted(tmp_path: Path) -> None:
    method = "@ScalesTest(threads = {1, 2}, atLeast = 1.2) void solve(int n) { throw new Error(); }"
    (tmp_path / "SolverTest.java").write_text(f"class SolverTest {{ {method} }}")
    files = [tmp_path / "SolverTest.java", CALLERS / "Scales.java", CALLERS / "ScalesTest.java"]
    path = ":".join(map(str, [".", *JARS]))
    subprocess.run(["javac", "-Xlint:all,-classfile", "-cp", path, "-d", tmp_path, *files], check=True)
    program = tmp_path / "scalograph"
    program.write_text('#!/bin/sh\necho "$@" >words\nexit $CODE\n')
    program.chmod(0o755)
    launcher = [
        "java",
        "-ea",
        "-cp",
        path,
        "org.junit.platform.console.ConsoleLauncher",
        "--select-class",
        "SolverTest",
    ]
    for code, word in (("0", "successful"), ("7", "failed"), ("8", "aborted")):
        env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "CODE": code}
        done = subprocess.run(launcher, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        assert f"[         1 tests {word}" in done.stdout, done.stdout + done.stderr
    words = (tmp_path / "words").read_text()
    assert "--threads 1,2 --at-least 1.2 --" in words and words.endswith("Scales SolverTest solve {threads}\n")


@pytest.mark.skipif(shutil.which("rustc") is None, reason="no rustc")
def test_a_run_of_the_caller_in_rust(tmp_path: Path) -> None:
    test = 'scales::scales!(solver_scales, 1.2, "1,2", |n: usize| println!("solved with {n}"));'
    (tmp_path / "solver.rs").write_text(f"{test}\n")
    compiler = ("rustc", "--edition", "2021", "-D", "warnings")
    library = CALLERS / "scales" / "src" / "lib.rs"
    subprocess.run([*compiler, "--crate-type", "lib", "--crate-name", "scales", library], cwd=tmp_path, check=True)
    linked = ("--extern", "scales=libscales.rlib", "--test", "-o", "solver", "solver.rs")
    subprocess.run([*compiler, *linked], cwd=tmp_path, check=True)
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
