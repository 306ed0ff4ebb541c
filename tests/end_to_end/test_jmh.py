"""The JMH module of fork-join: built by Maven from the workload's own sources, run, and read."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.kit import ROOT
from tests.kit.command import in_process
from tests.kit.workloads import QUICK

MODULE = ROOT / "workloads" / "fork-join" / "jmh"


@pytest.fixture(scope="module")
def jar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built offline in a folder of its own; skips where Maven or what it needs is not here."""
    if shutil.which("mvn") is None or shutil.which("java") is None:
        pytest.skip("no mvn or java on PATH")
    folder = tmp_path_factory.mktemp("jmh")
    done = subprocess.run(
        ["mvn", "-o", "-q", "-B", "-f", str(MODULE / "pom.xml"), "package"], cwd=folder, capture_output=True, text=True,
        timeout=240, check=False,
    )  # fmt: skip
    said = done.stdout + done.stderr
    if done.returncode and "offline mode" in said:
        pytest.skip("Maven has not fetched JMH and its plugins yet: build the module once with a network")
    assert done.returncode == 0, said
    return folder / "target" / "fork-join-jmh" / "benchmarks.jar"


def test_the_module_measures_the_tasks_of_the_workload(jar: Path, tmp_path: Path) -> None:
    options = ["-f", "2", "-wi", "2", "-i", "3", "-p", "n=50", "-p", "version=sequential,pool,stream", "-p", "p=2"]
    options += ["-jvmArgsAppend", " ".join(QUICK)]
    done = subprocess.run(
        ["java", *QUICK, "-jar", str(jar), *options, "-foe", "true", "-rf", "json", "-rff", "jmh.json"], cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(in_process("import", "jmh", "jmh.json", "--json", cwd=tmp_path).stdout)["benchmarks"]
    assert {one["params"]["version"] for one in found} == {"sequential", "pool", "stream"}
    assert {(one["unit"], one["n_forks"], one["n_shots"]) for one in found} == {("s", 2, 6)}


def test_a_build_leaves_the_folder_of_the_workload_as_it_was(jar: Path) -> None:
    assert jar.is_file()
    assert not [path for path in MODULE.parent.rglob("*") if path.suffix in (".class", ".jar") or path.name == "target"]
