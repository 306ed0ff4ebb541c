"""What `--rerun-alone` makes of tests that fail, and whether tests that share something run in one worker."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit import ROOT

PLUGIN = ROOT / "tests" / "rerun_alone.py"
SECOND = """
from pathlib import Path
import pytest

def once(name):
    file = Path(__file__).with_name(name)
    fails = not file.exists()
    with file.open("a") as lines:
        lines.write("x")
    assert not fails, "first time"
"""
PASSES = "def test_passes(): pass\n"
FLAKY = "def test_flaky_{0}(): once('{0}')\n"
GUARANTEE = "@pytest.mark.guarantee\ndef test_kept(): once('kept')\n"
WORKERS = ("-n2", "--dist=loadgroup")


def run(folder: Path, tests: str, *options: str) -> subprocess.CompletedProcess[str]:
    shutil.copy(PLUGIN, folder / "conftest.py")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers -p xdist\n")
    (folder / "test_it.py").write_text(SECOND + tests)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--color=no", *options]
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)


def n_runs(folder: Path, name: str) -> int:
    return len((folder / name).read_text())


@pytest.mark.parametrize("workers", [("-n0",), WORKERS])
def test_one_that_passes_alone_is_named_and_the_run_passes(tmp_path: Path, workers: tuple[str, ...]) -> None:
    tests = PASSES + "@pytest.mark.xdist_group('a')\n" + FLAKY.format("a@b")
    tests = tests.replace("test_flaky_a@b", "test_flaky")
    done = run(tmp_path, tests, "--rerun-alone", *workers)
    *_, named, closing = done.stdout.splitlines()
    assert (done.returncode, named) == (0, "FLAKY test_it.py::test_flaky"), done.stdout + done.stderr
    assert "1 passed, 1 flaky in" in closing and "first time" in done.stdout
    assert n_runs(tmp_path, "a@b") == 2


AT_SIGN = "@pytest.mark.parametrize('name', ['x@y'])\ndef test_flaky(name): once(name)\n"
SET_UP = "@pytest.fixture\ndef thing(): once('a')\ndef test_it(thing): pass\n"
TWICE = PASSES + FLAKY.format("a") + "def test_wrong(): assert 1 == 2\n"
SKIPPED = "def test_it():\n    if Path(__file__).with_name('a').exists(): pytest.skip()\n    once('a')\n"
DIES = "def test_it():\n    once('a')\n    import os; os._exit(3)\n"
ONE = ("-n1", "--max-worker-restart=0")
# Tests, options beside --rerun-alone, exit code, what is printed, and how often each file was written.
ENDS: dict[str, tuple[str, tuple[str, ...], int, tuple[str, ...], dict[str, int]]] = {
    "a parameter with an at sign is found again": (AT_SIGN, WORKERS, 0, ("FLAKY test_it.py::test_flaky[x@y]",), {}),
    "one that fails in its set-up may be flaky too": (SET_UP, ("-n0",), 0, ("1 flaky in",), {}),
    "one that fails twice has failed": (TWICE, WORKERS, 1, ("1 failed, 1 passed, 1 flaky in", "alone: not passed",
                                                            "FAILED test_it.py::test_wrong"), {}),
    "one that is skipped the second time has failed": (SKIPPED, ("-n0",), 1, ("1 failed in",), {}),
    "a guarantee is never run again": (GUARANTEE + FLAKY.format("a"), WORKERS, 1, ("1 failed, 1 flaky in",),
                                       {"kept": 1, "a": 2}),
    "one whose worker died is never run again": (DIES, ONE, 1, (), {"a": 2}),
    "what cannot be collected is not run again": ("import no_such_module\n", ("-n0",), 2, (), {}),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
def test_how_the_run_ends(tmp_path: Path, name: str) -> None:
    tests, options, code, words, times = ENDS[name]
    if tests == DIES:
        (tmp_path / "a").write_text("x")
    done = run(tmp_path, tests, "--rerun-alone", *options)
    assert (done.returncode, [word for word in words if word not in done.stdout]) == (code, []), done.stdout
    assert {file: n_runs(tmp_path, file) for file in times} == times
    assert "FLAKY" not in done.stdout or (words and "FLAKY test_it.py::test_wrong" not in done.stdout)
    assert "run again" not in done.stdout or words


@pytest.mark.parametrize(("n", "code", "closing"), [(2, 0, "2 flaky in"), (3, 1, "3 failed in")])
def test_more_than_two_are_a_failure(tmp_path: Path, n: int, code: int, closing: str) -> None:
    done = run(tmp_path, "".join(FLAKY.format(name) for name in "abc"[:n]), "--rerun-alone", "-n0")
    assert (done.returncode, done.stdout.count("\nFLAKY ")) == (code, n), done.stdout
    assert closing in done.stdout.splitlines()[-1]


def test_nothing_is_run_again_unless_it_is_asked_for(tmp_path: Path) -> None:
    done = run(tmp_path, FLAKY.format("a"), "-n0")
    assert done.returncode == 1 and n_runs(tmp_path, "a") == 1


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="one process runs all tests")
def test_a_worker_is_told_the_group_of_a_test(request: pytest.FixtureRequest) -> None:
    assert request.node.nodeid.endswith(f"@{request.path.name}")
