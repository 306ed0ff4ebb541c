"""What is done before each run, so that it finds the machine as the others did: writing back, and empty caches."""

import os
from pathlib import Path

from scalograph.control.held_settings import refused
from scalograph.study.reset import Reset

_DROP = "proc/sys/vm/drop_caches"
_CALLED = "reset.drop_caches"


def ready_to_reset(reset: Reset, root: Path = Path("/")) -> None:
    """Look whether caches may be dropped here; nothing is dropped. Raises HostError with the kernel's reason."""
    if reset.drop_caches:
        os.close(_opened(root))


def carry_out(reset: Reset, root: Path = Path("/")) -> None:
    """Write back what is dirty, then drop caches, as declared: the kernel drops only what is clean.

    Raises:
        HostError: the kernel refuses.
    """
    if reset.sync:
        os.sync()
    if reset.drop_caches:
        fd = _opened(root)
        try:
            os.write(fd, b"%d\n" % reset.drop_caches)
        except OSError as error:
            raise refused(error, _CALLED, "cannot be done") from error
        finally:
            os.close(fd)


def _opened(root: Path) -> int:
    try:
        return os.open(root / _DROP, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise refused(error, _CALLED, "cannot be done") from error
