"""The folder of one study's results: five files, one for each step."""

import os
import secrets
import shlex
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from scalograph.errors import HostError, ProtocolError, StudyError
from scalograph.protocol.journal import MAX_LINE_BYTES
from scalograph.protocol.written_file import replace_file

ROOT = Path("scalograph-results")
# Names of our own in a folder of results: nothing that a study brings along may replace them.
RESERVED = (
    "study.toml", "design.jsonl", "journal.jsonl", "journal.jsonl.gz", "findings.json", "report.html", "profile.json",
    "explanation.json", "latest",
)  # fmt: skip

_ENDINGS = (".jsonl", ".gz")


@dataclass(frozen=True)
class Results:
    """Paths of the five files; `warning` says what could not be made beside them."""

    folder: Path
    warning: str | None = None

    @property
    def study(self) -> Path:
        """What was declared."""
        return self.folder / "study.toml"

    @property
    def design(self) -> Path:
        """What was planned."""
        return self.folder / "design.jsonl"

    @property
    def journal(self) -> Path:
        """What happened; a kept example is compressed."""
        packed = self.folder / "journal.jsonl.gz"
        return packed if packed.exists() else self.folder / "journal.jsonl"

    @property
    def findings(self) -> Path:
        """What was learned."""
        return self.folder / "findings.json"

    @property
    def report(self) -> Path:
        return self.folder / "report.html"


def create(name: str, folder: Path | None = None, goes_on: Sequence[str] = ()) -> Results:
    """Create the given folder, or a fresh one under scalograph-results/NAME of the study.

    A given one must hold no journal, and no findings or report of anything else. `goes_on` are the words of the command
    that goes on with a journal there; none where `run` does with the copy beside it.

    Raises HostError: it cannot be made; StudyError: it is taken.
    """
    results = Results(folder or ROOT / name / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(2)}")
    try:
        refuse_taken(results, goes_on)
        results.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(
            str(results.folder), f"cannot be made: {error.strerror}", "a writable folder", "choose another -o"
        ) from error
    return Results(results.folder, _link_latest(results.folder) if folder is None else None)


def refuse_taken(results: Results, goes_on: Sequence[str] = ()) -> None:
    """Refuse a folder with a journal, which says how to go on, or with a result that no journal here stands behind.

    Raises StudyError: it is one.
    """
    if is_begun(results.journal):
        words = goes_on or ("run", str(results.study))
        again = shlex.join(["scalograph", *words, "--resume", "-o", str(results.folder)])
        fix = f"choose another -o, or go on with: {again}"
        raise StudyError.one(str(results.journal), "exists", "a folder without a journal", fix)
    for file in (results.findings, results.report):
        if is_owned(file):
            raise foreign_file_error(file)


def is_begun(journal: Path) -> bool:
    """Whether a journal is there and holds a line: a start that fails at the first one leaves an empty file."""
    if journal.suffix == ".gz" or not journal.is_file():
        return journal.exists()
    with journal.open("rb") as stream:
        return stream.readline(MAX_LINE_BYTES + 1).endswith(b"\n")


def is_owned(file: Path) -> bool:
    """Whether something of its own has the name; a link that somebody planted is nobody's."""
    return file.exists() and not file.is_symlink()


def foreign_file_error(file: Path) -> StudyError:
    """What is said where a new file would replace one that is not ours."""
    return StudyError.one(
        str(file.parent), f"holds a {file.name} of its own", "a folder without one", "choose another -o"
    )


def locate_latest(name: str, folder: Path | None = None) -> Results:
    """The results to resume or read: the given folder, or the latest of a study. Raises StudyError: there are none."""
    results = Results(folder or ROOT / name / "latest")
    if not is_begun(results.journal):
        raise StudyError.one(
            str(results.folder),
            "no journal",
            "results of an earlier run",
            "start it without --resume, or name its folder with -o",
        )
    return results


def locate_results(path: Path) -> Results:
    """The results that a path means: a folder, or a journal in one.

    Raises ProtocolError: there is no such path, or it is neither.
    """
    try:
        mode = path.stat().st_mode
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        raise _no_results(path, "no such file" if is_missing else f"cannot be read: {error.strerror}") from error
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        raise _no_results(path, "no plain file")
    if stat.S_ISDIR(mode) and not os.access(path, os.R_OK | os.X_OK, effective_ids=True):
        raise _no_results(path, "cannot be read: Permission denied")
    return Results(path if stat.S_ISDIR(mode) else path.parent)


def locate_journal(path: Path) -> Path:
    """The journal that a path means. Raises ProtocolError: there is none, or the file is none by its name."""
    results = locate_results(path)
    if path == results.folder:
        locate_results(results.journal)
        return results.journal
    if path.suffix not in _ENDINGS:
        folder = (
            shlex.quote(str(results.folder)) if results.journal.exists() else "the folder that a study was run into"
        )
        raise _no_results(path, "no journal", f"give {folder}")
    return path


def _no_results(path: Path, observed: str, fix: str = "run the study first") -> ProtocolError:
    return ProtocolError(str(path), observed, "a results folder or a journal (.jsonl, .jsonl.gz)", fix)


def is_writable(folder: Path) -> bool:
    """Whether we may make files in a folder."""
    return os.access(folder, os.W_OK | os.X_OK, effective_ids=True)


def write_text(file: Path, text: str) -> None:
    """Replace a file as a whole: a reader sees the old one or the new one.

    Raises HostError: the disk refuses; the old file is untouched.
    """
    write_bytes(file, text.encode())


def write_bytes(file: Path, content: bytes) -> None:
    """Replace a file as a whole. Raises HostError: the disk refuses; the old file is untouched."""
    try:
        with replace_file(file) as stream:
            stream.write(content)
    except OSError as error:
        expected = "a writable disk with room" if file.parent.is_dir() else "a folder that exists"
        state = f"cannot be written: {error.strerror or error}"
        raise HostError(str(file), state, expected, "free some and repeat" * file.parent.is_dir()) from error


def _link_latest(folder: Path) -> str | None:
    """The link is a comfort: a file system without links gets a warning."""
    link = folder.parent / "latest"
    part = folder.parent / f".latest-{folder.name}"
    try:
        part.symlink_to(folder.name)
        part.replace(link)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        return f"{link}: no such link could be made ({error.strerror}); name the folder with -o instead"
    return None
