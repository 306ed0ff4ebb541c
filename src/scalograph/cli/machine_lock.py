"""One command at a time on a machine: two of them would measure each other."""

from collections.abc import Iterator
from contextlib import contextmanager

from scalograph.cli.console import say
from scalograph.control.store import lock_machine
from scalograph.run.interrupts import end_in_order
from scalograph.run.scratch import sweep_scratch

# How long a start waits for another one to end before it gives up.
WAIT_S = 10.0


@contextmanager
def alone() -> Iterator[None]:
    """Hold the machine, say what keeps us from it and what a crash had left, and remove its scratch folders.

    From here on signals end us in order.

    Raises:
        HostError: another start holds it for longer than we wait, or what one left cannot be put right.
    """
    end_in_order()
    with lock_machine(WAIT_S, tell=say) as restored:
        for text in restored:
            say(f"restored after an earlier crash: {text}", "yellow")
        sweep_scratch()
        yield
