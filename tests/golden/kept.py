"""The goldens on the disk: one file for each kept journal and kind."""

import gzip
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.golden.examples import Example
from tests.golden.numbers import numbers

FOLDER = Path(__file__).resolve().parent


def kept_numbers(name: str) -> dict[str, Any]:
    """What a figure is of -> the figure."""
    return dict(json.loads(line) for line in _unpacked(_numbers(name)).splitlines())


def kept_findings(name: str) -> dict[str, Any]:
    """The whole document."""
    return dict(json.loads(_unpacked(_findings(name))))


def kept_terminal(name: str) -> str:
    """What is printed."""
    return _terminal(name).read_text(encoding="utf-8")


def keep_numbers(name: str, found: Example) -> None:
    """One line for each figure."""
    _pack(_numbers(name), "".join(_line(pair) for pair in numbers(found.findings).items()))


def keep_findings(name: str, found: Example) -> None:
    """In an order of keys that says nothing."""
    _pack(_findings(name), _line(found.findings))


def keep_terminal(name: str, found: Example) -> None:
    """As it is, for its differences are to be read."""
    _terminal(name).write_text(found.terminal, encoding="utf-8")


KEEP: Mapping[str, Callable[[str, Example], None]] = {
    "numbers": keep_numbers,
    "findings": keep_findings,
    "terminal": keep_terminal,
}


def _numbers(name: str) -> Path:
    return FOLDER / "numbers" / f"{name}.jsonl.gz"


def _findings(name: str) -> Path:
    return FOLDER / "findings" / f"{name}.json.gz"


def _terminal(name: str) -> Path:
    return FOLDER / "terminal" / f"{name}.txt"


def _line(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False) + "\n"


def _pack(file: Path, text: str) -> None:
    """The same bytes each time: no date, no name."""
    file.write_bytes(gzip.compress(text.encode(), mtime=0))


def _unpacked(file: Path) -> str:
    return gzip.decompress(file.read_bytes()).decode()
