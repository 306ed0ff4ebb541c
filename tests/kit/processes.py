"""Programs that a test makes up, and processes that it waits for: the end of one, or a file that one writes."""

import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from scalograph.run.hosts.python_probe.tree import parse_stat

# However busy the machine is, what is waited for comes much sooner.
LIMIT_S = 30.0


def write_program(file: Path, text: str) -> Path:
    """Write a program, in a folder that is made where it is missing; without a first line of its own, for `sh`."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text if text.startswith(("#!", "\0")) else f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


def wait_until(is_so: Callable[[], object], limit_s: float = LIMIT_S) -> None:
    """Wait until something is so."""
    limit = time.monotonic() + limit_s
    while not is_so():
        assert time.monotonic() < limit
        time.sleep(0.01)


def is_gone(pid: int) -> bool:
    """Tell whether a process has ended; nobody may have waited for it yet."""
    try:
        return parse_stat(Path(f"/proc/{pid}/stat").read_text())[1] in "ZX"
    except OSError:
        return True


def pids_with(*words: str) -> list[int]:
    """Return the processes that live and have all of these on their command line."""
    pids = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            line = (entry / "cmdline").read_bytes()
            if all(word.encode() in line for word in words) and not is_gone(int(entry.name)):
                pids.append(int(entry.name))
    return pids


def wait_for_end(*pids: int) -> None:
    """Wait until all of these processes have ended."""
    wait_until(lambda: all(map(is_gone, pids)))


def read_pids(file: Path) -> list[int]:
    """Return the process ids that a program writes into a file, as one line, once they are there."""
    wait_until(lambda: file.exists() and file.read_text().endswith("\n"))
    return [int(pid) for pid in file.read_text().split()]


@contextmanager
def sleeping(env: Mapping[str, str] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """Give a process that does nothing until it is killed, at the latest at the end."""
    with subprocess.Popen(["sleep", "600"], env=env) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def owner(argv: Sequence[str], **more: Any) -> Iterator[tuple[int, str]]:
    """Give the process id of a program that says in a line what it holds, and the line; it is killed at the end."""
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, **more) as process:
        try:
            assert process.stdout is not None
            yield process.pid, process.stdout.readline().strip()
        finally:
            process.kill()
