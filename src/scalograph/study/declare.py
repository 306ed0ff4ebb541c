"""Stop 1 for a command: a study by its file or by the name of a shipped one, quick or in full length."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scalograph.study.check_published import unreadable
from scalograph.study.check_responses import misread
from scalograph.study.check_services import misstarted
from scalograph.study.check_workload import misfits
from scalograph.study.cross_checks import Found
from scalograph.study.known_names import no_such
from scalograph.study.load import load
from scalograph.study.model import Study
from scalograph.study.quick import quickened
from scalograph.study.shipped import shipped_studies, shipped_study


@dataclass(frozen=True)
class Declared:
    """A study, its file, and the folder that its own files are relative to."""

    study: Study
    file: Path

    @property
    def folder(self) -> Path:
        """The folder that relative paths of the study start from."""
        return self.file.parent


def declare(path: Path, quick: bool = False) -> Declared:
    """Load the study in a file or folder.

    Raises:
        StudyError: with every mistake, including those that show only together with its workload.
    """
    file = _file(path)
    study = load(file, lambda raw: _beside(raw, file.parent))
    return Declared(quickened(study) if quick else study, file.resolve())


def check(path: Path) -> Study:
    """Load the study in a file or folder and check the files that it brings along.

    Raises:
        StudyError: with every mistake.
    """
    file = _file(path)
    return load(file, lambda raw: [*_beside(raw, file.parent), *unreadable(raw, file.parent)])


def _beside(raw: dict[str, Any], folder: Path) -> list[Found]:
    """Find the mistakes that show only together with a workload, or with what a run reports."""
    return [*misfits(raw, folder), *misstarted(raw, folder), *misread(raw)]


def _file(path: Path) -> Path:
    return path / "study.toml" if path.is_dir() else path


def declare_shipped(name: str, quick: bool = False) -> Declared:
    """Load a study that ships.

    Raises:
        StudyError: the name is unknown; lists the known ones.
    """
    if name not in shipped_studies():
        fix = "list them with: scalograph study --list"
        raise no_such("study", f'no study "{name}" ships', name, shipped_studies(), fix)
    return declare(shipped_study(name), quick)
