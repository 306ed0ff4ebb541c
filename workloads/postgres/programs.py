"""PostgreSQL's programs, started unprivileged, and what this folder's programs were asked for (NAME=VALUE)."""

import os
import re
import shutil
import sys
from pathlib import Path
from typing import NoReturn

USAGE, UNAVAILABLE, FAILED = 64, 69, 70
INSTALL = "install it with: apt-get install postgresql"
# Debian keeps the server's programs apart from PATH, a folder for each release.
APART = Path("/usr/lib/postgresql")
# Any but that of root, as which the server refuses to run.
UNPRIVILEGED = ("unshare", "--user", "--map-user=1000", "--map-group=1000")


def end(code: int, text: str) -> NoReturn:
    """End the program with one sentence (protocol/workload.md)."""
    print(text, file=sys.stderr)
    sys.exit(code)


def parse(arguments: list[str], **defaults: str) -> dict[str, str]:
    """Return the values by name; a wrong name ends the program."""
    given = dict(defaults)
    for name, _, text in (argument.partition("=") for argument in arguments):
        if name not in defaults:
            end(USAGE, f"arguments: found {name[:40]}, expected one of {', '.join(defaults)}")
        given[name] = text
    return given


def number(given: dict[str, str], name: str, low: int, high: int) -> int:
    """Return a value as an integer within two ends; another one ends the program."""
    text = given[name]
    if not (text.isascii() and text.isdigit() and len(text) < 12 and low <= int(text) <= high):
        end(USAGE, f"{name}: found {text[:40]}, expected an integer from {low} to {high}")
    return int(text)


def find(name: str) -> str:
    """Return the path of a program of the newest release there is; without one the program ends."""
    releases = sorted(APART.glob("*/bin"), key=lambda folder: [int(n) for n in re.findall(r"\d+", str(folder))])
    path = os.pathsep.join([*map(str, reversed(releases)), os.environ.get("PATH", os.defpath)])
    return shutil.which(name, path=path) or end(UNAVAILABLE, f"{name}: not found; {INSTALL}")


def unprivileged(argv: list[str]) -> list[str]:
    """Return a command that root may give, too: in a user namespace in which root's files belong to another user."""
    if os.geteuid() != 0:
        return argv
    if shutil.which(UNPRIVILEGED[0]) is None:
        end(UNAVAILABLE, "unshare: not found, without which root cannot start PostgreSQL; use another user")
    return [*UNPRIVILEGED, *argv]
