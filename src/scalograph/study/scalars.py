"""What a level, a parameter or a word of a command may be."""

import difflib
import math
from collections.abc import Iterable
from itertools import islice

from scalograph.errors import StudyError

Level = bool | int | float | str

# Every reader of a journal can hold signed 64-bit integers, as TOML requires.
_LARGEST = 1 << 63


def refuse(value: object) -> str | None:
    """Return what was found and expected for a value that cannot be a level; None for a valid one."""
    if not isinstance(value, bool | int | float | str):
        return f"found {short(value)}, expected a number, text or a boolean"
    if isinstance(value, float) and not math.isfinite(value):
        return f"found {value}, expected a finite number"
    if isinstance(value, int) and not -_LARGEST <= value < _LARGEST:
        return "found an integer of more than 64 bits, expected a smaller one"
    return refuse_text(value) if isinstance(value, str) else None


def refuse_text(text: str) -> str | None:
    """Return what was found and expected for a text with a NUL byte, which no program can be given; None otherwise."""
    return "found a NUL byte, expected text without one" if "\0" in text else None


def alike(a: object, b: object) -> bool:
    """Tell whether two levels are equal: by value, but a boolean is no number.

    >>> alike(1, 1.0), alike(1, True), alike(1, "1")
    (True, False, False)
    """
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def as_text(value: object) -> str:
    """Return a value as a program gets it.

    >>> as_text(True), as_text(2)
    ('true', '2')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)


def short(value: object) -> str:
    """Return a value shortened for a message."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def brief(text: str, most: int = 400) -> str:
    """Return a text for a message, its end left out if it is long.

    >>> brief("abcdefgh", 6)
    'abc...'
    """
    return text if len(text) <= most else f"{text[: most - 3]}..."


def enumerated(words: Iterable[str], most: int = 40) -> str:
    """Return words in one line; of very many, the first and how many there are.

    >>> enumerated(["a", "b"]), enumerated("abcdef", 3)
    ('a, b', 'a, b, c, ... (6 in all)')
    """
    every = list(words)
    return ", ".join(every) if len(every) <= most else f"{', '.join(every[:most])}, ... ({len(every)} in all)"


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
