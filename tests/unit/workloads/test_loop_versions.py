"""One loop in two languages: built by both compilers into one folder, with one count and one result."""

import shutil
import subprocess
from pathlib import Path

import pytest

from scalograph.protocol.facts import Jvm
from scalograph.run.build import build
from scalograph.study.shipped import shipped_workload
from scalograph.study.workload import load_workload
from scalograph.system.jvms import find_jvms

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler: apt-get install gcc libc6-dev")
HERE = shipped_workload("loop-versions")
WORDS = ("units=10000", "iterations=2")


@pytest.fixture(scope="module")
def jvm() -> Jvm:
    found = [jvm for jvm in find_jvms() if jvm.javac]
    if not found:
        pytest.skip("no JDK: apt-get install default-jdk-headless")
    return found[0]


@pytest.fixture(scope="module")
def built(jvm: Jvm, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = build(HERE, load_workload(HERE), [jvm], tmp_path_factory.mktemp("builds"))
    assert made is not None
    return made


def told(argv: list[str]) -> dict[str, str]:
    """What a run says: the work of its iterations, and its values by name."""
    done = subprocess.run(argv, capture_output=True, text=True, check=True, env={}, timeout=60)
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["ready"]
    work = " ".join(line[4] for line in lines if line[0] == "iteration")
    return {"work": work, **{line[1]: line[2] for line in lines if line[0] == "value"}}


def in_java(built: Path, jvm: Jvm, loop: str, *options: str) -> dict[str, str]:
    argv = [str(built / "main"), "version=java", f"loop={loop}", *WORDS]
    return told([*argv, jvm.java, *options, "-cp", str(built), "Loop", f"loop={loop}", *WORDS, "prerun=0"])


@pytest.mark.parametrize(("loop", "work"), [("steps", "10000 10000"), ("count", "12288 12288")])
def test_all_versions_do_the_same(built: Path, jvm: Jvm, loop: str, work: str) -> None:
    c = told([str(built / "main"), "version=c", f"loop={loop}", *WORDS, jvm.java])
    others = [in_java(built, jvm, loop), in_java(built, jvm, loop, "-Xint")]
    assert [found["work"] for found in (c, *others)] == [work] * 3
    assert len({found["checksum"] for found in (c, *others)}) == 1
    assert all(float(found["unit_ns"]) > 0 for found in (c, *others))


@pytest.mark.parametrize("words", [["version=cobol"], ["loop=none"], ["units=0"], ["version=java"]])
def test_wrong_arguments_end_with_64(built: Path, words: list[str]) -> None:
    done = subprocess.run([built / "main", *words], capture_output=True, text=True, check=False, env={})
    assert done.returncode == 64 and words[0].partition("=")[0] in done.stderr
