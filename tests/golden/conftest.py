"""Kept results are analyzed and reported once by whoever looks at them, examples of studies that are the same too."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.golden.kept import MADE, Example, example

Told = Callable[[Path, str], Example]


@pytest.fixture(scope="session")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """What came of the results in a folder, under a name."""
    made: dict[tuple[object, ...], Example] = {}

    def of(results: Path, name: str) -> Example:
        files = (file for file in sorted(results.iterdir()) if file.name not in MADE)
        content = name, *((file.name, file.read_bytes()) for file in files)
        if content not in made:
            made[content] = example(results, name, tmp_path_factory.mktemp("kept"))
        return made[content]

    return of
