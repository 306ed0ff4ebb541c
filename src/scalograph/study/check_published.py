"""Check the file of published values before the first run: an analysis would only ignore it."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scalograph.errors import StudyError
from scalograph.protocol.bounded import read_csv
from scalograph.protocol.results import RESERVED
from scalograph.study.cross_checks import Mistake, table
from scalograph.study.scalars import refuse_text, suggest
from scalograph.study.shipped import inside
from scalograph.study.toml_lines import KeyPath

WHERE = ("published", "file")
EXPECTED = "a file inside the study's folder"
MAX_BYTES = 16 << 20


def check_published_file(raw: dict[str, Any], folder: Path) -> Iterator[Mistake]:
    """Check name, place and columns of the published file that a study names.

    Args:
        raw: the document of study.toml, valid or not.
        folder: of the study.
    """
    published = table(raw, "published")
    name = published.get("file")
    if not isinstance(name, str) or refuse_text(name):
        return  # reported already
    try:
        file = inside(folder, name, "published.file", EXPECTED)
    except StudyError as error:
        yield from ((WHERE, problem.found, problem.expected, problem.fix) for problem in error.problems)
        return
    if Path(name).name in RESERVED:
        yield WHERE, f'"{name}"', "a name that no file of the results has", "rename it"
    elif not file.is_file():
        yield WHERE, f'no file "{name}"', EXPECTED, "correct the name or add the file"
    else:
        yield from _columns(published, file, name)


def _columns(published: dict[str, Any], file: Path, name: str) -> Iterator[Mistake]:
    try:
        columns = list(read_csv(file, MAX_BYTES).fieldnames or ())
    except (OSError, ValueError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        yield WHERE, f"{name} cannot be read: {reason}", "a CSV file in UTF-8", ""
        return
    expected = "one of " + (", ".join(columns)[:300] or "none: the file is empty")
    for path, column in _column_references(published):
        if column not in columns:
            yield path, f'no column "{column}" in {name}', expected, suggest(column, columns)


def _column_references(published: dict[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    """Yield columns that the study names, with their paths."""
    for key in ("match", "values", "ranges"):
        yield from ((("published", key, column), column) for column in table(published, key))
    for column, ends in table(published, "ranges").items():
        names = ends if isinstance(ends, list) else []
        yield from ((("published", "ranges", column), end) for end in names if isinstance(end, str))
    unlike = published.get("unlike")
    for index, rows in enumerate(unlike if isinstance(unlike, list) else []):
        where = table(rows, "where") if isinstance(rows, dict) else {}
        yield from ((("published", "unlike", index, "where", column), column) for column in where)
