"""A program that was made ready here, as another machine has it: which folders it needs there, by which paths."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from scalograph.study.build_plan import ClassPath
from scalograph.study.program import Process, Program
from scalograph.study.template import Template, places

# Names of folders and files of this machine that templates may hold, beside those of what was fetched.
_PATHS = ("here", "build", "prepared")
Moved = Callable[[str], str]


def needed_there(program: Program, reads: str | None) -> list[Path]:
    """Return the folders and files of this machine that the program's words lead to, each once.

    Args:
        program: ready to start here.
        reads: the file that it reads as standard input, if it reads one.
    """
    found = [Path(path) for path in _named(program)]
    started = [argv[0] for argv in (*(one.argv for one in program.processes), *program.steps.values()) if argv]
    if any(word.startswith(f"{program.here}/") for word in [*started, reads or ""]):
        found.append(program.here)
    return [path for path in dict.fromkeys(found) if path.exists()]


def moved(program: Program, there: Mapping[Path, str]) -> Program:
    """Return the program with the paths that it has there; what was not copied keeps its own.

    Args:
        program: ready to start here.
        there: path of each folder or file that was copied.
    """

    def move(text: str) -> str:
        for path, place in there.items():
            if text == str(path) or text.startswith(f"{path}/"):
                return place + text.removeprefix(str(path))
        return text

    def first(argv: Sequence[str]) -> tuple[str, ...]:
        return (*map(move, argv[:1]), *argv[1:])

    processes = tuple(replace(one, argv=first(one.argv), values=_values(one.values, move)) for one in program.processes)
    steps = {name: first(argv) for name, argv in program.steps.items()}
    here = Path(move(str(program.here)))
    return replace(program, processes=processes, steps=steps, here=here, values=_values(program.values, move))


def _named(program: Program) -> Iterator[str]:
    """Yield what the names in its words stand for, if that is a path."""
    for process in program.processes or (Process(()),):
        values = {**program.values, **process.values}
        words = [*process.argv, *(word for argv in program.steps.values() for word in argv)]
        words += [value for value in values.values() if isinstance(value, Template)]
        for name in dict.fromkeys(name for name, _ in places(words) if name):
            value = values.get(name)
            if isinstance(value, ClassPath):
                yield from (entry for _, entry in value.entries)
            elif name in _PATHS or name.startswith("fetched."):
                yield from (text for text in (value,) if isinstance(text, str) and text.startswith("/"))


def _values(values: Mapping[str, Any], move: Moved) -> dict[str, Any]:
    return {name: _value(name, value, move) for name, value in values.items()}


def _value(name: str, value: Any, move: Moved) -> Any:
    if isinstance(value, ClassPath):
        return ClassPath(tuple((when, move(entry)) for when, entry in value.entries))
    if name == "python":
        return "python3"
    return move(value) if isinstance(value, str) and not isinstance(value, Template) else value
