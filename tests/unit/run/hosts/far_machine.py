"""A machine that ssh reaches, in tests: this one, by a program that stands in for the client."""

import os
import sys
from pathlib import Path

import pytest

# What comes before `--` are options; what a test writes to `there` happens first.
SSH = """\
#!/bin/sh
while [ "$1" != -- ]; do shift; done
name=$2 command=$3
. "$(dirname "$0")/there"
exec {python} -ISc '{relay}' "$command"
"""
# As a connection does, it closes both streams when it ends, whatever still writes to them.
RELAY = """\
import os, select, signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
there = subprocess.Popen(["sh", "-c", sys.argv[1]], stdout=-1, stderr=-1)
to = {there.stdout: 1, there.stderr: 2}
while to:
    for stream in select.select([*to], [], [])[0]:
        if chunk := os.read(stream.fileno(), 65536):
            os.write(to[stream], chunk)
        else:
            del to[stream]
sys.exit(there.wait())
"""


def stand_in(folder: Path, patch: pytest.MonkeyPatch, there: str = "") -> Path:
    """Put the program on PATH, and return the folder that is TMPDIR there."""
    programs, place = folder / "ssh-programs", folder / "far"
    for one in (programs, place):
        one.mkdir(exist_ok=True)
    (programs / "ssh").write_text(SSH.format(python=sys.executable, relay=RELAY))
    (programs / "ssh").chmod(0o755)
    # Its lock is not that of the machine that we stand on.
    # Nor is a JVM started: that takes longer than all else.
    sed = f's|/run/lock /tmp|{place}|; s|^  "$java" -X|  echo "$java" -X|'
    first = f"TMPDIR={place}; export TMPDIR; command=$(printf '%s' \"$command\" | sed '{sed}')\n"
    (programs / "there").write_text(f"{first}{there}\n")
    place.chmod(0o1777)
    patch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return place


def program(folder: Path, name: str, text: str) -> None:
    """A program that goes before the one of that name there."""
    file = folder / "ssh-programs" / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
