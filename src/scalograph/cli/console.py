"""What is said on the terminal: results to stdout, everything else to stderr, plain when piped."""

import json
import sys
from typing import Any

from rich.console import Console
from rich.text import Text

from scalograph.errors import ScalographError


def out() -> Console:
    """For results."""
    return Console(highlight=False, soft_wrap=not sys.stdout.isatty())


def err() -> Console:
    """For progress and complaints."""
    return Console(stderr=True, highlight=False, soft_wrap=not sys.stderr.isatty())


def say(text: str, style: str = "") -> None:
    """One line to stderr; never markup, and no control character reaches the terminal."""
    err().print(Text(printable(text), style=style))


def tell(text: str = "", style: str = "") -> None:
    """One line to stdout."""
    out().print(Text(printable(text), style=style))


def emit_json(document: Any) -> None:
    """A document for machines, alone on stdout."""
    json.dump(document, sys.stdout, indent=2, allow_nan=False)
    sys.stdout.write("\n")


def complain(error: ScalographError) -> None:
    """Every problem on a line of its own."""
    for problem in error.problems:
        say(str(problem), "red")


def printable(text: str) -> str:
    """Text without what could steer a terminal; line ends stay."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)
