"""Two processes for a run: whoever kills one of them leaves the other to clean up."""

import os
import signal
import sys
import traceback
from collections.abc import Callable

from scalograph.run.hosts.python_probe import tree


def in_keeping(work: Callable[[], int]) -> int:
    """Do the work in a child, and see that nothing of its tree stays.

    Returns:
        The work's result, as an exit code.
    """
    _adopt()
    keeper, worker = os.getpid(), os.fork()
    if worker == 0:
        _work(work, keeper)
    for number in tree.STOPPING:
        signal.signal(number, lambda number, _frame: os.kill(worker, number))
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    code = os.waitstatus_to_exitcode(_end_of(worker))
    tree.kill_all(tree.reap)
    if code < 0:  # say truthfully how the run ended, by ending the same way
        if -code in tree.STOPPING:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(keeper, -code)
    return code


def _end_of(worker: int) -> int:
    """Wait for its end; while it is stopped, be stopped, too: whoever looks at us sees how it is."""
    while os.WIFSTOPPED(status := os.waitpid(worker, os.WUNTRACED)[1]):
        os.kill(os.getpid(), signal.SIGSTOP)
        os.kill(worker, signal.SIGCONT)
    return status


def _adopt() -> None:
    """Take orphans in, end when the caller ends, and hear signals that it may have ignored or blocked.

    An ignored SIGCHLD would have the kernel reap our children.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, tree.STOPPING)  # until both know what to do with them
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    tree.become_subreaper()
    tree.die_with_parent(signal.SIGTERM)


def _work(work: Callable[[], int], keeper: int) -> None:
    code = 1
    try:
        _adopt()
        code = work() if os.getppid() == keeper else 1
    except BaseException:
        traceback.print_exc()
    finally:
        tree.kill_all(tree.reap)
        sys.stderr.flush()
        os._exit(code)
