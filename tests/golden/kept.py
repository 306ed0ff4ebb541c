"""Journals that stay what they are, what the command tells of them here, and the goldens that hold what it told."""

import gzip
import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.golden.command import scalograph
from tests.golden.numbers import numbers

FOLDER = Path(__file__).resolve().parent
JOURNALS = FOLDER / "journals"
NAMES = sorted(file.parent.name for file in JOURNALS.glob("*/journal.jsonl.gz"))
# A page and findings are made by a command, and git ignores them.
MADE = ("report.html", "findings.json")
# One worker analyzes what is kept, once for all files that look at it.
kept_journals = pytest.mark.xdist_group("kept journals")
# A folder for each kind of golden, with a file for each journal.
ENDINGS = {"numbers": "jsonl.gz", "findings": "json.gz", "terminal": "txt"}


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
    analyzed, reported = (scalograph([command, name, "--gate"], folder) for command in ("analyze", "report"))
    terminal = "\n".join(
        f"$ scalograph {command} {name} --gate\n{done.printed}exit code {done.code}\n"
        for command, done in (("analyze", analyzed), ("report", reported))
    )
    findings = json.loads((folder / name / "findings.json").read_text(encoding="utf-8"))
    return Example(terminal, reported.printed, findings, folder / name)


def kept_numbers(name: str) -> dict[str, Any]:
    """Return the figures by what each is of."""
    return dict(json.loads(line) for line in _read("numbers", name).splitlines())


def kept_findings(name: str) -> dict[str, Any]:
    """Return the whole document."""
    return dict(json.loads(_read("findings", name)))


def kept_terminal(name: str) -> str:
    """Return what was printed."""
    return _read("terminal", name)


def keep(kind: str, name: str, found: Example) -> None:
    """Write a golden: the terminal as it is, for its differences are to be read; of figures a line for each."""
    figures = "".join(_line(pair) for pair in numbers(found.findings).items())
    text = {"numbers": figures, "findings": _line(found.findings), "terminal": found.terminal}[kind].encode()
    # The same bytes each time: no date, no name.
    _file(kind, name).write_bytes(text if kind == "terminal" else gzip.compress(text, mtime=0))


def _file(kind: str, name: str) -> Path:
    return FOLDER / kind / f"{name}.{ENDINGS[kind]}"


def _read(kind: str, name: str) -> str:
    content = _file(kind, name).read_bytes()
    return (content if kind == "terminal" else gzip.decompress(content)).decode()


def _line(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False) + "\n"
