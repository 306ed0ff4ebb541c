"""The published file of a study: where it is, and its rows."""

import csv
import math
from collections.abc import Mapping
from pathlib import Path

from scalograph.errors import StudyError
from scalograph.protocol.bounded import read_csv
from scalograph.protocol.plain import Level
from scalograph.study.check_published import MAX_BYTES
from scalograph.study.model import Published
from scalograph.study.shipped import inside

MAX_ROWS = 10_000

PublishedRow = Mapping[str, str | None]


def locate(published: Published, folder: Path) -> Path:
    """Where the study says, else beside the journal under its own name, where a run puts its copy.

    Raises:
        StudyError: it leads outside the study's folder.
    """
    file = inside(folder, published.file, "published.file")
    beside = inside(folder, Path(published.file).name, "published.file")
    return file if file.is_file() or not beside.is_file() else beside


def read_rows(published: Published, file: Path) -> tuple[list[str], list[PublishedRow]]:
    """Names of the columns, and the rows of the published file; a cell that a short row lacks is None.

    Raises:
        StudyError: the file is missing or unreadable, or lacks a named column.
    """
    try:
        reader = read_csv(file, MAX_BYTES)
        found = [row for row, _ in zip(reader, range(MAX_ROWS), strict=False)]
        names = list(reader.fieldnames or ())
    except (OSError, ValueError, csv.Error) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise StudyError.one("published.file", f"{published.file} cannot be read: {why}", "a CSV file") from error
    named = [*published.match, *published.values, *(end for ends in published.ranges.values() for end in ends)]
    if missing := [column for column in named if column not in names]:
        raise StudyError.one(
            "published", f"no column {', '.join(missing)} in {published.file}", f"one of {', '.join(names)}"
        )
    return names, [{name: row.get(name) for name in names} for row in found]


def level(published: Published, column: str, text: str | None) -> Level | None:
    """The level that a published text stands for; None where the cell is missing."""
    if text is None or text in published.levels.get(column, {}):
        return None if text is None else published.levels[column][text]
    try:
        return int(text)
    except ValueError:
        found = number(text)
        return text if found is None else found


def number(text: str | None) -> float | None:
    """The finite number that a cell holds, or None."""
    try:
        found = float(text or "")
    except ValueError:
        return None
    return found if math.isfinite(found) else None
