"""The tree of a run: held together as a subreaper, killed through /proc.

A subreaper inherits the orphans of its tree, so the tree is empty exactly when it has no child left. Only a
process that forks faster than the scan can outrun the kill, hence `best effort`.
"""

import ctypes
import os
import platform
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

STOPPING = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_RT_SIGACTION = {"x86_64": 13, "aarch64": 134}
_libc = ctypes.CDLL(None, use_errno=True)


def _prctl(option: int, value: int) -> None:
    if _libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option})")


def become_subreaper() -> None:
    """Have orphans below this process come to it, not to init."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(number: int) -> None:
    """Get this signal when the parent ends. A change of user forgets it."""
    _prctl(_PR_SET_PDEATHSIG, number)


def default_signals() -> None:
    """Give every signal its default action, and block none: exec would keep what is ignored or blocked."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    if platform.machine() in _RT_SIGACTION:
        # The C library hides two: a program that posix_spawn started (make does) ignores one of them.
        for internal in (32, 33):
            _libc.syscall(_RT_SIGACTION[platform.machine()], internal, bytes(32), None, 8)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def parse_stat(text: str) -> tuple[int, str]:
    """(parent, state) of /proc/PID/stat; the name before them may hold spaces and brackets."""
    state, parent = text.rpartition(")")[2].split()[:2]
    return int(parent), state


def descendants(root: int, proc: Path = Path("/proc")) -> list[int]:
    """Live processes below `root`, zombies left out."""
    children: dict[int, list[int]] = {}
    dead: set[int] = set()
    for entry in proc.iterdir():
        if entry.name.isdigit():
            try:
                parent, state = parse_stat((entry / "stat").read_text(errors="replace"))
            except (OSError, ValueError):
                continue  # ended while we looked
            children.setdefault(parent, []).append(int(entry.name))
            if state in "ZX":
                dead.add(int(entry.name))
    found, queue = [], [root]
    while queue:
        queue += (below := children.pop(queue.pop(), []))
        found += below
    return [pid for pid in found if pid not in dead]


def kill_all(reap: Callable[[], bool], limit_s: float = 5.0) -> bool:
    """Kill everything below this process; `reap` takes the dead and says whether any child is left.

    Returns:
        Whether the tree is empty.
    """
    deadline = time.monotonic() + limit_s
    while reap():
        # Stopped first, so that fewer can fork between the scan and the kill.
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in descendants(os.getpid()):
                with suppress(ProcessLookupError):
                    os.kill(pid, number)
        if time.monotonic() > deadline:
            return False
        time.sleep(0.001)
    return True


def reap() -> bool:
    """Take every child that has ended; whether any is left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return True
    except ChildProcessError:
        return False
