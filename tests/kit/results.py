"""A command that ends well, and what a folder of results then holds."""

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.kit.command import in_process

# Where a machine is busy, runs are excluded and the code is 5.
COMPLETE = (0, 5)


def complete(*arguments: object, codes: tuple[int, ...] = COMPLETE, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run `scalograph ARGUMENTS` here and see that it ends with one of these codes; `more` as for `in_process`."""
    done = in_process(*arguments, **more)
    assert done.returncode in codes, done.stderr
    return done


def events_in(folder: Path, kind: str | None = None) -> list[dict[str, Any]]:
    """Return the events of a journal, or those of one kind; a torn last line is none."""
    text = (folder / "journal.jsonl").read_text()
    events = map(json.loads, text[: text.rfind("\n") + 1].splitlines())
    return [event for event in events if kind in (None, event["event"])]


def run_names_in(folder: Path) -> list[str]:
    """Return the names of the runs of a journal, in order."""
    return [event["run"] for event in events_in(folder, "run")]


def records_in(folder: Path) -> list[dict[str, Any]]:
    """Return the records of the runs of a journal, in order."""
    return [event["record"] for event in events_in(folder, "run")]


def findings_in(folder: Path) -> dict[str, Any]:
    """Return the findings of a folder of results."""
    return dict(json.loads((folder / "findings.json").read_text()))
