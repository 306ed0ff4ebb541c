"""Revisions of a repository: each in a folder of its own, built there once; the repository stays as it was."""

import os
import subprocess
from pathlib import Path

import pytest

from scalograph.errors import HostError, StudyError
from scalograph.run.revisions import (
    Revision,
    build_revisions,
    find_branch_point,
    find_merged,
    find_repository,
    list_revisions,
    list_subjects,
    resolve_revisions,
)
from tests.kit.refusals import refuses

COMMITS = 5
AUTHOR = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a"}
BUILD = ("sh", "-c", "cat number > built; pwd >> built; echo x >> calls")


def git(home: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", home, *words], env={**os.environ, **AUTHOR}, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def committed(home: Path, n: int) -> None:
    for i in range(n):
        (home / "number").write_text(f"{i}\n")
        git(home, "add", "number")
        git(home, "commit", "-q", "-m", str(i))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A repository of some commits with a file changed since."""
    made = tmp_path / "a project"
    made.mkdir()
    git(made, "init", "-q", "-b", "main")
    committed(made, COMMITS)
    git(made, "tag", "v/1", "HEAD~3")
    (made / "number").write_text("changed")
    return made


def state(home: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in home.rglob("*") if file.is_file()}


def test_each_revision_is_built_once_and_nothing_of_the_repository_changes(home: Path, tmp_path: Path) -> None:
    (home / "below").mkdir()
    assert find_repository(home / "below") == home
    every, before, said = resolve_revisions(home, ["v/1", "main"]), state(home), list[str]()
    assert [one.name for one in every] == [f"v-1-{every[0].commit[:10]}", f"main-{every[1].commit[:10]}"]
    for _ in range(2):
        into = build_revisions(home, every, BUILD, said.append, tmp_path / "cache")
    assert [(into / one.name / "built").read_text() for one in every] == [
        f"{number}\n{into / one.name}\n" for number, one in zip((1, 4), every, strict=True)
    ]
    assert len(said) == 2 and "builds v-1-" in said[0]
    assert state(home) == before and git(home, "worktree", "list").count("\n") == 0
    assert build_revisions(home, every[:1], ("true",), said.append, tmp_path / "cache") != into, (
        "another build, another folder"
    )


def test_commits_between_two_are_taken_evenly_along_first_parents(home: Path) -> None:
    git(home, "checkout", "-q", "-f", "-b", "side", "HEAD~1")
    committed(home, 3)
    git(home, "checkout", "-q", "main")
    git(home, "merge", "-q", "-X", "ours", "--no-edit", "side")
    names = [one.name.partition("-")[0] for one in list_revisions(home, "v/1", "main", 10)]
    assert names == ["0", "1", "2", "3", "4"]
    first, middle, last = list_revisions(home, "v/1", "main", 3)
    assert (first.commit, last.commit) == (git(home, "rev-parse", "v/1"), git(home, "rev-parse", "main"))
    assert middle.name.startswith("2-")


def test_a_build_that_fails_is_told_and_made_anew(home: Path, tmp_path: Path) -> None:
    every = resolve_revisions(home, ["main"])
    argv = ("sh", "-c", f"echo no such header >&2; test -e {tmp_path}/there")
    with pytest.raises(HostError, match=r"--build of main-\w+: exit code 1, expected 0; .*\nno such header"):
        build_revisions(home, every, argv, str, tmp_path / "cache")
    (tmp_path / "there").touch()
    assert (build_revisions(home, every, argv, str, tmp_path / "cache") / every[0].name / "number").exists()
    with pytest.raises(HostError, match=r"--build of main-.*: none-such cannot be started"):
        build_revisions(home, every, ("none-such",), str, tmp_path / "cache")


def test_a_build_gets_a_plain_environment(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CFLAGS", "-O3")
    monkeypatch.setenv("GIT_DIR", "/none")
    every = resolve_revisions(home, ["main"])
    into = build_revisions(home, every, ("sh", "-c", "env > env"), str, tmp_path / "cache")
    names = {line.partition("=")[0] for line in (into / every[0].name / "env").read_text().splitlines()}
    assert "PATH" in names and not {"CFLAGS", "GIT_DIR"} & names


def test_what_git_does_not_know_is_one_message(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("none", "-v", "main^{tree}", "", "--all"):
        refuses(StudyError, 'revision "', resolve_revisions, home, [text])
    refuses(StudyError, r"main\.\.v/1: no commit between them", list_revisions, home, "main", "v/1", 3)
    refuses(StudyError, "revisions: git says: fatal: not a git repository", find_repository, tmp_path)
    with pytest.raises(StudyError, match="git checkout x: git says"):
        build_revisions(home, [Revision("x", "0" * 40)], (), str, tmp_path / "cache")
    with pytest.raises(HostError, match="expected a plain one; set XDG_CACHE_HOME"):
        build_revisions(home, resolve_revisions(home, ["main"]), (), str, tmp_path / "a cache")
    monkeypatch.setenv("PATH", str(tmp_path))
    refuses(HostError, r"git: cannot be started: .*; apt install git", find_repository, tmp_path)


def test_a_branch_begins_where_it_left_and_a_merge_holds_it(home: Path) -> None:
    git(home, "checkout", "-q", "-f", "-b", "side", "HEAD~2")
    (home / "other").write_text("other")
    git(home, "add", "other")
    git(home, "commit", "-q", "-m", "Side")
    left, tip = git(home, "rev-parse", "HEAD~1"), git(home, "rev-parse", "HEAD")
    assert find_branch_point(home, "main") == Revision(f"main-{left[:10]}", left)
    git(home, "checkout", "-q", "main")
    git(home, "merge", "-q", "--no-ff", "-m", "Join: the (side)", "side")
    assert find_merged(home, "HEAD") == (left, tip) and find_merged(home, tip) is None
    subjects = [revision.name for revision in list_subjects(home, "v/1", "main")]
    assert [name[:-11] for name in subjects] == ["0000-1", "0001-2", "0002-3", "0003-4", "0004-Join-the-side"]
    refuses(StudyError, "no commit between", list_subjects, home, "main", "v/1")
