"""The workflows of docs/ci in a repository made for the test: their steps are carried out, in which no time passes."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from scalograph.run.commit_notes import REF
from scalograph.run.revisions import find_branch_point, resolve_revisions, revisions_folder
from tests.kit import ROOT
from tests.kit.command import in_process, machine, shell, simulated

AUTHOR = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a"}
# A few runs show what times without noise are.
FEWER = {"ab": ("--pairs", "9"), "measure": ("--runs", "2")}
# The command without the lock of the machine.
PROGRAM = """#!{0}
import sys
from pathlib import Path
sys.path.insert(0, {2!r})
from tests.kit.command import in_process
name, *words = sys.argv[1:]
done = in_process(name, *{1!r}.get(name, ()), *words, cwd=Path.cwd())
sys.stdout.write(done.stdout)
sys.stderr.write(done.stderr)
sys.exit(done.returncode)
"""


def git(home: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", home, *words], env={**os.environ, **AUTHOR}, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def step(file: str, name: str) -> str:
    """The script of a step of a workflow."""
    text = (ROOT / "docs" / "ci" / file).read_text()
    block = re.search(rf"- name: {name}\n(?:        .*\n)*?        run: (\|\n((?:          .*\n|\n)+)|.*)", text)
    assert block, f"{file} has no step {name}"
    return dedent(block[2] or block[1])


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A clone of a project with a commit on main since a branch `change` began; `scalograph` makes few runs in it."""
    origin, clone = tmp_path / "origin", tmp_path / "job"
    git(tmp_path, "init", "-q", "-b", "begin", "origin")
    (origin / "Makefile").write_text("prog:\n\tprintf '#!/bin/sh\\n' >prog && chmod +x prog\n")
    for name, words in (("Makefile", "-b main"), ("new", "-b change"), ("later", "main")):
        git(origin, "checkout", "-q", *words.split())
        (origin / name).touch()
        git(origin, "add", name)
        git(origin, "commit", "-q", "-m", name)
    git(tmp_path, "clone", "-q", "origin", "job")
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "scalograph"
    program.write_text(PROGRAM.format(sys.executable, FEWER, str(ROOT)))
    program.chmod(0o755)
    return clone


def environment(job: Path, **more: str) -> dict[str, str]:
    folder = job.parent
    return {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(folder / "cache"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"), **more,
    }  # fmt: skip


@machine
@pytest.mark.parametrize(("slower", "code", "words"), [(1.2, 7, "is slower than origin-main"), (1.0, 0, "equivalent")])
def test_a_pull_request_is_red_where_it_is_slower(job: Path, slower: float, code: int, words: str) -> None:
    git(job, "checkout", "-q", "--detach", "origin/main")
    git(job, "merge", "-q", "--no-ff", "origin/change", "-m", "as the service merges it")
    into = revisions_folder(job, ["make", "prog"], job.parent / "cache" / "scalograph" / "revisions")
    base, head = find_branch_point(job, "origin/main").name, resolve_revisions(job, ["HEAD"])[0].name
    walls = {f"{into}/{name}/prog --size 1000": wall for name, wall in ((base, 1.0), (head, slower))}
    env = environment(job, GITHUB_BASE_REF="main", **simulated(job.parent, walls, noise_percent=0.1))
    done = shell(f"set -e\n{step('pull-request.yml', 'in pairs')}", cwd=job, env=env)
    assert done.returncode == code, done.stdout + done.stderr
    assert words in (job.parent / "summary.md").read_text()


@machine
def test_the_results_of_each_night_are_noted_pushed_watched_and_published(job: Path) -> None:
    homes = {revision: job.parent / revision.replace("/", "-") for revision in ("HEAD~1", "origin/main")}
    walls = {f"{home}/prog --size 1000 -t {n}": 1 / n for home in homes.values() for n in (1, 2)}
    env = environment(job, PAGE="https://example.org/runs/7", **simulated(job.parent, walls))

    def carry_out(name: str, home: Path) -> None:
        words = shlex.split(step("nightly.yml", name).replace("$GITHUB_STEP_SUMMARY", env["GITHUB_STEP_SUMMARY"]))
        done = in_process(*words[1:2], *FEWER.get(words[1], ()), *words[2:], cwd=home, env=env)
        assert done.returncode in (0, 5), done.stderr

    for revision, home in homes.items():  # two jobs, each in a fresh clone of its own
        git(job.parent, "clone", "-q", "origin", home.name)
        git(home, "checkout", "-q", "--detach", revision)
        (home / "prog").touch(0o755)
        carry_out("measure", home)
        done = shell(f"set -e\n{step('nightly.yml', 'note')}", cwd=home, env=env)
        assert done.returncode == 0, done.stdout + done.stderr
    assert len(git(job.parent / "origin", "notes", f"--ref={REF}", "list").splitlines()) == 2
    carry_out("site", home)
    carry_out("watch", home)
    page = next((home / "public").glob("measure-*.html")).read_text()
    assert page.count('href="https://example.org/runs/7"') > 2
    assert "no series has 6 results" in (job.parent / "summary.md").read_text()
