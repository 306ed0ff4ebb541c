"""The databases that there are, by name: each a file here with `prepare` and `serve`."""

from types import ModuleType

import h2
import mariadb
import postgres
from programs import USAGE, end

KINDS: dict[str, ModuleType] = {"h2": h2, "postgres": postgres, "mariadb": mariadb}


def kind(given: dict[str, str]) -> ModuleType:
    """Return the one that was asked for; another name ends the program."""
    name = given["database"]
    return KINDS.get(name) or end(USAGE, f"database: found {name[:40]}, expected one of {', '.join(KINDS)}")
