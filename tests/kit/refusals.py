"""Refusals as a corpus: command lines, each with its exit code and the words of its message, in a TOML file.

    [compare]                                  # a scene: what the test that runs it puts into the folder
    files = { "odd.json" = "{}" }              # and what the file itself puts there
    "compare a" = [2, "1 source"]              # command line = [exit code, words of the message]

A test takes `rows(FILE)` as its parameters and gives each to `check`. What has no command takes `values(FILE, SCENE)`,
and `mistakes` or `refuses`:

    [study]                                    # a scene: bad texts, each with the words of its message
    rows = [
      ["runs = 3", "runs = 0", "found 0"],     # the values of the parameters of a test
    ]
"""

import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec

import pytest
from _pytest.mark import ParameterSet

from scalograph.errors import MOST_WORDS, StudyError
from tests.kit.command import in_process

P = ParamSpec("P")


class Refusal(NamedTuple):
    """A command line that is refused, in a folder with these files."""

    line: str
    code: int
    words: tuple[str, ...]
    files: dict[str, str]


def rows(file: Path, scene: str | None = None) -> list[ParameterSet]:
    """Read the refusals of a scene, or of all, as the values of a test's one parameter."""
    scenes = tomllib.loads(file.read_text(encoding="utf-8"))
    return [
        pytest.param(Refusal(line, code, tuple(words), files), id=f"{name}: {line}")
        for name, lines in scenes.items()
        if scene in (None, name)
        for files in (lines.pop("files", {}),)
        for line, (code, *words) in lines.items()
    ]


def values(file: Path, scene: str) -> list[tuple[Any, ...]]:
    """Read the rows of a scene as the values of the parameters of a test."""
    return [tuple(row) for row in tomllib.loads(file.read_text(encoding="utf-8"))[scene]["rows"]]


def check(refusal: Refusal, folder: Path) -> None:
    """Run the command line in a folder: its exit code, and one message with all words, without a traceback."""
    for name, text in refusal.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    done = in_process(*shlex.split(refusal.line), cwd=folder, env={"COLUMNS": "10000"})
    message = " ".join(done.stderr.split())
    assert [text for text in done.stderr.split("error: ")[1:] if is_wordy(text)] == [], "at most 25 words, and a hint"
    missing = [word for word in refusal.words if word not in message]
    assert (done.returncode, missing, "Traceback" in message) == (refusal.code, [], False), done.stderr or done.stdout


def is_wordy(message: str) -> bool:
    """Tell whether a message breaks the rule: what is wrong, a hint, and no more words than a person reads."""
    return "hint: " not in message or len(message.replace("hint: ", "").split()) > MOST_WORDS


def mistakes(call: Callable[..., object], *arguments: Any, **options: Any) -> list[str]:
    """Return the problems of a study or a command line that a call is refused for, in order."""
    with pytest.raises(StudyError) as refused:
        call(*arguments, **options)
    return [str(problem) for problem in refused.value.problems]


def refuses(
    error: type[Exception], message: str, call: Callable[P, object], *arguments: P.args, **options: P.kwargs
) -> None:
    """Assert that a call is refused by an error whose message holds this regular expression."""
    with pytest.raises(error, match=message):
        call(*arguments, **options)
