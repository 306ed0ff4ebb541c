"""Check out and build revisions of a git repository, each once, in folders of the cache.

The repository is only read: a clone shares its objects and has branches, index and files of its own. A build gets only
the variables that find compilers: what changes its result belongs into its command.
"""

import hashlib
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scalograph.errors import Exit, HostError, ScalographError, StudyError
from scalograph.run.interrupts import run_or_refuse, tool_environment
from scalograph.system.private_dir import cache_folder, fill_atomically, remove_tree

TIMEOUT_S = 3600
SHOWN_LINES, _MOST_NAME = 12, 40
MOST = 1000  # commits of a search
_DIGITS = 10  # of a commit, in names
# With the folder where this package is, and without the one where it runs: there a file of the user's might take the
# place of a module.
_STEP = "import sys; sys.path.insert(0, sys.argv[1]); import {0} as r; sys.exit(r.carry_out_step(sys.argv[2:]))"
# A path that a shell, and the template of a command, take as it is.
_PLAIN = re.compile(r"[\w./+@=-]+", re.ASCII)


@dataclass(frozen=True)
class Revision:
    """A commit, and the name of its folder."""

    name: str
    commit: str


def find_repository(folder: Path) -> Path:
    """Return the top folder of the repository around a folder.

    Raises StudyError: it lies in none, or in one that git refuses; HostError: git cannot be started.
    """
    return Path(run_git(folder, ["rev-parse", "--show-toplevel"], "revisions", "a folder of a git repository"))


def resolve_revisions(home: Path, texts: Sequence[str]) -> list[Revision]:
    """Return the commits of branches, tags and the like.

    Raises StudyError: git knows no such revision; HostError: git cannot be started.
    """
    commits = [find_commit(home, text) for text in texts]
    return [Revision(_name(text, commit), commit) for text, commit in zip(texts, commits, strict=True)]


def find_commit(home: Path, text: str) -> str:
    """Return the commit of a branch, a tag or the like. Raises as `resolve_revisions`."""
    asked = ["rev-parse", "--verify", "--end-of-options", f"{text}^{{commit}}"]
    return run_git(home, asked, f'revision "{text[:80]}"', "a commit here")


def list_revisions(home: Path, first: str, last: str, most: int) -> list[Revision]:
    """Return at most `most` (2 or more) commits along first parents, evenly spaced, `first` and `last` included.

    Each is named by its distance from the first.

    Raises StudyError: git knows no such revision, or none leads to the other; HostError: git cannot be started.
    """
    every = [commit for commit, _ in _list_commits(home, first, last)]
    n = min(most, len(every))
    places = [round(i * (len(every) - 1) / (n - 1)) for i in range(n)]
    return [Revision(_name(str(index), every[index]), every[index]) for index in places]


def list_subjects(home: Path, first: str, last: str) -> list[Revision]:
    """Return all commits along first parents from one to another, each named by its distance and its subject.

    Raises StudyError: as `list_revisions`, or there are more than `MOST`; HostError: git cannot be started.
    """
    every = _list_commits(home, first, last)
    if len(every) > MOST:
        problem = f"{len(every):,} commits"
        raise StudyError.one(f"{first[:80]}..{last[:80]}", problem, f"at most {MOST:,}", "name a later good commit")
    return [Revision(_name(f"{i:04d}-{subject}", commit), commit) for i, (commit, subject) in enumerate(every)]


def find_branch_point(home: Path, base: str) -> Revision:
    """Return the last commit that HEAD has in common with a branch, named by it.

    Raises StudyError: git knows no such branch, or no common ancestor; HostError: git cannot be started.
    """
    (branch,) = resolve_revisions(home, [base])
    commit = run_git(
        home, ["merge-base", branch.commit, "HEAD"], f'--base "{base[:80]}"', "a branch with a common ancestor"
    )
    return Revision(_name(base, commit), commit)


def find_merged(home: Path, commit: str) -> tuple[str, str] | None:
    """Return where the branch began that a commit merges, and its last commit; None for a commit that merges nothing.

    Raises StudyError: git knows no such commit, or no common ancestor; HostError: git cannot be started.
    """
    parents = run_git(home, ["log", "-1", "--format=%P", commit, "--"], commit, "a commit").split()
    if len(parents) < 2:
        return None
    return run_git(home, ["merge-base", *parents[:2]], f"merge {commit}", "a common ancestor"), parents[1]


def _list_commits(home: Path, first: str, last: str) -> list[tuple[str, str]]:
    begin, end = resolve_revisions(home, [first, last])
    where, listed = f"{first[:80]}..{last[:80]}", ("log", "--first-parent", "--ancestry-path", "--reverse")
    after = run_git(
        home, [*listed, "--format=%H %s", f"{begin.commit}..{end.commit}"], where, "two revisions"
    ).splitlines()
    if not after:
        fix = "the older one first, and along first parents"
        raise StudyError.one(where, "no commit between them", fix, "exchange them, or name their common ancestor")
    start = run_git(home, ["log", "-1", "--format=%H %s", begin.commit], where, "a commit")
    return [(commit, subject) for commit, _, subject in (line.partition(" ") for line in (start, *after))]


def build_revisions(
    home: Path, every: Sequence[Revision], argv: Sequence[str], tell: Callable[[str], None], where: Path | None = None
) -> Path:
    """Return the folder that holds a folder with each revision, checked out and built by `argv` (empty: not built).

    `tell` receives an announcement of each build; `where` is a cache other than the user's.

    Raises StudyError: git cannot check one out. HostError: a build failed, with what it said; or the cache cannot be
    written.
    """
    into = revisions_folder(home, argv, where)
    for revision in every:
        build_revision(home, revision, argv, into / revision.name, tell)
    return into


def revisions_folder(home: Path, argv: Sequence[str], where: Path | None = None) -> Path:
    """Return the folder that holds the revisions of a repository as one command builds them.

    Raises HostError: its path holds what a shell or a template would not take as it is.
    """
    key = hashlib.sha256(os.fsencode("\0".join([str(home.resolve()), *argv]))).hexdigest()[:16]
    into = (where or cache_folder() / "revisions") / f"{_sanitize(home.name)}-{key}"
    if not _PLAIN.fullmatch(str(into)):
        raise HostError(str(into), "a path with blanks or signs", "a plain one", "set XDG_CACHE_HOME to another folder")
    return into


def build_revision(
    home: Path, revision: Revision, argv: Sequence[str], target: Path, tell: Callable[[str], None]
) -> None:
    """Check out and build one revision in its folder, unless that was done before. Raises as `build_revisions`."""
    mark = target.with_name(f".{target.name}.built")
    if mark.exists() and target.is_dir():
        return
    tell(f"builds {revision.name}, once; it is kept in {target}")
    remove_tree(target)
    with fill_atomically(target, "a revision") as clone:
        cloned = ["clone", "--quiet", "--shared", "--no-checkout", "--", str(home), str(clone)]
        run_git(home, cloned, "git clone", "a repository that can be cloned")
        run_git(
            clone, ["checkout", "--quiet", "--detach", revision.commit], f"git checkout {revision.name}", "its files"
        )
    if argv:  # where it stays: what is built may hold its path
        _build(argv, target)
    mark.touch()


def step_argv(home: Path, into: Path, name: str, build: Sequence[str], then: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a step before a run that builds its revision in `into`, once, and then does what follows.

    As `prepare` of a study it builds only what is measured, also where that is resumed. `name` may be a placeholder;
    it ends with ten digits of the commit.
    """
    python = (sys.executable, "-P", "-c", _STEP.format(__name__), str(Path(__file__).parents[2]))
    return (*python, str(home), str(into), name, str(len(build)), *build, *then)


def carry_out_step(words: Sequence[str]) -> int:
    """Build, and become the command that follows; return the exit code where none does. `words` are of `step_argv`."""
    home, into, name, n_words, *rest = words
    build, then = rest[: int(n_words)], rest[int(n_words) :]
    try:
        build_revision(Path(home), Revision(name, name[-_DIGITS:]), build, Path(into) / name, lambda _: None)
    except ScalographError as error:
        print(error, file=sys.stderr)
        return Exit.HOST
    if then:
        os.execvp(then[0], then)  # noqa: S606 -- a step is a command by its words
    return 0


def _build(argv: Sequence[str], target: Path) -> None:
    where = f"--build of {target.name}"
    late = (where, f"not done within {TIMEOUT_S} s", "an end", f"try it in {target}")
    absent = (where, f"{argv[0]} cannot be started", "a program", "install it")
    done = run_or_refuse(argv, _environ(), TIMEOUT_S, target, late, absent)
    if done.returncode:
        output = "\n".join((done.stderr.strip() or done.stdout.strip()).splitlines()[-SHOWN_LINES:])
        raise HostError(where, f"exit code {done.returncode}", "0", f"try it in {target}; it says:\n{output}")


def run_git(folder: Path, words: Sequence[str], where: str, expected: str, text: str = "") -> str:
    """Run git in a folder, give it a text to read, and return its output; it asks no question.

    Raises StudyError: git fails, with its first line; HostError: it cannot be started, or does not end.
    """
    late = (where, f"git took longer than {TIMEOUT_S} s", "an end", "try it by hand")
    absent = ("git", "cannot be started", "git on PATH", "apt install git")
    done = run_or_refuse(["git", "-C", str(folder), *words], _environ(), TIMEOUT_S, None, late, absent, text)
    if done.returncode:
        complaint = (done.stderr.strip() or "no message").splitlines()[0][:200]
        raise StudyError.one(where, f"git says: {complaint}", expected)
    return done.stdout.strip()


def _environ() -> dict[str, str]:
    # No question is asked, and no lock is taken in the repository.
    return {**tool_environment(), "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}


def _name(text: str, commit: str) -> str:
    return f"{_sanitize(text)}-{commit[:_DIGITS]}"


def _sanitize(text: str) -> str:
    return re.sub(r"[^a-zA-Z0-9._-]+", "-", text).strip("-.")[:_MOST_NAME] or "revision"
