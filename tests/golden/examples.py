"""Journals that stay what they are, as the command tells them in this process; the examples of studies may change."""

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

from .command import scalograph

JOURNALS = Path(__file__).resolve().parent / "journals"
NAMES = sorted(file.parent.name for file in JOURNALS.glob("*/journal.jsonl.gz"))


class Example(NamedTuple):
    """What came of a kept journal: `terminal` is what both commands print, `findings` the document of the first."""

    terminal: str
    findings: dict[str, Any]


def example(name: str, folder: Path) -> Example:
    """Analyze a copy of a kept journal in `folder`, with the files that lie beside it, and report on it."""
    shutil.copytree(JOURNALS / name, folder / name)
    analyzed = _printed(["analyze", name, "--gate"], folder)
    findings = json.loads((folder / name / "findings.json").read_text(encoding="utf-8"))
    return Example(f"{analyzed}\n{_printed(['report', name, '--gate'], folder)}", findings)


def _printed(arguments: list[str], folder: Path) -> str:
    """The command line, all that it prints, and its exit code."""
    found = scalograph(arguments, folder)
    return f"$ scalograph {' '.join(arguments)}\n{found.printed}exit code {found.code}\n"
