"""A machine that ssh reaches, in tests: this one, by a program that stands in for the client."""

import os
from pathlib import Path

import pytest

# What comes before `--` are options; what a test writes to `there` happens first.
SSH = """\
#!/bin/sh
while [ "$1" != -- ]; do shift; done
name=$2 command=$3
. "$(dirname "$0")/there"
exec sh -c "$command"
"""


def stand_in(folder: Path, patch: pytest.MonkeyPatch, there: str = "") -> Path:
    """Put the program on PATH, and return the folder that is TMPDIR there."""
    programs, place = folder / "ssh-programs", folder / "far"
    for one in (programs, place):
        one.mkdir(exist_ok=True)
    (programs / "ssh").write_text(SSH)
    (programs / "ssh").chmod(0o755)
    # Its lock is not that of the machine that we stand on.
    first = f'TMPDIR={place}; export TMPDIR; command=$(printf "%s" "$command" | sed "s|/run/lock /tmp|{place}|")\n'
    (programs / "there").write_text(f"{first}{there}\n")
    place.chmod(0o1777)
    patch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return place


def program(folder: Path, name: str, text: str) -> None:
    """A program that goes before the one of that name there."""
    file = folder / "ssh-programs" / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
