"""The workloads that count: built by the real compilers, and held against what their levels and languages give."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from scalograph.protocol.facts import Jvm
from scalograph.run.build import build
from scalograph.study.shipped import shipped_workload
from scalograph.study.workload import load_workload
from scalograph.system.platform_facts import find_jvms

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler: apt-get install gcc libc6-dev")
HERE = shipped_workload("process-loop")
LEVELS = ("O0", "O1", "O2", "O3")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = build(HERE, load_workload(HERE), where=tmp_path_factory.mktemp("builds"))
    assert made is not None
    return made


def instructions(assembly: str) -> list[str]:
    """What the CPU is told, without labels' numbers and what is meant for debuggers."""
    lines = [line.strip() for line in assembly.splitlines()]
    return [
        re.sub(r"\.L\w+", ".L", line) for line in lines if line and not line.startswith((".", "#")) and line[-1] != ":"
    ]


@pytest.mark.parametrize("level", LEVELS)
def test_the_kept_assembly_is_what_the_level_gives(built: Path, tmp_path: Path, level: str) -> None:
    plain = tmp_path / f"{level}.c"
    plain.write_text((HERE / f"{level}.c").read_text().replace("#pragma GCC optimize", "// "))
    subprocess.run(["cc", "-std=c11", f"-{level}", f"-I{HERE}", "-S", "-o", tmp_path / "a.s", plain], check=True)
    kept = instructions((built / f"main-{level}.s").read_text())
    assert kept == instructions((tmp_path / "a.s").read_text())
    assert sum(line.startswith(("j", "b")) for line in kept) >= 14  # fourteen loops jump back


def lines(built: Path, *words: str) -> list[list[str]]:
    done = subprocess.run([built / "main", *words], capture_output=True, text=True, check=True, env={})
    return [line.split() for line in done.stdout.splitlines()]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("direction", ["up", "down"])
@pytest.mark.parametrize("limit", load_workload(HERE).parameters["limit"].choices or [])
def test_every_loop_counts_whole_passes(built: Path, level: str, direction: str, limit: int) -> None:
    told = lines(built, f"optimize={level}", f"direction={direction}", f"limit={limit}", "units=10000", "iterations=2")
    assert told[0] == ["ready"]
    passes = -(-10000 // limit)
    assert [line[4] for line in told if line[0] == "iteration"] == [str(passes * limit)] * 2
    assert len([line for line in told if line[:2] == ["value", "count_ns"]]) == 2


@pytest.mark.parametrize(
    "word", ["limit=7", "optimize=O9", "direction=aside", "units=0", "units=x", "iterations=-1", ""]
)
def test_what_it_cannot_do_is_one_sentence(built: Path, word: str) -> None:
    done = subprocess.run([built / "main", word], capture_output=True, text=True, check=False, env={})
    assert done.returncode == 64 and done.stderr.count("\n") == 1 and "expected" in done.stderr


VERSIONS = shipped_workload("loop-versions")
WORDS = ("units=10000", "iterations=2")


@pytest.fixture(scope="module")
def jvm() -> Jvm:
    found = [jvm for jvm in find_jvms() if jvm.javac]
    if not found:
        pytest.skip("no JDK: apt-get install default-jdk-headless")
    return found[0]


@pytest.fixture(scope="module")
def versions(jvm: Jvm, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = build(VERSIONS, load_workload(VERSIONS), [jvm], tmp_path_factory.mktemp("builds"))
    assert made is not None
    return made


def told(argv: list[str]) -> dict[str, str]:
    """What a run says: the work of its iterations, and its values by name."""
    done = subprocess.run(argv, capture_output=True, text=True, check=True, env={}, timeout=60)
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["ready"]
    work = " ".join(line[4] for line in lines if line[0] == "iteration")
    return {"work": work, **{line[1]: line[2] for line in lines if line[0] == "value"}}


def in_java(versions: Path, jvm: Jvm, loop: str, *options: str) -> dict[str, str]:
    argv = [str(versions / "main"), "version=java", f"loop={loop}", *WORDS]
    return told([*argv, jvm.java, *options, "-cp", str(versions), "Loop", f"loop={loop}", *WORDS, "prerun=0"])


@pytest.mark.parametrize(("loop", "work"), [("steps", "10000 10000"), ("count", "12288 12288")])
def test_all_versions_do_the_same(versions: Path, jvm: Jvm, loop: str, work: str) -> None:
    c = told([str(versions / "main"), "version=c", f"loop={loop}", *WORDS, jvm.java])
    others = [in_java(versions, jvm, loop), in_java(versions, jvm, loop, "-Xint")]
    assert [found["work"] for found in (c, *others)] == [work] * 3
    assert len({found["checksum"] for found in (c, *others)}) == 1
    assert all(float(found["unit_ns"]) > 0 for found in (c, *others))


@pytest.mark.parametrize("words", [["version=cobol"], ["loop=none"], ["units=0"], ["version=java"]])
def test_wrong_arguments_end_with_64(versions: Path, words: list[str]) -> None:
    done = subprocess.run([versions / "main", *words], capture_output=True, text=True, check=False, env={})
    assert done.returncode == 64 and words[0].partition("=")[0] in done.stderr
