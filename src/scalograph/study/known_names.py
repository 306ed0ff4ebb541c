"""Names that a message lists: which one was probably meant, and the error of a name that is none of them."""

import difflib
from collections.abc import Iterable
from itertools import islice

from scalograph.errors import StudyError

# Names among which a mistyped one is looked for, and the length up to which it is.
MOST_NAMES, LONGEST_NAME = 256, 64


def closest(name: object, known: Iterable[str]) -> str | None:
    """Return the known name that was probably meant; of very many names, and for a very long one, none."""
    names = sorted(islice(known, MOST_NAMES))
    return next(iter(difflib.get_close_matches(str(name)[:LONGEST_NAME], names, n=1)), None)


def meant(name: object, known: Iterable[str]) -> str:
    """Return the known name that was probably meant as a question, or an empty text.

    >>> meant("thread-scalin", ["fork-join", "thread-scaling"]), meant("xyz", ["fork-join"])
    ('did you mean "thread-scaling"?', '')
    """
    found = closest(name, known)
    return f'did you mean "{found}"?' if found else ""


def no_such(
    where: str, found: str, name: object, known: Iterable[str], fix: str = "", empty: str = "none"
) -> StudyError:
    """Return the error of a name that is none of the known ones.

    Args:
        where: the option, or the place in a file.
        found: what is said of the name.
        name: as it was written.
        known: all that would do.
        fix: what to do where none of them was meant.
        empty: what is told where there is none of them.
    """
    names = list(known)
    return StudyError.one(where, found, f"one of {', '.join(names) or empty}", meant(name, names) or fix)
