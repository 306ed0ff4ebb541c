"""What a level, a parameter or a word of a command may be."""

import math
from collections.abc import Iterable

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
