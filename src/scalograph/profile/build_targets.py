"""Name what each process of a build works on: its directory, and the file that its command line has."""

import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path, PurePath

from scalograph.profile.perf_trace import Frame, Frames, Trace

MODULE = "[build]"
_PERIOD_S, _MAX_BYTES, _MAX_PROCESSES = 0.02, 1 << 16, 50_000
_READS = 3  # of a process: after a fork it has its parent's command line, until it calls exec
_FEWEST = 3  # files: fewer are no build
_SOURCES = re.compile(
    r".+\.(c|cc|cpp|cxx|c\+\+|m|mm|f|f90|f95|s|S|rs|go|java|kt|scala|swift|d|hs|ml|zig|cu|proto|y|l|ts|tex)"
)
_MOST_FRAMES = 16
_BETWEEN = "/tmp/cc"  # noqa: S108 - files between the steps of a compiler

Command = tuple[str, tuple[str, ...]]  # working directory, words


@contextmanager
def watch_commands(proc: Path = Path("/proc")) -> Iterator[dict[int, Command]]:
    """Collect working directory and words of each process that lives for 20 ms or so meanwhile, by process id."""
    commands: dict[int, Command] = {}
    done = threading.Event()
    reads = {process.name: _READS for process in proc.iterdir()}  # what runs already is no part of the run
    thread = threading.Thread(target=_watch, args=(proc, reads, commands, done), daemon=True)
    thread.start()
    try:
        yield commands
    finally:
        done.set()
        thread.join()


def _watch(proc: Path, reads: dict[str, int], commands: dict[int, Command], done: threading.Event) -> None:
    while not done.wait(_PERIOD_S):
        for process in proc.iterdir():
            name = process.name
            if not name.isdigit() or reads.get(name, 0) >= _READS or len(reads) > _MAX_PROCESSES:
                continue
            reads[name] = reads.get(name, 0) + 1
            with suppress(OSError), (process / "cmdline").open("rb") as file:
                words = file.read(_MAX_BYTES).decode(errors="replace").split("\0")
                folder = str((process / "cwd").readlink())
                if len(words) > 1:  # one that ends has none
                    commands[int(name)] = (folder, tuple(words))


def name_targets(trace: Trace, commands: Mapping[int, Command]) -> dict[int, Frames]:
    """Return what each process of a build works on, from the file outward; empty where the run is no build.

    Names are below the folder that holds all of them, without suffixes: a compiler and its assembler have the same.
    """
    pids = {task.pid for task in trace.tasks.values()}
    paths = {pid: _path_of(*commands[pid]) for pid in pids if pid in commands}
    files = {path for pid, path in paths.items() if path != commands[pid][0]}
    if len(files) < _FEWEST:
        return {}
    top = os.path.commonpath([str(PurePath(path).parent) for path in files])
    parents = {task.pid: trace.tasks[task.parent].pid for task in trace.tasks.values() if task.parent in trace.tasks}
    named = {pid: _frames(path, top) for pid, path in paths.items() if path.startswith(top)}
    for pid in sorted(pids - named.keys()):
        if (parent := parents.get(pid)) in named:
            named[pid] = named[parent]
    return {pid: frames for pid, frames in named.items() if frames}


def _frames(path: str, top: str) -> Frames:
    relative = PurePath(os.path.relpath(path, top))
    return tuple(Frame(str(each), MODULE) for each in (relative, *relative.parents) if str(each) != ".")[-_MOST_FRAMES:]


def _path_of(folder: str, words: Sequence[str]) -> str:
    """Return the file that a command compiles, else the one that it writes, else its folder.

    >>> _path_of("/b/net", ["cc1", "-quiet", "a.c", "-o", "/tmp/ccx.s"])
    '/b/net/a'
    >>> _path_of("/b/net", ["as", "-o", "a.o", "/tmp/ccx.s"]), _path_of("/b", ["make", "-C", "net"])
    ('/b/net/a', '/b')
    """
    written = [after for word, after in pairwise(words) if word == "-o" and after != "-"]
    sources = [word for word in words[1:] if not word.startswith("-") and _SOURCES.fullmatch(word)]
    for name in (*reversed(sources), *written):
        path = os.path.normpath(PurePath(folder, name))
        if not path.startswith(_BETWEEN):
            return str(PurePath(path).with_suffix(""))
    return folder
