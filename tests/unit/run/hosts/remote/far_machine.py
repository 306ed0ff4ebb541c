"""A machine that ssh reaches, in tests: this one, by a program that stands in for the client."""

import os
import sys
from pathlib import Path

import pytest

from tests.kit.processes import write_program

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
# The state of a machine that can be booted is in the folder: its kernel, its boot, and how often it does not answer.
_BOOTED = """\
cd {state}
echo "$1" >>asked
echo "${{BOOTS:-$1}}" >release
printf '%08d-0000-4000-8000-000000000000\\n' "$(wc -l <asked)" >boot_id
echo 2 >silent
"""
_SILENT = """\
silent=$(cat {state}/silent)
if [ "$silent" -gt 0 ]; then
  echo $((silent - 1)) >{state}/silent
  echo 'ssh: connect to host there: Connection refused' >&2
  exit 255
fi
"""
KERNELS = ("6.1.0-9-far", "6.12.1-far")


def stand_in(folder: Path, patch: pytest.MonkeyPatch, there: str = "") -> Path:
    """Put the program on PATH, and return the folder that is TMPDIR there."""
    programs, place = folder / "ssh-programs", folder / "far"
    for one in (programs, place):
        one.mkdir(exist_ok=True)
    write_program(programs / "ssh", SSH.format(python=sys.executable, relay=RELAY))
    # Its lock is not that of the machine that we stand on. Nor is a JVM started: that takes longer than all else.
    sed = f's|/run/lock /tmp|{place}|; s|^  "$java" -X|  echo "$java" -X|'
    first = f"TMPDIR={place}; export TMPDIR; command=$(printf '%s' \"$command\" | sed '{sed}')\n"
    (programs / "there").write_text(f"{first}{there}\n")
    place.chmod(0o1777)
    patch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return place


def program(folder: Path, name: str, text: str) -> None:
    """A program that goes before the one of that name there."""
    write_program(folder / "ssh-programs" / name, text)


def booting_stand_in(folder: Path, patch: pytest.MonkeyPatch, there: str = "") -> Path:
    """Such a machine that boots other kernels, too; return the folder of its state."""
    state = folder / "state"
    state.mkdir()
    first = {"release": KERNELS[0], "boot_id": f"{0:08d}-0000-4000-8000-000000000000", "silent": "0"}
    for name, text in first.items():
        (state / name).write_text(f"{text}\n")
    home = "HOME=$TMPDIR; export HOME; unset XDG_STATE_HOME\n"
    stand_in(folder, patch, home + _SILENT.format(state=state) + there)
    program(folder, "uname", f'[ "$1" = -r ] && exec cat {state}/release\nexec /bin/uname "$@"')
    program(folder, "cat", f'case "$1" in */boot_id) set {state}/boot_id ;; esac\nexec /bin/cat "$@"')
    program(folder, "ls", f"printf '%s\\n' config-x vmlinuz-{' vmlinuz-'.join(KERNELS)} vmlinuz-old")
    program(folder, "scalograph-boot", _BOOTED.format(state=state))
    return state
