"""`find commit` in a repository made for the test, whose program prints its work or has made-up times."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from scalograph.run.revisions import list_subjects, revisions_folder, step_argv
from tests.kit.command import degraded, machine, simulated
from tests.kit.results import complete

AUTHOR = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a"}
SCORE = ("--response", "steps(steps):lower: steps ([0-9]+)", "--max-reruns", 0)
BUILD = ("--build", "sh configure")
PROGRAM = ("--", "{version}/prog")


def git(home: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", home, *words], env={**os.environ, **AUTHOR}, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit(home: Path, subject: str, steps: int, configure: str = "chmod +x prog") -> str:
    """Commit a program that prints its steps, and the script that builds it."""
    (home / "prog").write_text(f"#!/bin/sh\n# {subject}\necho steps {steps}\n")
    (home / "configure").write_text(f"{configure}\n")
    git(home, "add", "prog", "configure")
    git(home, "commit", "-q", "-m", subject)
    return git(home, "rev-parse", "HEAD")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A repository with one commit, tagged v1, whose files have changed since."""
    made = tmp_path / "project"
    made.mkdir()
    git(made, "init", "-q", "-b", "main")
    commit(made, "Begin", 1000)
    git(made, "tag", "v1")
    return made


def find(home: Path, *words: object, codes: tuple[int, ...] = (0,), **more: str) -> "subprocess.CompletedProcess[str]":
    cache = {"XDG_CACHE_HOME": str(home.parent / "cache")}
    return complete("find", "commit", *words, cwd=home, env={**os.environ, **cache, **more}, codes=codes)


@machine
def test_a_commit_is_built_and_named_beside_one_that_does_not_build(home: Path) -> None:
    for i in range(1, 4):
        commit(home, f"Change {i}", 1000 if i < 2 else 1200, "exit 7" if i == 1 else "chmod +x prog")
    (home / "prog").write_text("not committed")
    words = ("--good", "v1", "--json", *BUILD, *SCORE, *PROGRAM)
    found = json.loads(find(home, *words, **degraded(home.parent)).stdout)
    (step,) = found["steps"]
    assert [name[:13] for name in step["candidates"]] == ["0001-Change-1", "0002-Change-2"]
    assert step["factor"][1] == pytest.approx(1.2) and found["decided"]
    assert [name[:4] for name in found["failed"]] == ["0001"]
    assert (home / "prog").read_text() == "not committed"
    assert git(home, "worktree", "list").count("\n") == 0


def simulate(home: Path, good: str, bad: str, *slower: tuple[str, float]) -> dict[str, float]:
    """The seconds of each command of a search: after a commit, by its subject, programs take so many times as long."""
    into, walls, wall = revisions_folder(home, BUILD[1].split(), cache(home)), dict[str, float](), 0.1
    for revision in list_subjects(home, good, bad):
        wall *= dict(slower).get(revision.name[5:-11], 1.0)
        walls[f"{into}/{revision.name}/prog"] = wall
        walls[" ".join(step_argv(home, into, revision.name, BUILD[1].split(), ()))] = 0.01
    return walls


def cache(home: Path) -> Path:
    return home.parent / "cache" / "scalograph" / "revisions"


@machine
def test_two_steps_among_many_commits(home: Path) -> None:
    for i in range(1, 9):
        commit(home, f"Change {i}", i)
    walls = simulate(home, "v1", "main", ("Change-2", 1.3), ("Change-7", 1.2))
    done = find(home, "--good", "v1", *BUILD, "--max-reruns", 0, *PROGRAM, **simulated(home.parent, walls))
    text = " ".join(done.stdout.split())
    assert "(Change 2) takes" in text and "is " in text and "(Change 7)" in text
    assert len([*cache(home).glob("*/0*")]) == 2, "commits were built that were not measured"


@machine
def test_a_merge_is_searched_inside(home: Path) -> None:
    commit(home, "Change 1", 1)
    git(home, "checkout", "-q", "-b", "side", "v1")
    for i in range(4):
        commit(home, f"Side {i}", i)
    git(home, "checkout", "-q", "main")
    git(home, "merge", "-q", "--no-ff", "-X", "theirs", "side", "-m", "Join the side")
    commit(home, "Change 2", 2)
    walls = simulate(home, "v1", "main", ("Join-the-side", 1.5)) | simulate(home, "v1", "side", ("Side-2", 1.5))
    done = find(home, "--good", "v1", *BUILD, "--max-reruns", 0, *PROGRAM, **simulated(home.parent, walls))
    first, second = (" ".join(part.split()) for part in done.stdout.split("Which commit made")[1:])
    assert "(Join the side) takes" in first and "(Side 2) takes" in second
    assert "merges a branch; its commits are searched next" in done.stderr


@machine
@pytest.mark.parametrize(("slower", "message"), [
    (1.0, "No slowdown: "), (0.8, "Exchange --good and --bad"),
])  # fmt: skip
def test_no_slowdown_and_a_bad_that_is_faster(home: Path, slower: float, message: str) -> None:
    commit(home, "Change 1", 1)
    walls = simulate(home, "v1", "main", ("Change-1", slower))
    done = find(home, "--good", "v1", *BUILD, "--max-reruns", 0, *PROGRAM, **simulated(home.parent, walls))
    assert message in done.stdout


@pytest.mark.parametrize(("words", "code", "message"), [
    ((), 2, "one of --good, --versions, and --jdk"),
    (("--good", "v1", "--versions", "1,2"), 2, "one of --good, --versions, and --jdk"),
    (("--jdk", "7,8"), 2, "no JVM"),
    (("--good", "v2"), 2, 'revision "v2"'),
    (("--good", "main", "--bad", "v1"), 2, "no commit between them"),
    (("--good", "v1", "--build", "sh -c 'exit 9'"), 3, "exit code 9"),
])  # fmt: skip
def test_what_cannot_be_searched_is_refused(home: Path, words: tuple[str, ...], code: int, message: str) -> None:
    commit(home, "Change 1", 1000)
    done = find(home, *words, *PROGRAM, codes=(code,))
    assert message in done.stderr and "Traceback" not in done.stderr
    assert not (home / "scalograph-results").exists()


@machine
def test_versions_have_an_order_of_their_own(tmp_path: Path) -> None:
    walls = {"true 17": 0.1, "true 21": 0.1, "true 25": 0.12}
    words = ("--versions", "17,21,25", "--max-reruns", 0, "--", "true", "{version}")
    text = " ".join(complete("find", "commit", *words, cwd=tmp_path, env=simulated(tmp_path, walls)).stdout.split())
    assert "25 takes" in text and "than 21" in text


@machine
def test_jvms_have_an_order_of_their_own(tmp_path: Path) -> None:
    launchers = {tmp_path / name / "bin" / "java": wall for name, wall in (("a", 0.1), ("b", 0.12))}
    for java in launchers:
        java.parent.mkdir(parents=True)
        java.write_text("#!/bin/sh\necho 'openjdk version \"17.0.1\"' >&2\n")
        java.chmod(0o755)
    walls = {f"{java} App": wall for java, wall in launchers.items()}
    words = ("--jdk", ",".join(map(str, launchers)), "--max-reruns", 0, "--", "{java}", "App")
    done = complete("find", "commit", *words, cwd=tmp_path, env=simulated(tmp_path, walls))
    assert "b/bin/javatakes" in "".join(done.stdout.split()), done.stdout  # a long path is broken anywhere
