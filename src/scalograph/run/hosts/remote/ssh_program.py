"""A program that was made ready here, as another machine has it: what it needs there, by which paths."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from scalograph.study.build_plan import ClassPath
from scalograph.study.processes import Template, placeholders
from scalograph.study.program import Process, Program

# What stands for a folder or file that was made here, beside what was fetched.
_MADE = ("build", "prepared")
# A path in a word ends where a shell's text goes on; before these, what it would be is not known here.
_PATH, _GOES_ON = re.compile(r"(?:/[\w.@%+=~-]*)*"), frozenset("*?[{$`\\")
MovePath = Callable[[str], str]


class NeededPath(NamedTuple):
    """A folder or file of this machine that the program's words lead to.

    Attributes:
        root: which they have another path for, there.
        named: what of it is copied: the root itself, or paths in it; nothing if it is only written to.
        is_made: whether it was made here for the program: all in it belongs to it.
    """

    root: Path
    named: tuple[Path, ...]
    is_made: bool = False


def needed_paths(program: Program, reads: str | None) -> list[NeededPath]:
    """Return what the program's words lead to. A workload's folder is needed whole, of a study's what they name.

    Args:
        program: ready to start here.
        reads: the file that it reads as standard input, as the study names it, if it reads one.
    """
    homes = {used.home for used in program.used}
    by_root = dict[Path, dict[Path, None]]()
    built_roots = set[Path]()
    for root, path, is_made in (*_named_paths(program), *_program_paths(program, reads)):
        by_root.setdefault(root, {})[root if root in homes else path] = None
        built_roots |= {root} if is_made else set()
    return [
        NeededPath(root, _outermost(root, paths), root in built_roots)
        for root, paths in by_root.items()
        if root.exists()
    ]


def move_program(program: Program, there: Mapping[Path, str]) -> Program:
    """Return the program with the paths that it has there; what was not copied keeps its own.

    Args:
        program: ready to start here.
        there: path of each folder or file that was copied.
    """

    def move(text: str) -> str:
        for path, target in there.items():
            if text == str(path) or text.startswith(f"{path}/"):
                return target + text.removeprefix(str(path))
        return text

    def first(argv: Sequence[str]) -> tuple[str, ...]:
        return (*map(move, argv[:1]), *argv[1:])

    processes = tuple(
        replace(process, argv=first(process.argv), values=_values(process.values, move))
        for process in program.processes
    )
    steps = {name: first(argv) for name, argv in program.steps.items()}
    here = Path(move(str(program.here)))
    return replace(program, processes=processes, steps=steps, here=here, values=_values(program.values, move))


def _named_paths(program: Program) -> Iterator[tuple[Path, Path, bool]]:
    """Yield what the names in its words stand for, if that is a path: its root, what of it, whether it was made."""
    for process in program.processes or (Process(()),):
        values = {**program.values, **process.values}
        words = [*process.argv, *(word for argv in program.steps.values() for word in argv)]
        words += [value for value in values.values() if isinstance(value, Template)]
        for field, word in placeholders(words):
            value = values.get(name := field or "")
            if isinstance(value, ClassPath):
                yield from ((Path(entry), Path(entry), True) for _, entry in value.entries)
            elif isinstance(value, str) and value.startswith("/") and name == "here":
                home = Path(value)
                yield from ((home, _part(home, rest), False) for rest in word.split("{here}")[1:])
            elif isinstance(value, str) and value.startswith("/") and (name in _MADE or name.startswith("fetched.")):
                yield Path(value), Path(value), True


def _program_paths(program: Program, reads: str | None) -> Iterator[tuple[Path, Path, bool]]:
    """Yield the programs that lie in the program's folder, as `_named` does, and the file that is read."""
    here = program.here
    for word in (
        argv[0] for argv in (*(process.argv for process in program.processes), *program.steps.values()) if argv
    ):
        if word.startswith(f"{here}/"):
            yield here, _part(here, word.removeprefix(str(here))), False
    if reads is not None:
        yield here, here / reads, False


def _part(home: Path, rest: str) -> Path:
    """Return what of a folder is named by the text after it, as far as that is known; the folder itself if it is not.

    >>> str(_part(Path("/none"), "/data/x 2>&1")), str(_part(Path("/none"), "/data/{n}.txt"))
    ('/none/data/x', '/none/data')
    """
    whole = home / rest.strip("/")
    if os.path.exists(whole):  # noqa: PTH110  no error for an over-long name
        return whole
    path = _PATH.match(rest)[0]  # type: ignore[index]
    if rest[len(path) :][:1] in _GOES_ON:
        path = path.rpartition("/")[0]
    return home / path.strip("/")


def _outermost(root: Path, paths: Mapping[Path, None]) -> tuple[Path, ...]:
    """Return those that are there, and in no other one."""
    inside = (path for path in paths if ".." not in path.relative_to(root).parts)
    there = [path for path in inside if os.path.exists(path)]  # noqa: PTH110
    return tuple(path for path in there if not any(other in path.parents for other in there))


def _values(values: Mapping[str, Any], move: MovePath) -> dict[str, Any]:
    return {name: _value(name, value, move) for name, value in values.items()}


def _value(name: str, value: Any, move: MovePath) -> Any:
    if isinstance(value, ClassPath):
        return ClassPath(tuple((when, move(entry)) for when, entry in value.entries))
    if name == "python":
        return "python3"
    return move(value) if isinstance(value, str) and not isinstance(value, Template) else value
