"""Every command of the README, in order, in one shell, as a newcomer would type it."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scalograph.control.store import Store
from scalograph.machine.floor.floor import MIN_RUNS
from scalograph.study.shipped import shipped_study
from tests.end_to_end.conftest import Sanity
from tests.kit import ROOT
from tests.kit.command import LONG_S, in_process, machine
from tests.kit.forked import forking
from tests.kit.processes import write_program

# Where a machine is busy, runs are left out and the code is 5: both are success for a reader.
SUCCESS = (0, 5)
# The same commands on a tenth of the work, in two runs each, without runs that are made again because the tests
# themselves disturb them, and searches up to their first runs: what the program computes, and what they tell of it, is
# nothing that they prove.
SMALLER = {
    "2_000_000": "200_000",
    "shuf -i 1-300000 ": "shuf -i 1-30000 ",
    " -- ": " --max-reruns 0 -- ",
    "\nruns = 5\n": "\nruns = 2\nmax_reruns = 0\n",
    "--runs 10 ": "--runs 2 ",
    "--runs 5 ": "--runs 2 ",
    "find effective-cpus ": "find effective-cpus --max-runs 10 ",
    "find cliff ": "find cliff --max-runs 10 ",
    "--range 1:64 ": "--range 1:8 ",
    "10000:2000000 ": "10000:200000 ",
    "find break-even ": "find break-even --max-runs 20 ",
}
# What is proved elsewhere, or by as many runs as a noise floor is kept of.
SANITY, NOISE = "scalograph doctor --sanity ", "scalograph doctor --noise --quick "


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where `scalograph` is: the README starts it two dozen times."""
    with forking(tmp_path_factory.mktemp("forked")) as folder:
        yield folder


@pytest.fixture
def noise_floor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """The exit code of `doctor --noise --quick` with a tenth of the work, and the fewest runs that make a floor."""
    folder = shutil.copytree(shipped_study("noise-floor"), tmp_path / "noise-floor")
    declared = (folder / "study.toml").read_text()
    fewest = re.sub(r"(?<=^protocol = { runs = )[0-9]+", f"{MIN_RUNS // 2}, max_reruns = 0", declared, flags=re.M)
    use = 'use = "fixed-work"\n'
    assert fewest != declared and use in fewest
    (folder / "study.toml").write_text(fewest.replace(use, f"{use}parameters = {{ units = 10_000_000 }}\n"))
    monkeypatch.setattr("scalograph.study.declare.shipped_study", lambda name: folder)
    monkeypatch.setattr("scalograph.cli.pipeline.WAIT_S", LONG_S)
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    return in_process("doctor", "--noise", "--quick", cwd=tmp_path, env=state, store=Store.locate()).returncode


@machine
def test_the_commands_of_the_readme(tmp_path: Path, programs: Path, sanity: Sanity, noise_floor: int) -> None:
    blocks = re.findall(r"```console\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    commands = [block for block in blocks if "make demo" not in block]
    # `activate` belongs to the repository's own environment; here the interpreter of the tests stands for it.
    script = "\n".join(commands).replace("source .venv/bin/activate", "")
    assert f"\n{SANITY}" in script and sanity.code == 0
    assert f"\n{NOISE}" in script and noise_floor in SUCCESS
    for old, new in {SANITY: ": ", NOISE: ": ", **SMALLER}.items():
        assert old in script
        script = script.replace(old, new)
    guarded = "set -u\ntrap 'c=$?; [ $c -eq 5 ] || exit $c' ERR\n" + script
    environ = {**os.environ, "PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"}
    environ["NO_COLOR"] = "1"
    # What the README keeps of this machine is of this test alone.
    environ |= {"XDG_STATE_HOME": str(tmp_path / "state")}
    done = subprocess.run(
        ["bash", "-c", guarded], cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode in SUCCESS, done.stdout + done.stderr
    results = tmp_path / "first" / "results"
    made = {path.name for path in results.iterdir()}
    assert made >= {"study.toml", "design.jsonl", "journal.jsonl", "findings.json", "report.html"}
    assert "first/study.toml" not in done.stderr
    measured = tmp_path / "first" / "scalograph-results" / "measure-python3"
    assert len([path for path in measured.iterdir() if path.name != "latest"]) == 3
    assert (tmp_path / "first" / "burn.toml").read_text() == (measured / "latest" / "study.toml").read_text()
    # The last size is the one that was asked for.
    assert re.search(r"^model .* 1,300 \[1,100, 1,700\](  [▁-█]+)?$", done.stdout, re.MULTILINE)
    assert "`sort -{order} numbers.txt`: order=n vs. order=g" in done.stdout
    assert (tmp_path / "first" / "results.csv").read_text().count("\n") > 6 * 2
    assert (tmp_path / "first" / "results.md").read_text().startswith("# Does burn.py use both CPUs?")
    assert (tmp_path / "first" / "results.svg").read_text().startswith("<svg")


def test_make_knows_both_commands() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(r"^demo:", makefile, re.MULTILINE) and re.search(r"^test:", makefile, re.MULTILINE)
    assert re.search(r"^make test$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)


def prerequisites(folder: Path, java: str | None, javac: str | None) -> subprocess.CompletedProcess[str]:
    """What scripts/prerequisites.sh says where a JDK answers with these lines, and all else is there."""
    cargo = "cargo 1.90.0 (abc 2026-01-01)"
    for name, line in {"java": java, "javac": javac, "cargo": cargo, "cc": "", "python": ""}.items():
        if line is not None:
            write_program(folder / name, f"echo '{line}' >&{1 if name == 'cargo' else 2}")
    for tool in ("bash", "sed", "head", "sort", "cut", "env"):
        (folder / tool).symlink_to(f"/usr/bin/{tool}")
    script = [ROOT / "scripts" / "prerequisites.sh", folder / "python"]
    return subprocess.run(script, env={"PATH": str(folder)}, capture_output=True, text=True, check=False)


# What a JDK says, and what is named, with the command that installs one: nothing of one of 11 or later.
@pytest.mark.parametrize(("java", "javac", "named"), [
    ('openjdk version "11.0.2" 2019-01-15', "javac 11.0.2", []),
    ('java version "25-ea" 2025-09-16', "javac 25-ea", []),
    ('openjdk version "1.8.0_402"', "javac 1.8.0_402", ["java: found {}/java, release 8", "javac: found {}/javac"]),
    ('openjdk version "17.0.15" 2025-04-15', None, ["javac: found none"]),
    (None, None, ["java: found none", "javac: found none"]),
    ("no JVM is configured", "javac 17.0.15", ["java: found {}/java, release none"]),
])  # fmt: skip
def test_a_missing_or_old_jdk_is_named(tmp_path: Path, java: str | None, javac: str | None, named: list[str]) -> None:
    done = prerequisites(tmp_path, java, javac)
    assert done.returncode == (3 if named else 0) and (named or done.stderr == "")
    lines = [line for line in done.stderr.splitlines() if line.startswith("missing: ")]
    assert len(lines) == len(named)
    for line, part in zip(lines, named, strict=True):
        assert line.startswith("missing: a JDK 11 or later (") and part.format(tmp_path) in line
    assert done.stderr.count("install it with: apt-get install default-jdk-headless") == len(named)
