"""Journals that stay what they are, as the command tells them in this process; the examples of studies may change."""

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.golden.command import scalograph

JOURNALS = Path(__file__).resolve().parent / "journals"
NAMES = sorted(file.parent.name for file in JOURNALS.glob("*/journal.jsonl.gz"))
# A page and findings are made by a command, and git ignores them.
MADE = ("report.html", "findings.json")
# One worker analyzes what is kept, once for all files that look at it.
kept_journals = pytest.mark.xdist_group("kept journals")


class Example(NamedTuple):
    """What came of kept results.

    `terminal` is what analyze and report print, `answer` what the latter prints alone, `findings` the document of the
    former, and `folder` a copy of the results with all that both have made.
    """

    terminal: str
    answer: str
    findings: dict[str, Any]
    folder: Path


def example(results: Path, name: str, folder: Path) -> Example:
    """Analyze a copy of kept results in `folder`, under this name, and report on it."""
    shutil.copytree(results, folder / name, ignore=shutil.ignore_patterns(*MADE))
    analyzed, reported = (_printed([command, name, "--gate"], folder) for command in ("analyze", "report"))
    findings = json.loads((folder / name / "findings.json").read_text(encoding="utf-8"))
    terminal = "\n".join(f"{command}{printed}{code}" for command, printed, code in (analyzed, reported))
    return Example(terminal, reported[1], findings, folder / name)


def _printed(arguments: list[str], folder: Path) -> tuple[str, str, str]:
    """The command line, all that it prints, and its exit code."""
    found = scalograph(arguments, folder)
    return f"$ scalograph {' '.join(arguments)}\n", found.printed, f"exit code {found.code}\n"
