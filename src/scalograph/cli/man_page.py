"""Write the manual page from the commands' own help texts."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from scalograph import __version__
from scalograph.text.escape import one_line

_EXITS = {
    "0": "done", "1": "a bug", "2": "the study or the command line is wrong", "3": "the host refused",
    "4": "a configuration without a successful run",
    "5": "no answer, or with --strict fewer clean runs than requested",
    "6": "a journal that cannot be read", "7": "slower", "8": "inconclusive",
    "130, 143": "interrupted by Ctrl-C, or by SIGTERM or a closed terminal",
}  # fmt: skip


def man_page(app: Any, summaries: Mapping[str, str]) -> str:
    """Return the manual page in roff: `scalograph --man | man -l -`."""
    context = app.make_context("scalograph", ["--help"], resilient_parsing=True)
    return "\n".join([*_head(), *_commands(app, context, summaries), *_end()]) + "\n"


def _head() -> Iterator[str]:
    yield f'.TH SCALOGRAPH 1 "" "scalograph {__version__}" "User Commands"'
    yield from (".SH NAME", "scalograph \\- a scalability lab for Linux", ".SH SYNOPSIS")
    yield from (".B scalograph", ".I COMMAND", "[OPTIONS] [ARGUMENTS]", ".SH DESCRIPTION")
    yield roff(
        "Measure how a program scales with CPUs, threads, processes, or JVMs, with a confidence interval for every"
    )
    yield roff("value and a verdict on whether to rely on it.")
    yield ".SH COMMANDS"


def _commands(app: Any, context: Any, summaries: Mapping[str, str]) -> Iterator[str]:
    for name, summary in summaries.items():
        yield from (f'.SS "scalograph {name}"', roff(summary))
        command = app.get_command(context, name)
        if not hasattr(command, "list_commands"):
            yield from _parameters(command)
            continue
        for called in command.list_commands(context):
            yield from (".PP", f".B scalograph {name} {roff(called)}")
            yield from _parameters(command.get_command(context, called))


def _parameters(command: Any) -> Iterator[str]:
    for parameter in command.params:
        if parameter.name == "help":
            continue
        is_option = parameter.param_type_name == "option"
        names = ", ".join(parameter.opts) if is_option else (parameter.metavar or parameter.name.upper())
        yield from (".TP", f".B {roff(names)}", roff(getattr(parameter, "help", None) or ""))


def _end() -> Iterator[str]:
    yield ".SH EXIT STATUS"
    for code, meaning in _EXITS.items():
        yield from (".TP", f".B {code}", roff(meaning))
    yield from (".SH FILES", ".TP", ".I scalograph\\-results/NAME/latest", "latest results of a study")


def roff(text: str) -> str:
    r"""Return text as one line of roff.

    >>> print(roff(".a -b \\c"))
    \&.a \-b \\c
    """
    plain = one_line(text).replace("\\", "\\\\").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", r"\\&", plain)
