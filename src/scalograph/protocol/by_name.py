"""What a row of a table names as "module:name", imported when it is asked for.

A table holds strings, so that a lower floor can read its rows. What it names is imported by the room that it lies in,
or by one above it: a test of the imports reads the strings too.
"""

from importlib import import_module
from typing import Any


def imported(place: str) -> Any:
    """Import what stands at a place.

    Args:
        place: "module:name", as our own tables write it; never what a user wrote.

    Raises:
        ModuleNotFoundError: there is no such module.
        AttributeError: it has no such name.

    >>> imported("math:floor")(2.5)
    2
    """
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
