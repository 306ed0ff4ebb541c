"""Load a study with its workload, by file or by built-in name, quick or in full."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scalograph.study.check_published import check_published_file
from scalograph.study.check_workload import check_process_use, check_run_responses, check_workload_use
from scalograph.study.cross_checks import Mistake
from scalograph.study.load import load, quick_form
from scalograph.study.model import Response, Study
from scalograph.study.published_claim import PublishedClaim
from scalograph.study.scalars import unknown_name_error
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


def claims_of(declared: Declared) -> list[PublishedClaim]:
    """Return the claims that a study decides."""
    return list(declared.study.published.claims) if declared.study.published else []


def claimed_responses(declared: Declared) -> dict[str, Response]:
    """Return the responses that its claims name: what a record holds can be read of finished runs, too."""
    names = {claim.response: None for claim in claims_of(declared) if claim.response}
    return {name: declared.study.responses[name] for name in names}


def declare(path: Path, quick: bool = False) -> Declared:
    """Load the study in a file or folder."""
    file = _file(path)
    study = load(file, lambda raw: _check_surroundings(raw, file.parent))
    return Declared(quick_form(study) if quick else study, file.resolve())


def check(path: Path) -> Study:
    """Load a study and check the files beside it."""
    file = _file(path)
    return load(file, lambda raw: [*_check_surroundings(raw, file.parent), *check_published_file(raw, file.parent)])


def _check_surroundings(raw: dict[str, Any], folder: Path) -> list[Mistake]:
    return [*check_workload_use(raw, folder), *check_process_use(raw, folder), *check_run_responses(raw)]


def _file(path: Path) -> Path:
    return path / "study.toml" if path.is_dir() else path


def declare_shipped(name: str, quick: bool = False) -> Declared:
    """Load a built-in study."""
    if name not in shipped_studies():
        fix = "list them with: scalograph study --list"
        raise unknown_name_error("study", f'no study "{name}" ships', name, shipped_studies(), fix)
    return declare(shipped_study(name), quick)
