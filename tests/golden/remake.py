"""Make goldens anew: `python -m tests.golden.remake KIND ...`, of the kinds numbers, findings and terminal."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from .examples import JOURNALS, NAMES, example
from .kept import FOLDER, KEEP


def remake(kinds: list[str]) -> None:
    """Write the goldens of these kinds, of all kept journals."""
    for kind in kinds:
        (FOLDER / kind).mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        for name in NAMES:
            found = example(JOURNALS / name, name, Path(folder))
            for kind in kinds:
                KEEP[kind](name, found)


if __name__ == "__main__":
    if not sys.argv[1:] or not set(sys.argv[1:]) <= set(KEEP):
        sys.exit(f"found {sys.argv[1:]}, expected one or more of {', '.join(KEEP)}")
    remake(sys.argv[1:])
