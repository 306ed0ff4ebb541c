"""Read and write notes on commits: lines that a repository keeps beside its commits, in a git notes ref.

A notes ref is fetched and pushed like a branch, changes no commit, and holds text of anybody who may push. A shallow
clone has all notes, also those on commits that it lacks.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from scalograph.errors import StudyError
from scalograph.run.revisions import find_commit, run_git

REF = "refs/notes/scalograph"
MAX_BYTES, MAX_NOTE = 256 << 20, 1 << 20
# The job of a CI service has no name of its own.
_AUTHOR = ("-c", "user.name=scalograph", "-c", "user.email=scalograph@localhost")
_NOTES = ("notes", f"--ref={REF}")
_HEAD = "commit "


def read_commit_notes(home: Path) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the lines of all notes, each with its commit, and why a note is not read.

    Raises StudyError: there are none, they are too large, or git refuses; HostError: git cannot be started.
    """
    # Each line is a note and its commit.
    listed = run_git(home, [*_NOTES, "list"], str(home), "a git repository").splitlines()
    if not listed:
        fix = f"git fetch origin {REF}:{REF}, or write some with scalograph export --as notes"
        raise StudyError.one(str(home), f"no notes in {REF}", "", fix)
    asked = _ask(home, "--batch-check=%(objectsize) %(rest)", listed)
    sizes = [int(line.split()[0]) for line in asked if not line.endswith(" missing")]
    if len(sizes) != len(listed):
        raise StudyError.one(str(home), f"{REF} lacks objects", "", f"git fetch origin {REF}:{REF}")
    read = [line for line, size in zip(listed, sizes, strict=True) if size <= MAX_NOTE]
    if sum(size for size in sizes if size <= MAX_NOTE) > MAX_BYTES:
        raise StudyError.one(str(home), f"notes of more than {MAX_BYTES >> 20} MiB", "", "remove old ones: git notes")
    large = [f"note on {commit[:10]}: larger than 1 MiB" for commit in _commits(listed) - _commits(read)]
    return [*_pair_lines(_ask(home, f"--batch={_HEAD}%(rest)", read))] if read else [], large


def _ask(home: Path, how: str, notes: Sequence[str]) -> list[str]:
    answer = run_git(home, ["cat-file", how], REF, "notes that can be read", "".join(f"{note}\n" for note in notes))
    return answer.split("\n")  # splitlines would divide a text at its signs for paragraphs


def _commits(notes: Sequence[str]) -> set[str]:
    return {note.split()[-1] for note in notes}


def _pair_lines(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    commit = ""
    for line in lines:
        if line.startswith(_HEAD):
            commit = line.removeprefix(_HEAD)
        elif line:
            yield commit, line


def write_commit_note(home: Path, revision: str, lines: Sequence[str], is_replaced: Callable[[str], bool]) -> str:
    """Add lines to the note on a commit, in place of those that are replaced, and return the commit.

    Raises StudyError: git knows no such commit, or refuses; HostError: git cannot be started.
    """
    commit = find_commit(home, revision)
    before = [line for listed in _list_note(home, commit) for line in listed.split("\n")]
    every = sorted({line for line in before if line and not is_replaced(line)} | {*lines})
    written = [*_AUTHOR, *_NOTES, "add", "--force", "--file=-", commit]
    run_git(home, written, f"git {' '.join(_NOTES)}", "a ref that can be written", "".join(f"{x}\n" for x in every))
    return commit


def _list_note(home: Path, commit: str) -> Iterator[str]:
    listed = run_git(home, [*_NOTES, "list"], str(home), "a git repository")
    if any(line.endswith(commit) for line in listed.splitlines()):
        yield run_git(home, [*_NOTES, "show", commit], REF, "a note that can be read")
