"""Folders that are made for a while and gone afterwards: what a run or a recording leaves there is nobody's."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scalograph.errors import HostError


@contextmanager
def scratch(purpose: str) -> Iterator[Path]:
    """Make a fresh folder, and remove it with all that is in it.

    Args:
        purpose: a word for its name.

    Raises:
        HostError: there is no room.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix=f"scalograph-{purpose}-"))
    except OSError as error:
        raise HostError("scratch folder", f"cannot be made: {error.strerror}", "room in TMPDIR", "free some") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
