"""The tree of a run: held together as a subreaper, killed through /proc, by two processes that watch each other.

A subreaper inherits the orphans of its tree, so the tree is empty exactly when it has no child left. Only a
process that forks faster than the scan can outrun the kill, hence `best effort`.
"""

import ctypes
import os
import platform
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

STOP_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_RT_SIGACTION = {"x86_64": 13, "aarch64": 134}
_libc = ctypes.CDLL(None, use_errno=True)


def run_in_child(work: Callable[[], int]) -> int:
    """Work in a child, and return its exit code; nothing of its tree stays: whoever kills one leaves the other."""
    _adopt()
    keeper, worker = os.getpid(), os.fork()
    if worker == 0:
        _work(work, keeper)
    for number in STOP_SIGNALS:
        signal.signal(number, lambda number, _frame: os.kill(worker, number))
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    while os.WIFSTOPPED(status := os.waitpid(worker, os.WUNTRACED)[1]):
        # Whoever looks at us sees how it is.
        os.kill(keeper, signal.SIGSTOP)
        os.kill(worker, signal.SIGCONT)
    code = os.waitstatus_to_exitcode(status)
    kill_all(reap)
    if code < 0:  # say truthfully how the run ended, by ending the same way
        if -code in STOP_SIGNALS:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(keeper, -code)
    return code


def _adopt() -> None:
    """Take orphans in, end when the caller ends, and hear signals that it may have ignored or blocked."""
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)  # until both know what to do with them
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # if it were ignored, the kernel would reap our children
    become_subreaper()
    die_with_parent(signal.SIGTERM)


def _work(work: Callable[[], int], keeper: int) -> NoReturn:
    code = 1
    try:
        _adopt()
        code = work() if os.getppid() == keeper else 1
    except BaseException:
        traceback.print_exc()
    finally:
        kill_all(reap)
        sys.stderr.flush()
        os._exit(code)


def become_subreaper() -> None:
    """Have orphans below this process come to it, not to init."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(number: int) -> None:
    """Get this signal when the parent ends. A change of user forgets it."""
    _prctl(_PR_SET_PDEATHSIG, number)


def _prctl(option: int, value: int) -> None:
    if _libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option})")


def reset_signals() -> None:
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
    """Return parent and state of /proc/PID/stat; the name before them may hold spaces and brackets."""
    state, parent = text.rpartition(")")[2].split()[:2]
    return int(parent), state


def descendants(root: int, proc: Path = Path("/proc")) -> list[int]:
    """Return live processes below `root`, zombies excluded."""
    children: dict[int, list[int]] = {}
    dead: set[int] = set()
    for entry in proc.iterdir():
        if entry.name.isdigit():
            try:
                parent, state = parse_stat((entry / "stat").read_text(errors="replace"))
            except (OSError, ValueError):
                continue  # it has ended meanwhile
            children.setdefault(parent, []).append(int(entry.name))
            if state in "ZX":
                dead.add(int(entry.name))
    below = children.pop(root, [])
    for pid in below:
        below += children.pop(pid, [])
    return [pid for pid in below if pid not in dead]


def kill_all(reap: Callable[[], bool], limit_s: float = 5.0) -> bool:
    """Kill everything below this process, and return whether the tree is empty.

    `reap` takes the dead and says whether any child is left.
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
    """Take every child that has ended; return whether any is left."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return True
    return False
