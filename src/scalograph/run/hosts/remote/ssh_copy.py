"""Copy files to another machine: no dot files of a folder that people keep, and not too much.

All is listed before anything is sent, so that a study in a home folder sends nothing of it, or says why.
"""

import os
import re
import stat
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from scalograph.errors import HostError, StudyError
from scalograph.run.hosts.remote.ssh_client import WritesBytes
from scalograph.study.processes import Template, fill, placeholders, spell
from scalograph.study.program import Process, Program
from scalograph.study.workload import ClassPath
from scalograph.text.quantities import count_noun, mebibytes

# What stands for a folder or file that was made here, beside what was fetched.
_MADE = ("build", "prepared")
# A path in a word ends where a shell's text goes on; before these, what it would be is not known here.
_PATH, _GOES_ON = re.compile(r"(?:/[\w.@%+=~-]*)*"), frozenset("*?[{$`\\")
MovePath = Callable[[str], str]


class NeededPath(NamedTuple):
    """A folder or file of this machine that the program's words lead to.

    Attributes:
        root: has another path there.
        named: what of it is copied: the root itself, or paths in it; nothing if it is only written to.
        is_made: it was made here for the program: all in it belongs to it.
    """

    root: Path
    named: tuple[Path, ...]
    is_made: bool = False


def resolve_files(program: Program) -> Program:
    """Return the program with the absolute paths of its files, which parameters of type `file` name by templates."""

    def resolve(process: Process) -> Process:
        values, paths = {**program.values, **process.values}, {}
        for name in _file_parameters(program, process):
            with suppress(StudyError):  # a level names it
                value = values.get(name, "")
                paths[name] = os.path.normpath(fill([value], values)[0] if isinstance(value, Template) else value)
        there = {name: path for name, path in paths.items() if path.startswith("/")}
        return replace(process, values={**process.values, **there})

    return replace(program, processes=tuple(map(resolve, program.processes)))


def _file_parameters(program: Program, process: Process) -> set[str]:
    every = (used.workload.parameters.items() for used in program.used if used.process == process.name)
    return {name for parameters in every for name, parameter in parameters if parameter.type == "file"}


def needed_paths(program: Program, reads: str | None, levels: Mapping[str, Sequence[str]]) -> list[NeededPath]:
    """Return what the program's words lead to: a workload's folder whole, of a study's what they name.

    `reads` is its standard input file, as the study names it, if it has one. `levels` are texts that fill names of
    factors in words.
    """
    homes = {used.home for used in program.used}
    by_root = dict[Path, dict[Path, None]]()
    built_roots = set[Path]()
    for root, path, is_made in (*_named_paths(program, levels), *_program_paths(program, reads)):
        by_root.setdefault(root, {})[root if root in homes else path] = None
        built_roots |= {root} if is_made else set()
    return [
        NeededPath(root, _outermost(root, paths), root in built_roots)
        for root, paths in by_root.items()
        if root.exists()
    ]


def move_program(program: Program, there: Mapping[Path, str]) -> Program:
    """Return the program with its paths there (`there`); what was not copied keeps its own."""
    roots = sorted(there.items(), key=lambda item: -len(item[0].parts))  # a file in a folder that is copied in part

    def move(text: str) -> str:
        for path, target in roots:
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


def _named_paths(program: Program, levels: Mapping[str, Sequence[str]]) -> Iterator[tuple[Path, Path, bool]]:
    """Yield paths that names in its words stand for: the root, what of it, whether it was made."""
    for process in program.processes or (Process(()),):
        whole = {*_MADE, *_file_parameters(program, process)}
        values = {**program.values, **process.values}
        words = [*process.argv, *(word for argv in program.steps.values() for word in argv)]
        words += [value for value in values.values() if isinstance(value, Template)]
        for field, word in placeholders(words):
            value = values.get(name := field or "")
            if isinstance(value, ClassPath):
                yield from ((Path(entry), Path(entry), True) for _, entry in value.entries)
            elif isinstance(value, str) and value.startswith("/") and name == "here":
                home = Path(value)
                rests = (rest for text in spell(word, levels) for rest in text.split("{here}")[1:])
                yield from ((home, _part(home, rest), False) for rest in rests)
            elif isinstance(value, str) and value.startswith("/") and (name in whole or name.startswith("fetched.")):
                yield Path(value), Path(value), True


def _program_paths(program: Program, reads: str | None) -> Iterator[tuple[Path, Path, bool]]:
    """Yield the programs in the program's folder, as `_named_paths` does, and the input file."""
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
    """Return those that exist, without those below another one."""
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


MOST_BYTES, MOST_FILES = 256 << 20, 100_000
# Of a folder that people keep: results, which others may have sent, are read here.
_RESULTS = "scalograph-results"
_LESS = "name in the command only what a run reads there: {here}/FILE"
_SHOWN = 8


class FileList(NamedTuple):
    """What is sent: each file, link and folder by its name there; a folder without its content."""

    files: dict[str, Path]
    n_bytes: int

    def describe(self, needed: Sequence[NeededPath]) -> str:
        """Return a description of what is sent, and its size, of the paths that were listed."""
        names = [path.name for item in needed for path in item.named]
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        size = mebibytes(self.n_bytes) if self.n_bytes >= 1 << 20 else count_noun(self.n_bytes, "byte")
        n_files = sum(path.is_symlink() or not path.is_dir() for path in self.files.values())
        return f"{', '.join(names[:_SHOWN])}{more} ({count_noun(n_files, 'file')}, {size})"


def list_files(needed: Sequence[NeededPath], names: Mapping[Path, str]) -> FileList:
    """List what is sent, with `names` there of each root; a link that a study names is what it leads to.

    Raises HostError: it is more than `MOST_BYTES` or `MOST_FILES`, or cannot be read.
    """
    files, n_bytes = dict[str, Path](), 0
    for item in needed:
        if item.root.is_dir():
            files[names[item.root]] = item.root.resolve()
        for path in item.named:
            for below, entry, size in _walk(path.resolve(), item.is_made):
                files[str(PurePath(names[item.root], path.relative_to(item.root), below))] = entry
                n_bytes += size
                _refuse_excess(path, len(files), n_bytes)
    return FileList(files, n_bytes)


def write_archive(files: Mapping[str, Path], stream: WritesBytes) -> None:
    """Write files, links and folders as a tar archive, owned by whoever unpacks it.

    Raises HostError: one cannot be read; BrokenPipeError: nobody reads the stream.
    """
    with tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as archive:  # type: ignore[call-overload]
        for name, path in files.items():
            try:
                archive.add(path, name, recursive=False, filter=_disown)
            except BrokenPipeError:
                raise
            except OSError as error:
                raise _unreadable(error, path) from None


def _walk(top: Path, is_made: bool) -> Iterator[tuple[PurePath, Path, int]]:
    """Yield a path and all below it, links not followed: its path in the top, itself, its size in bytes."""
    try:
        yield PurePath(), top, _size(top)
        for folder, folders, files in os.walk(top, onerror=_raise) if top.is_dir() else ():
            folders[:] = [name for name in folders if is_made or _is_shown(name)]
            for path in (Path(folder, name) for name in (*folders, *files) if is_made or _is_shown(name)):
                if stat.S_IFMT(path.lstat().st_mode) in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK):
                    yield path.relative_to(top), path, _size(path)
    except OSError as error:
        raise _unreadable(error, top) from None


def _is_shown(name: str) -> bool:
    return not name.startswith(".") and name != _RESULTS


def _size(path: Path) -> int:
    status = path.lstat()
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def _raise(error: OSError) -> None:
    raise error


def _unreadable(error: OSError, path: Path) -> HostError:
    where, reason = str(error.filename or path), error.strerror or str(error)
    return HostError(where, f"cannot be copied: {reason}", "a file that can be read and stays as it is", _LESS)


def _refuse_excess(path: Path, n_files: int, n_bytes: int) -> None:
    if n_bytes > MOST_BYTES or n_files > MOST_FILES:
        size = mebibytes(MOST_BYTES)
        problem = f"more than {size} to copy" if n_bytes > MOST_BYTES else f"more than {MOST_FILES} files to copy"
        raise HostError(str(path), problem, f"at most {size} and {count_noun(MOST_FILES, 'file')} in all", _LESS)


def _disown(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member
