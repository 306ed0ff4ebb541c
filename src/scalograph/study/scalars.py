"""Valid levels, parameters and words of a command, and their texts."""

import difflib
import math
from collections.abc import Iterable
from itertools import islice

from scalograph.errors import StudyError

Level = bool | int | float | str

# Every reader of a journal can hold signed 64-bit integers, as TOML requires.
_LARGEST = 1 << 63


def refuse(value: object) -> str | None:
    """Return what was found and expected of an invalid level; None for a valid one."""
    if not isinstance(value, bool | int | float | str):
        return f"found {short_repr(value)}, expected a number, text or a boolean"
    if isinstance(value, float) and not math.isfinite(value):
        return f"found {value}, expected a finite number"
    if isinstance(value, int) and not -_LARGEST <= value < _LARGEST:
        return "found an integer of more than 64 bits, expected a smaller one"
    return refuse_text(value) if isinstance(value, str) else None


def refuse_text(text: str) -> str | None:
    """Return what was found and expected of text with a NUL byte, which no program can be given."""
    return "found a NUL byte, expected text without one" if "\0" in text else None


def is_same_level(a: object, b: object) -> bool:
    """Return whether two levels are equal; a boolean is no number.

    >>> is_same_level(1, 1.0), is_same_level(1, True), is_same_level(1, "1")
    (True, False, False)
    """
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def format_value(value: object) -> str:
    """Return a value as a program gets it.

    >>> format_value(True), format_value(2)
    ('true', '2')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)


def short_repr(value: object) -> str:
    """Return a value's repr, shortened for a message."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def truncate(text: str, most: int = 400) -> str:
    """Return text cut to a message's length.

    >>> truncate("abcdefgh", 6)
    'abc...'
    """
    return text if len(text) <= most else f"{text[: most - 3]}..."


def list_words(words: Iterable[str], most: int = 40) -> str:
    """Return words in one line; of very many, the first and their number.

    >>> list_words(["a", "b"]), list_words("abcdef", 3)
    ('a, b', 'a, b, c, ... (6 in all)')
    """
    every = list(words)
    return ", ".join(every) if len(every) <= most else f"{', '.join(every[:most])}, ... ({len(every)} in all)"


# Names among which a mistyped one is looked for, and the length up to which it is.
MOST_NAMES, LONGEST_NAME = 256, 64


def closest_name(name: object, valid: Iterable[str]) -> str | None:
    """Return the name that was probably meant; None among very many, or for a very long one."""
    names = sorted(islice(valid, MOST_NAMES))
    return next(iter(difflib.get_close_matches(str(name)[:LONGEST_NAME], names, n=1)), None)


def suggest(name: object, valid: Iterable[str]) -> str:
    """Return `did you mean "NAME"?`, or an empty text.

    >>> suggest("thread-scalin", ["fork-join", "thread-scaling"]), suggest("xyz", ["fork-join"])
    ('did you mean "thread-scaling"?', '')
    """
    closest = closest_name(name, valid)
    return f'did you mean "{closest}"?' if closest else ""


def unknown_name_error(
    where: str, text: str, name: object, valid: Iterable[str], fix: str = "", empty: str = "none"
) -> StudyError:
    """Return the error of an unknown name; `fix` where no valid name is similar, `empty` where there is none at all."""
    names = list(valid)
    return StudyError.one(where, text, f"one of {', '.join(names) or empty}", suggest(name, names) or fix)
