"""One command at a time on a machine: two of them would measure each other."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager

from scalograph.cli.console import say
from scalograph.control.store import lock_machine
from scalograph.errors import HostError
from scalograph.run.interrupts import end_in_order
from scalograph.run.scratch import sweep_scratch

# How long a start waits for another one to end before it gives up.
WAIT_S = 10.0
# Open files with which a run of one copy was seen to succeed; with fewer, the lock or the probe would be blamed.
LEAST_FILES = 20


@contextmanager
def alone(wait_s: float | None = None, elsewhere: bool = False) -> Iterator[list[str]]:
    """Hold the machine, say what keeps us from it and what a crash had left, and remove its scratch folders.

    From here on signals end us in order.

    Args:
        wait_s: how long to wait for another start to end; None is WAIT_S.
        elsewhere: runs are made on another machine, whose lock its host takes: this one is not held.

    Yields:
        What a crash had left and is restored, in words.

    Raises:
        HostError: another start holds it for longer than we wait, what one left cannot be put right, or hardly a file
            may be open.
    """
    end_in_order()
    _refuse_few_files()
    if elsewhere:
        sweep_scratch()
        yield []
        return
    with lock_machine(WAIT_S if wait_s is None else wait_s, tell=say) as restored:
        for text in restored:
            say(f"restored after an earlier crash: {text}", "yellow")
        sweep_scratch()
        yield restored


def _refuse_few_files() -> None:
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < LEAST_FILES:
        expected, fix = f"room for {LEAST_FILES} at least", "raise the limit: ulimit -n 1024"
        raise HostError("open files", f"at most {most}", expected, fix)
