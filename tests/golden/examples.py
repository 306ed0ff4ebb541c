"""The kept journals, as the command tells them in this process."""

import io
import json
import os
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from scalograph.cli.main import main

STUDIES = Path(__file__).resolve().parents[2] / "studies"
NAMES = sorted(file.parents[1].name for file in STUDIES.glob("*/example/journal.jsonl.gz"))
COLUMNS = "80"
# What makes a terminal of a stream that is none.
_COLORS = ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")


class Example(NamedTuple):
    """What came of a kept journal: `terminal` is what both commands print, `findings` the document of the first."""

    terminal: str
    findings: dict[str, Any]


def example(name: str, folder: Path) -> Example:
    """Analyze a copy of a kept journal in `folder`, with the files that lie beside it, and report on it."""
    shutil.copytree(STUDIES / name / "example", folder / name, ignore=shutil.ignore_patterns("report.html"))
    analyzed = _printed(["analyze", name, "--gate"], folder)
    findings = json.loads((folder / name / "findings.json").read_text(encoding="utf-8"))
    return Example(f"{analyzed}\n{_printed(['report', name, '--gate'], folder)}", findings)


def _printed(arguments: list[str], folder: Path) -> str:
    """The command line, all that it prints, and its exit code."""
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed), redirect_stderr(printed):
        patch.chdir(folder)  # so that no path of this machine is printed
        patch.setattr(sys, "argv", ["scalograph", *arguments])
        patch.setitem(os.environ, "COLUMNS", COLUMNS)
        for variable in _COLORS:
            patch.delenv(variable, raising=False)
        with pytest.raises(SystemExit) as ended:
            main()
    printed.seek(0)
    return f"$ scalograph {' '.join(arguments)}\n{printed.read()}exit code {int(ended.value.code or 0)}\n"
