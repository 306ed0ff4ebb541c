"""What is said on the terminal: results to stdout, everything else to stderr, plain when piped.

Only color and tables need rich; it is imported for them alone, so that a plain answer is quick.
"""

import errno
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

from scalograph.text.escape import encodable, shortened

if TYPE_CHECKING:
    from rich.console import Console

    from scalograph.errors import ScalographError

# A message with the last lines of a compiler in it fits; an argument of a megabyte is cut.
MAX_MESSAGE = 4000


def out() -> "Console":
    """For results."""
    return _console(sys.stdout, stderr=False)


def err() -> "Console":
    """For progress and complaints."""
    return _console(sys.stderr, stderr=True)


def _console(stream: TextIO, stderr: bool) -> "Console":
    from rich.console import Console

    class Ours(Console):
        def on_broken_pipe(self) -> None:
            """As where nothing is colored; rich itself would end the program."""
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    return Ours(stderr=stderr, highlight=False, soft_wrap=not stream.isatty())


@contextmanager
def maybe_unheard() -> Iterator[None]:
    """Where progress is told: that its reader has left (`2>&1 | head`) or its terminal is gone ends no study."""
    try:
        yield
    except OSError:
        silence(sys.stderr)


def silence(stream: TextIO) -> None:
    """From here on what is written there goes nowhere: the rest in its buffer would fail once more at our end."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def say(text: str, style: str = "") -> None:
    """One line to stderr; never markup, and no control character reaches the terminal."""
    with maybe_unheard():
        _print(printable(text), style, to_stderr=True)


def tell(text: str = "", style: str = "") -> None:
    """One line to stdout."""
    _print(printable(text), style, to_stderr=False)


def _print(text: str, style: str, to_stderr: bool) -> None:
    if not style:
        stream = sys.stderr if to_stderr else sys.stdout
        print(encodable(text, stream.encoding or "utf-8"), file=stream)
        return
    from rich.text import Text

    (err if to_stderr else out)().print(Text(text, style=style), soft_wrap=True)  # commands in it can be copied


def emit_json(document: Any) -> None:
    """A document for machines, alone on stdout."""
    json.dump(document, sys.stdout, indent=2, allow_nan=False)
    sys.stdout.write("\n")


def complain(error: "ScalographError") -> None:
    """Every problem on a line of its own."""
    for problem in error.problems:
        say(shortened(str(problem), MAX_MESSAGE), "red")


def printable(text: str) -> str:
    """Text without what could steer a terminal; line ends stay."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)
