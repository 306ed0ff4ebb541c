"""Locate a value in a program's output: the first group of a pattern, or a JSON pointer."""

import re
from functools import lru_cache
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

MAX_TEXT = 1000
# Of a compiled pattern: one that repeats a thousand times what repeats takes more, and seconds.
MAX_MEMORY_BYTES = 1 << 20
_POINTER = re.compile(r"(/([^~/]|~[01])*)+")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,55}")


def printed_name(name: str) -> str:
    """Return the name under which a run saves this response's printed value.

    >>> printed_name("ops")
    'output_ops'
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f'found "{name}" with from = "output", expected a name of letters, digits and _, at most 56')
    return f"output_{name}"


@lru_cache(maxsize=64)
def engine(pattern: str) -> "re.Pattern[str]":
    """Compile the pattern: linear in the length of the text (RE2), `^` and `$` match at every line.

    Raises:
        ValueError: it is no pattern, or its number of groups is not one.
    """
    import re2  # imported here: only studies that read output need it

    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_MEMORY_BYTES
    try:
        compiled: re.Pattern[str] = re2.compile(f"(?m){pattern}", options)
    except re2.error as error:
        reason = error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else str(error)
        reason = reason.replace("(?m)", "")
        raise ValueError(f'found pattern "{pattern}" ({reason}), expected one that RE2 reads') from error
    if compiled.groups != 1:
        raise ValueError(f'found pattern "{pattern}" with {compiled.groups} groups, expected one: (...) is the figure')
    return compiled


def _pattern(text: str) -> str:
    engine(text)
    return text


def _pointer(text: str) -> str:
    if not _POINTER.fullmatch(text):
        raise ValueError(f'found pointer "{text}", expected a JSON pointer such as "/jobs/0/iops" (RFC 6901)')
    return text


Pattern = Annotated[str, StringConstraints(max_length=MAX_TEXT), AfterValidator(_pattern)]
Pointer = Annotated[str, StringConstraints(max_length=MAX_TEXT), AfterValidator(_pointer)]
