"""Programs of the databases, how they are started, and what this folder's programs were asked for (NAME=VALUE)."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

USAGE, UNAVAILABLE, FAILED = 64, 69, 70
LIMIT_S = 600


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


def find(name: str, package: str, apart: str = "") -> str:
    """Return the path of a program; without it the program ends.

    Args:
        name: of the program.
        package: of the distribution, which installs it.
        apart: pattern of folders outside PATH in which it may lie, one for each release: the newest goes first.
    """
    releases = Path("/").glob(apart.lstrip("/")) if apart else ()
    folders = sorted(releases, key=lambda one: [*map(int, re.findall(r"\d+", str(one)))])
    path = os.pathsep.join([*map(str, reversed(folders)), os.environ.get("PATH", os.defpath), "/usr/sbin"])
    return shutil.which(name, path=path) or end(
        UNAVAILABLE, f"{name}: not found; install it with: apt-get install {package}"
    )


def run(argv: list[str], script: str = "") -> str:
    """Run a command and return what it printed; one that fails ends this program with its last words."""
    done = subprocess.run(argv, input=script, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode:
        end(FAILED, f"{Path(argv[0]).name}: exit code {done.returncode}: {done.stderr.strip()[-400:]}")
    return done.stdout
