"""The folder of one study's results: five files, each what a stop left."""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from scalograph.errors import HostError, StudyError

ROOT = Path("scalograph-results")


@dataclass(frozen=True)
class Results:
    """Paths of the five files."""

    folder: Path

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
        """What is shown."""
        return self.folder / "report.html"


def create(name: str, folder: Path | None = None) -> Results:
    """A new folder: the given one (which must hold no journal), or a fresh one under scalograph-results/NAME.

    Raises:
        HostError: it cannot be made.
        StudyError: it holds a journal already.
    """
    results = Results(folder or ROOT / name / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(2)}")
    if results.journal.exists():
        raise StudyError.one(
            str(results.journal), "exists", "a folder without a journal", "add --resume, or choose another -o"
        )
    try:
        results.folder.mkdir(parents=True, exist_ok=True)
        if folder is None:
            _link_latest(results.folder)
    except OSError as error:
        raise HostError(
            str(results.folder), f"cannot be made: {error.strerror}", "a writable folder", "choose another -o"
        ) from error
    return results


def latest(name: str, folder: Path | None = None) -> Results:
    """The results to resume or read: the given folder, or the latest of a study.

    Raises:
        StudyError: there are none.
    """
    results = Results(folder or ROOT / name / "latest")
    if not results.journal.exists():
        raise StudyError.one(
            str(results.folder),
            "no journal",
            "results of an earlier run",
            "start it without --resume, or name its folder with -o",
        )
    return results


def at(path: Path) -> Results:
    """The results that a path means: a folder, or a journal in one."""
    return Results(path if path.is_dir() else path.parent)


def write_text(file: Path, text: str) -> None:
    """Replace a file as a whole: a reader sees the old one or the new one.

    Raises:
        HostError: the disk refuses; the old file is untouched.
    """
    part = file.with_name(file.name + ".part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(file)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise HostError(
            str(file), f"cannot be written: {error.strerror}", "a writable disk with room", "free some and repeat"
        ) from error


def _link_latest(folder: Path) -> None:
    link = folder.parent / "latest"
    part = folder.parent / f".latest-{folder.name}"
    part.symlink_to(folder.name)
    part.replace(link)
