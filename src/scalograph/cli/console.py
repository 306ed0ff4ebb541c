"""Terminal output: results to stdout, everything else to stderr, plain when piped.

Only color and tables need rich; it is imported for them alone, so that a plain answer is quick.
"""

import json
import sys
from codecs import getincrementaldecoder
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from scalograph.text.escape import encodable, shorten

if TYPE_CHECKING:
    from rich.console import Console

    from scalograph.errors import ScalographError

# A message with the last lines of a compiler in it fits; an argument of a megabyte is cut.
MAX_MESSAGE = 4000


def out(stderr: bool = False) -> "Console":
    """Return the console of results, or of progress and errors."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, highlight=False, soft_wrap=not stream.isatty())


def err() -> "Console":
    """Return the console of progress and errors."""
    return out(stderr=True)


def say(text: str, style: str = "") -> None:
    """Print one line to stderr, without markup or control characters."""
    _print(printable(text), style, to_stderr=True)


def tell(text: str = "", style: str = "") -> None:
    """Print one line to stdout."""
    _print(printable(text), style, to_stderr=False)


def _print(text: str, style: str, to_stderr: bool) -> None:
    if not style:
        stream = sys.stderr if to_stderr else sys.stdout
        print(encodable(text, stream.encoding or "utf-8"), file=stream)
        return
    from rich.text import Text

    out(to_stderr).print(Text(text, style=style), soft_wrap=True)  # commands in it can be copied


def emit_json(document: Any) -> None:
    sys.stdout.write(f"{json.dumps(document, indent=2, allow_nan=False)}\n")  # at once: a large one has many parts


def terminal_echo() -> Callable[[bytes], None]:
    """Return what prints the output of other programs on stderr as it comes, such as it is."""
    decoder = getincrementaldecoder("utf-8")("replace")

    def echo(data: bytes) -> None:
        sys.stderr.write(decoder.decode(data))
        sys.stderr.flush()

    return echo


def complain(error: "ScalographError") -> None:
    """Print what is wrong, and what to do about it, on a line each."""
    for problem in error.problems:
        wrong, hint = problem.error_and_hint()
        say(shorten(f"error: {wrong}", MAX_MESSAGE), "red")
        if hint:
            say(shorten(f"hint: {hint}", MAX_MESSAGE))


def printable(text: str) -> str:
    """Replace characters that could steer a terminal; line ends stay."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)
