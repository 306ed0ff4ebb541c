"""Programs with one planted cause each: every cause is there, and counts what it loses."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler: apt-get install gcc libc6-dev")
FOLDER = Path(__file__).parents[3] / "workloads" / "planted"
WORKLOAD = tomllib.loads((FOLDER / "workload.toml").read_text(encoding="utf-8"))
CAUSES = WORKLOAD["parameters"]["cause"]["choices"]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The compiled workload."""
    built = tmp_path_factory.mktemp("planted") / "main"
    subprocess.run(["cc", *WORKLOAD["build"]["flags"], "-o", built, FOLDER / "main.c"], check=True)
    return built


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("cause", CAUSES)
def test_each_cause_ends_and_counts(program, tmp_path, cause, threads):
    argv = [program, cause, str(threads), "0.5", "16"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    inside, lost, ready = map(float, done.stdout.split())
    assert inside > 0
    assert lost >= 0
    assert ready >= 0
    assert not [*tmp_path.iterdir()]


def test_events_are_those_of_a_workload(program, tmp_path):
    events = tmp_path / "events"
    argv = [program, "mutex", "2", "0.5", "8"]
    subprocess.run(argv, env={"SCALOGRAPH_EVENTS": str(events)}, check=True, timeout=60)
    lines = [line.split() for line in events.read_text(encoding="utf-8").splitlines()]
    assert [line[:2] for line in lines] == [
        ["iteration", "0"], ["value", "inside_s"], ["value", "lost_s"], ["value", "ready_s"],
    ]  # fmt: skip
    assert lines[0][4] == "8"


@pytest.mark.parametrize("wrong", [["none", "2", "0.5"], ["mutex", "0", "0.5"], ["mutex", "2", "1"], ["mutex"]])
def test_other_arguments_are_refused(program, wrong):
    assert subprocess.run([program, *wrong], capture_output=True, check=False).returncode == 64


@pytest.mark.parametrize("cause", ["gil", "serial", "queue"])
def test_python_has_causes_of_its_own(cause):
    argv = [sys.executable, FOLDER / "planted.py", cause, "2", "0.5", "40"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60)
    wall, lost = map(float, done.stdout.split())
    assert wall > 0
    assert lost >= 0


@pytest.fixture(scope="module")
def java(tmp_path_factory):
    """The folder of the compiled program in Java."""
    if shutil.which("javac") is None:
        pytest.skip("no javac: apt-get install default-jdk-headless")
    folder = tmp_path_factory.mktemp("java")
    subprocess.run(["javac", "-d", folder, FOLDER / "Planted.java"], check=True)
    return folder


@pytest.mark.parametrize("cause", ["scales", "monitor", "lock", "serial", "gc"])
def test_java_has_causes_of_its_own(java, cause):
    argv = ["java", "-Xmx160m", "-XX:+UseSerialGC", "-cp", java, "Planted", cause, "2", "0.5", "16"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60)
    wall, lost, ready = map(float, done.stdout.split())
    assert wall > 0
    assert lost >= 0 == ready
