"""`measure` as a user has it: a command or a harness in, an answer and a study out. No verdict: others run here too."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scalograph.control.memory import find_memory_refusal
from scalograph.control.store import Store
from scalograph.protocol import journal
from scalograph.system.cgroups import MEMORY, controller_tree
from tests.kit import ROOT
from tests.kit.command import in_process
from tests.kit.processes import write_program
from tests.kit.results import complete, findings_in
from tests.kit.workloads import QUICK

ONCE = ("--max-reruns", 0, "--runs", 2)
# Work that can be divided, a figure of it, and a file that tells where it ran.
PROGRAM = """\
#!/bin/sh
echo "ran $*" >> log
sleep 0.02
echo "ops: $((100 * $1))"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_program(tmp_path / "prog", PROGRAM).parent


def measure(folder: Path, *arguments: object, expect: tuple[int, ...] = (0, 5)) -> "subprocess.CompletedProcess[str]":
    return complete("measure", *ONCE, *arguments, cwd=folder, codes=expect)


def test_the_answer_on_the_terminal_and_the_study_that_it_keeps(folder: Path) -> None:
    done = measure(folder, "--threads", "1,2,4", "-o", "results", "--", "./prog", "{threads}")
    lines = done.stdout.splitlines()
    assert lines[0] == "How does `./prog {threads}` depend on threads?" and len(lines) <= 30
    assert not any("gain (%)" in line for line in lines) and lines[-3].startswith("report  results/report.html")
    names = {path.name for path in (folder / "results").iterdir()}
    assert names == {"study.toml", "design.jsonl", "journal.jsonl", "findings.json", "report.html"}
    # It ran here; the baseline, which two speedups share, as often as the others or more.
    log = (folder / "log").read_text().split("\n")[:-1]
    # One run of all tries a pipe in place of /dev/null.
    assert {log.count("ran 2"), log.count("ran 4")} <= {2, 3} and log.count("ran 1") >= 2
    # The study that it keeps is checked and run without retyping.
    study = folder / "results" / "study.toml"
    complete("check", study, cwd=folder, codes=(0,))
    again = complete("run", study, "-o", "second", "--json", cwd=folder)
    assert json.loads(again.stdout)["study"]["hash"] == findings_in(folder / "results")["study"]["hash"]


def test_json_carries_the_figures(folder: Path) -> None:
    rate = ("--response", "ops(ops/s):higher: ^ops: ([0-9]+)$")
    found = json.loads(measure(folder, "--threads", "1,2,4", "--json", *rate, "--", "./prog", "{threads}").stdout)
    assert found["verdict"] in ("reliable", "caution", "unusable")
    assert found["speedup"]["value"] == pytest.approx(4)
    assert found["sigma"]["value"] == pytest.approx(0, abs=1e-6)
    assert found["kappa"]["value"] == pytest.approx(0, abs=1e-6)
    assert found["gamma"]["value"] == pytest.approx(100)
    steps = found["curves"][0]["steps"]
    assert [step["responses"]["ops"]["value"] for step in steps] == [pytest.approx(100 * n) for n in (1, 2, 4)]
    assert [step["gain"] and step["gain"]["value"] for step in steps] == [None, pytest.approx(1), pytest.approx(1)]


def test_versions_are_held_against_the_first(folder: Path) -> None:
    done = measure(
        folder, "--shell", "--json", "--runs", 5, "-v", "nap=long,none", "--", "test {nap} = none || sleep 0.2"
    )
    claim = json.loads(done.stdout)["claim"]
    # On a busy machine nothing can be said; the ratio stands in the matrix in any case.
    assert [row["label"] for row in claim["matrix"]["rows"]] == ["nap=long", "nap=none"]
    assert claim["sentences"][0].startswith(("nap=none takes ", "nap=none is faster than nap=long (", "Inconclusive: "))


def test_steps_around_the_runs_in_order(folder: Path) -> None:
    steps = ("--setup", "echo setup >> log", "--prepare", "echo prepare {n} >> log", "--cleanup", "echo cleanup >> log")
    measure(folder, "--shell", "--factor", "n=3", *steps, "--", "echo run >> log")
    once = ["prepare 3", "run", "cleanup"]
    assert (folder / "log").read_text().splitlines() == ["setup", *once, *once]


def test_a_command_alone_and_copies_of_it_at_once(folder: Path) -> None:
    alone = measure(folder, "--", "./prog", "1")
    assert alone.stdout.startswith("How long does `./prog 1` take?\n") and " 2 runs in " in alone.stdout
    # Of a command alone, on a busy machine nothing is claimed; where something is, its runs are summed up.
    assert "No answer: " in alone.stdout or {"median", "min", "max"} <= {*alone.stdout.split()}, alone.stdout
    assert (folder / "log").read_text().count("ran 1") == 3  # the last with its output in a pipe
    (folder / "log").unlink()
    options = ("--copies", "1,2", "--runs", 2, "--max-reruns", 0, "--json")
    (curve,) = json.loads(measure(folder, *options, "--", "./prog", "1").stdout)["curves"]
    assert (curve["factor"], [step["level"] for step in curve["steps"]]) == ("copies", [1, 2])
    assert (folder / "log").read_text().count("ran 1") == 2 * (1 + 2) + 2


@pytest.mark.parametrize(("words", "told"), [
    (("--shell", "--threads", "1,2,3", "--", "test {threads} != 2"), "exited with 1"),
    (("--response", r"ops:higher: ops (\d+)", "--", "echo", "nothing"),
     "response ops: found no match in 'nothing\\n'"),
    (("--response", r"ops:higher: ops (\d+)", "--", "echo", "ops 1 ops 2"),
     "response ops: found two matches, '1' and '2', expected one"),
    (("--shell", "--threads", "1,2", "--prepare", "echo full >&2; exit $(({threads} - 1))", "--",
      "./prog {threads}"), "prepare failed: sh: exit code 1; it said 'full'"),
], ids=["a configuration", "no match", "two matches", "prepare"])  # fmt: skip
def test_what_fails_is_named_and_the_others_are_measured(folder: Path, words: tuple[str, ...], told: str) -> None:
    assert told in " ".join(measure(folder, *words, expect=(4,)).stdout.split())


@pytest.mark.skipif(find_memory_refusal() is not None or os.geteuid() != 0, reason="no limit of memory is granted here")
def test_a_run_beyond_its_memory_has_failed_and_nothing_is_left(folder: Path) -> None:
    command = [sys.executable, "-c", "bytearray(96 << 20)"]
    tree = controller_tree(MEMORY)
    assert tree is not None
    own = Store(folder / "state", None, memory=tree)
    done = in_process("measure", *ONCE, "--memory", "24M,512M", "-o", "out", "--", *command, cwd=folder, store=own)
    assert done.returncode == 4 and "killed for memory at its limit of 24 MiB" in " ".join(done.stdout.split())
    runs = [event["record"].run for event in journal.read(folder / "out/journal.jsonl") if event["event"] == "run"]
    by_limit = {run.memory_limit_bytes >> 20: run for run in runs}
    assert [by_limit[mib].status for mib in (24, 512)] == ["failed", "ok"]
    assert (by_limit[512].memory_peak_bytes or 0) > 96 << 20
    assert not (folder / "state/changes.json").exists()


def test_revisions_are_built_apart_and_measured_in_one_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three commits of a program, of which the user's folder has a fourth that is not committed."""
    home, author = tmp_path / "home", ["-c", "user.name=a", "-c", "user.email=a"]
    home.mkdir()
    subprocess.run(["git", "init", "-q", home], check=True)
    for code in ("exit 0", "exit 3", "exit 0 # again", "exit 4"):
        (home / "source").write_text(f"#!/bin/sh\n{code}\n")
        if code != "exit 4":
            subprocess.run(["git", "-C", home, "add", "source"], check=True)
            subprocess.run(["git", "-C", home, *author, "commit", "-qm", code], check=True)
    asked = ("--revisions", "HEAD~2..HEAD", "--build", "install -m 755 source program", "-r", 1, "--max-reruns", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    complete("measure", *asked, "-o", "../out", "--", "{version}/program", cwd=home, codes=(4,))
    found = findings_in(tmp_path / "out")
    points = {str(p["level"]).partition("-")[0]: p["n_failed"] for p in found["curves"][0]["points"]}
    assert points == {"0": 0, "1": 1, "2": 0} and (home / "source").read_text().endswith("exit 4\n")
    assert sorted(file.name for file in home.iterdir()) == [".git", "source"]


def measured(folder: Path, response: str, *command: str) -> dict[str, Any]:
    options = ("--runs", 2, "--max-reruns", 0, "--response", response, "-o", "results")
    complete("measure", *options, "--", *command, cwd=folder)
    return findings_in(folder / "results")


@pytest.mark.skipif(not shutil.which("hyperfine"), reason="hyperfine is missing: apt-get install hyperfine")
def test_hyperfine_measures_and_its_runs_are_judged(tmp_path: Path) -> None:
    asked = ["hyperfine", "-N", "--style", "none", "--runs", "2", "--export-json", "/dev/stdout", "sleep 0.02"]
    found = measured(tmp_path, "time:lower: @hyperfine", *asked)
    (point,) = found["curves"][0]["points"]
    scores = point["responses"]["time"]["scores"]
    assert len(scores) == 2 and all(score >= 0.02 for score in scores)
    assert found["study"]["responses"][0]["name"] == "time" and found["study"]["responses"][0]["unit"] == "s"


def test_pyperf_prints_its_results(tmp_path: Path) -> None:
    once = ("--pipe", "1", "--quiet", "--processes", "1", "--values", "1", "--warmups", "0", "--loops", "1")
    asked = (sys.executable, "-m", "pyperf", "command", *once, "--", "sleep", "0.02")
    found = measured(tmp_path, "time:lower: @pyperf", *asked)
    (point,) = found["curves"][0]["points"]
    assert all(score >= 0.02 for score in point["responses"]["time"]["scores"])


def test_a_harness_that_prints_something_else_has_failed(tmp_path: Path) -> None:
    asked = ("--runs", 2, "--max-reruns", 0, "--response", "rate:higher: @sysbench")
    done = complete("measure", *asked, "--", "echo", "x", cwd=tmp_path, codes=(4,))
    assert "found no such output, expected a file of sysbench" in " ".join(done.stdout.split())


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
    # The build has left the folder of the workload as it was.
    left = [path for path in MODULE.parent.rglob("*") if path.suffix in (".class", ".jar") or path.name == "target"]
    assert jar.is_file() and not left
