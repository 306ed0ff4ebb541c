"""A command line's texts as argvs: no shell unless it was asked for."""

import shlex
from collections.abc import Iterable, Sequence
from typing import TypeVar

from scalograph.cli.adhoc.command_study import Printed, read_response, read_variable
from scalograph.errors import StudyError

T = TypeVar("T")


def argv(words: Sequence[str], shell: bool) -> tuple[str, ...]:
    """The argv of the command.

    Raises:
        StudyError: none, or several words for a shell.
    """
    if not shell:
        return tuple(words)
    if len(words) != 1:
        raise StudyError.one("--shell", f"{len(words)} words", "one text", "quote it: --shell -- 'a | b'")
    return ("sh", "-c", words[0])


def split(option: str, text: str, shell: bool) -> tuple[str, ...]:
    """The argv of a step: divided at blanks and by quotes, as a shell would, but nothing is expanded.

    Raises:
        StudyError: no word, or a quote that does not end.
    """
    if shell:
        return ("sh", "-c", text)
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise StudyError.one(option, f"{text[:60]!r}: {error}", "words, quoted as for a shell") from error
    if not words:
        raise StudyError.one(option, "no word", "a command")
    return words


def steps(shell: bool, **texts: str | None) -> dict[str, tuple[str, ...]]:
    """The argv of each step that was given, by its name.

    Raises:
        StudyError: as `split`.
    """
    return {step: split(f"--{step}", text, shell) for step, text in texts.items() if text}


def responses(texts: Iterable[str] | None) -> tuple[Printed, ...]:
    """What `--response` asks to be read from the output.

    Raises:
        StudyError: another form, or a name twice.
    """
    return tuple(unique("--response", [(r.name, r) for r in map(read_response, texts or ())]).values())


def variables(texts: Iterable[str] | None) -> dict[str, str]:
    """What `--env` adds to the environment.

    Raises:
        StudyError: another form.
    """
    return dict(map(read_variable, texts or ()))


def unique(option: str, pairs: Iterable[tuple[str, T]]) -> dict[str, T]:
    """A table of what was given by name.

    Raises:
        StudyError: a name was given twice.
    """
    found: dict[str, T] = {}
    for name, value in pairs:
        if name in found:
            raise StudyError.one(option, f'"{name}" twice', "each name once")
        found[name] = value
    return found
