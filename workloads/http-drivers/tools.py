"""The programs that may send the requests."""

import shutil
from types import ModuleType

import k6
import oha
import wrk
from asked import UNAVAILABLE, leave

# Of each: the command that installs it, how it tells its release, what it cannot do, its command, and a reader of what
# it prints.
TOOLS: dict[str, ModuleType] = {"wrk": wrk, "oha": oha, "k6": k6}


def find(name: str) -> str:
    """Return the path of a program; without it the program ends."""
    found = shutil.which(name)
    return found or leave(UNAVAILABLE, f"{name}: not found; install it with: {TOOLS[name].INSTALL}")
