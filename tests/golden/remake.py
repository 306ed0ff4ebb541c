"""Make goldens anew: `python -m tests.golden.remake KIND ...`.

Kinds are numbers, findings and terminal, of the kept journals, and answers and inventory.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.golden import answers, inventory
from tests.golden.kept import ENDINGS, FOLDER, JOURNALS, NAMES, example, keep


def remake(kinds: list[str]) -> None:
    """Write the goldens of these kinds, of all kept journals."""
    for kind in kinds:
        (FOLDER / kind).mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        for name in NAMES:
            found = example(JOURNALS / name, name, Path(folder))
            for kind in kinds:
                keep(kind, name, found)


def remake_answers() -> None:
    """Write what the commands of `answers.COMMANDS` print."""
    for name in answers.COMMANDS:
        with TemporaryDirectory() as folder:
            answers.keep(name, answers.answer(name, Path(folder)))


def remake_inventory() -> None:
    """Write what a user can name."""
    with TemporaryDirectory() as folder:
        inventory.keep_entries(inventory.inventory(Path(folder)))


OTHERS = {"answers": remake_answers, "inventory": remake_inventory}

if __name__ == "__main__":
    wanted = sys.argv[1:]
    if not wanted or not set(wanted) <= {*ENDINGS, *OTHERS}:
        sys.exit(f"found {wanted}, expected one or more of {', '.join([*ENDINGS, *OTHERS])}")
    for other in filter(OTHERS.__contains__, wanted):
        OTHERS[other]()
    if kinds := [kind for kind in wanted if kind in ENDINGS]:
        remake(kinds)
