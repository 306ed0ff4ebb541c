"""What the command line offers: its commands, and the options of each."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from scalograph.cli.app import app


def parameters(command: Any) -> Iterator[str]:
    for parameter in command.params:
        yield from parameter.opts


@cache
def known(name: str) -> frozenset[str]:
    """Options of a command, and of those below it."""
    context = app.make_context("scalograph", ["--help"], resilient_parsing=True)
    command = app.get_command(context, name)
    if hasattr(command, "list_commands"):
        below = [command.get_command(context, one) for one in command.list_commands(context)]
        return frozenset(opt for one in below for opt in parameters(one))
    return frozenset(parameters(command))
